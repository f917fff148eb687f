// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ledger/policy"
)

// PolicyFlag holds the flag that names a project's policy.
type PolicyFlag struct{ Path string }

// AddFlag adds the flag.
func (f *PolicyFlag) AddFlag(c *cobra.Command) {
	c.Flags().StringVar(&f.Path, "policy", "", "the project's signed policy `file`, which applies (docs/verifying.md)")
	cli.Reads(c, "policy")
}

// Read reads the policy, nil if none is named.
func (f *PolicyFlag) Read() (*policy.Project, error) {
	if f.Path == "" {
		return nil, nil
	}
	return policy.ReadProject(f.Path)
}
