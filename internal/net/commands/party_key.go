// SPDX-License-Identifier: Apache-2.0

package network

import (
	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/keyfile"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
)

func (a *app) newPartyKeyCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "key",
		Short: "create a party's key for signing votes",
		Long: `Key writes a new Ed25519 key to a file that only its owner can read. It prints
the public half, which the combiner's roster needs.`,
		Example: `  discreet-net party key --out mine.pem`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			public, err := keyfile.New("party", out)
			if err != nil {
				return err
			}
			_, err = plaintext.Fprintf(a.Stdout, "%x\n", public)
			return err
		},
	}
	c.Flags().StringVar(&out, "out", "", "the `file` to write the key to; it must not be there")
	cli.WritesNew(c, "out")
	cli.Require(c, "out")
	return c
}
