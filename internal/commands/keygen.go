// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/keyfile"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
)

// NewKeygenCommand returns the command that makes every key that signs, of whatever role.
func (a *App) NewKeygenCommand(program string) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "keygen",
		Short: "make a key that signs",
		Long: `Keygen writes a new Ed25519 key to a file that only its owner may read, and the
public half to a file of the same name with .pub, for others. The key signs what
its holder does: releases, steps in a team's ledger, a party's votes, a site's
messages or an officer's policies. Keygen prints the public key in hexadecimal,
for lists of parties and sites, and on standard error the name that a release
has for it.`,
		Example: "  " + program + " keygen --out alice",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			public, err := keyfile.New("keygen", out)
			if err != nil {
				return AsRefusal(err)
			}
			a.Say("releases name this key %s", keyfile.ID(public))
			_, err = plaintext.Fprintf(a.Stdout, "%x\n", public)
			return err
		},
	}
	c.Flags().StringVar(&out, "out", "", "the `file` to write the key to; neither it nor its .pub may be there")
	cli.WritesNew(c, "out")
	cli.Require(c, "out")
	return c
}
