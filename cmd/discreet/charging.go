// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
)

// charging is the flags that name the budget to charge.
type charging struct {
	ledger       ledgerFlag
	dataset, job string
}

// addFlags adds the flags; dataset and job say what they are.
func (f *charging) addFlags(c *cobra.Command, dataset, job string) {
	f.ledger.addFlag(c)
	c.Flags().StringVar(&f.dataset, "dataset", "", dataset)
	c.Flags().StringVar(&f.job, "job", "", job)
	cli.AddSection(c, counting, "ledger", "dataset", "job", "anchors")
}

// requireTogether refuses a ledger without a data set, and flags that mean nothing without
// a ledger.
func (f *charging) requireTogether(c *cobra.Command, flags ...string) error {
	bad := func(param, other string) error {
		return cli.Refuse(c.Name(), param, "must be given together with --"+other, nil)
	}
	if f.ledger.address != "" {
		if f.dataset == "" {
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
