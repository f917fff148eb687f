// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/build"
	"github.com/discreet-dp/discreet/internal/ground/keyfile"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	sealed "github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/internal/release/dossier"
)

func (a *app) newVerifyCommand() *cobra.Command {
	keys, schemaFile, asJSON := "", "", false
	var allowed commands.PolicyFlag
	c := &cobra.Command{
		Use:   "verify FILE",
		Short: "check a release: its signature, its files and their numbers",
		Long: `Verify reads an archive that discreet release wrote. It checks that a trusted key
signed it, that no byte was changed, and that the model, its card, its statement,
the ledger's entries and the exports agree. It then lists what the signature
proves, what the files prove, and what nothing proves. --schema compares the
schema's file that was approved with the one that the training was given.

It fails with exit code 1 at the first thing that is wrong. With --json it prints
who signed and what the model states. It reads no ledger and no row. The page
docs/verify.html checks the bytes, signature and numbers in a browser.`,
		Example: `  discreet verify m.zip --keys trusted.pub
  discreet verify m.zip --keys trusted.pub --schema approved.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			trusted, err := keyfile.ReadPublic("verify", keys)
			if err != nil {
				return err
			}
			file, err := sealed.ReadFile(args[0])
			if err != nil {
				return err
			}
			r, err := sealed.Open(file, trusted)
			if err != nil {
				return fmt.Errorf("%w (file %s)", err, args[0])
			}
			v, err := dossier.Judge(r, build.Describe("discreet"))
			if err != nil {
				return fmt.Errorf("%w (file %s)", err, args[0])
			}
			if schemaFile != "" {
				text, err := openfile.Read(schemaFile)
				if err != nil {
					return fmt.Errorf("verify: schema: %w", err)
				}
				if err := v.CompareSchema(text); err != nil {
					return fmt.Errorf("%w (file %s)", err, args[0])
				}
			}
			p, err := allowed.Read()
			if err != nil {
				return err
			}
			if p != nil {
				if err := v.ComparePolicy(p); err != nil {
					return fmt.Errorf("%w (file %s)", err, args[0])
				}
			}
			if asJSON {
				return cli.WriteJSON(a.Stdout, v)
			}
			_, err = io.WriteString(a.Stdout, v.Words(keys, cli.StepWords(c)))
			return err
		},
	}
	c.Flags().StringVar(&keys, "keys", "", "the `file` of the public keys that you trust, in PEM, one or several")
	c.Flags().StringVar(&schemaFile, "schema", "", "the schema `file` that was approved: the model must have been trained with it")
	allowed.AddFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cli.ReadsArguments(c)
	cli.Reads(c, "keys", "schema")
	cli.Require(c, "keys")
	return c
}

// signedFlag requires that a model is a release signed by a trusted key.
type signedFlag struct{ keys string }

func (f *signedFlag) addFlag(c *cobra.Command) {
	c.Flags().StringVar(&f.keys, "require-signed", "",
		"take only a release that is signed by a key of this `file` of public keys")
	cli.Reads(c, "require-signed")
}

// trusted reads the keys.
func (f *signedFlag) trusted(op string) (sealed.Trusted, error) {
	return sealed.ReadTrusted(op, f.keys)
}
