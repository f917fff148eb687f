// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
)

// Counting is the title of the flags of Charging.
const Counting = "Counting what is spent"

// Charging holds the flags that name the budget to charge.
type Charging struct {
	Ledger         LedgerFlag
	Dataset, JobID string
}

// AddFlags adds the flags; dataset and job are their descriptions.
func (f *Charging) AddFlags(c *cobra.Command, dataset, job string) {
	f.Ledger.AddFlag(c)
	c.Flags().StringVar(&f.Dataset, "dataset", "", dataset)
	c.Flags().StringVar(&f.JobID, "job", "", job)
	cli.AddSection(c, Counting, "ledger", "dataset", "job", "anchors")
}

// RequireTogether refuses a ledger without a data set, and flags that require a ledger without one.
func (f *Charging) RequireTogether(c *cobra.Command, flags ...string) error {
	bad := func(param, other string) error {
		return cli.Refuse(c.Name(), param, "must be given together with --"+other, nil)
	}
	if f.Ledger.Address != "" {
		if f.Dataset == "" {
			return bad("dataset", "ledger")
		}
		return nil
	}
	for _, name := range flags {
		if c.Flags().Changed(name) {
			return bad("ledger", name)
		}
	}
	return nil
}
