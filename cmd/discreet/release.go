// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/build"
	"github.com/discreet-dp/discreet/internal/ground/keyfile"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/ledger"
	sealed "github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/internal/release/dossier"
)

// releaseFlags holds the flags of the command.
type releaseFlags struct {
	*app
	key, out, audit, attack string
	evaluation              string
	exports                 []string
	notPrivate, anySource   bool
	names                   bool
	ledger                  commands.LedgerFlag
	policy                  commands.PolicyFlag
}

func (a *app) newReleaseCommand() *cobra.Command {
	r := &releaseFlags{app: a}
	c := &cobra.Command{
		Use:   "release FILE",
		Short: "put a model and its papers into a signed archive",
		Long: `Release writes an archive that others can verify: the model, its statement, its
card, its schema, the ledger's entries about it, reports and exports that you ask
for, and one signed attestation over all of them (DSSE and in-toto). It reads the
model and, if one is given, the ledger. It reads no row and costs no budget.

Without --ledger the release states that it contains no ledger.

A release names the commit of the program that made it. If the program cannot name
one, nothing is signed without --any-source.

An attack's report is exact and reveals the rows: it needs --not-private. It is
also written as a report of SACRO-ML.

Readers of the archive run discreet verify.`,
		Example: `  discreet keygen --out k
  discreet release m.json --key k --out m.zip
  discreet release m.json --ledger l.db --key k --out m.zip --audit audit.json --export onnx --export sql`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return r.writeRelease(c.Context(), args[0]) },
	}
	c.Flags().StringVar(&r.key, "key", "", "the key `file` to sign with, as keygen writes it")
	c.Flags().StringVar(&r.out, "out", "", "the archive, a `file` to write; replaced if it is there")
	c.Flags().StringVar(&r.audit, "audit", "", "a `file` that audit --json printed")
	c.Flags().StringVar(&r.attack, "attack", "", "a `file` that attack --json printed")
	c.Flags().StringVar(&r.evaluation, "evaluation", "", "a `file` that evaluate --epsilon --json printed about this model")
	c.Flags().BoolVar(&r.notPrivate, "not-private", false, "the attack's report may go wherever the release goes")
	c.Flags().BoolVar(&r.anySource, "any-source", false, "sign although this program cannot name the commit that it was built from")
	c.Flags().StringArrayVar(&r.exports, "export", nil, "add the model in a `format`: onnx, pmml or sql; may be repeated")
	r.ledger.AddFlag(c)
	r.policy.AddFlag(c)
	addNamesFlag(c, &r.names)
	cli.ReadsArguments(c)
	cli.Reads(c, "key", "audit", "attack", "evaluation")
	cli.Writes(c, "out")
	cli.Require(c, "key", "out")
	commands.CompleteFlag(c, "export", sealed.ExportFormats()...)
	return c
}

func (r *releaseFlags) writeRelease(ctx context.Context, path string) error {
	if r.attack != "" && !r.notPrivate {
		return cli.Refuse("release", "not-private", "must be given with --attack: the results of an attack are exact and "+
			"reveal the rows", nil)
	}
	if !r.anySource && !build.NamesSource() {
		return cli.Refuse("release", "any-source", "must be given, since this program ("+build.Describe("discreet")+") cannot "+
			"name the commit that it was built from", nil)
	}
	key, err := keyfile.Read("release", r.key)
	if err != nil {
		return err
	}
	file, err := sealed.ReadFile(path)
	if err != nil {
		return err
	}
	p := dossier.Params{Program: build.Describe("discreet"), Now: commands.Clock(), Exports: r.exports, Names: r.names}
	for _, report := range []struct {
		path string
		into *[]byte
	}{{r.audit, &p.Audit}, {r.attack, &p.Attack}, {r.evaluation, &p.Evaluation}, {r.policy.Path, &p.Policy}} {
		if report.path == "" {
			continue
		}
		if *report.into, err = openfile.Read(report.path); err != nil {
			return fmt.Errorf("release: %w", err)
		}
	}
	var archive []byte
	if r.ledger.Address == "" {
		archive, err = p.Make(ctx, file, key)
	} else {
		err = r.ledger.UseLedger(ctx, func(l *ledger.Ledger) (err error) {
			p.Ledger = l
			archive, err = p.Make(ctx, file, key)
			return err
		})
	}
	if err != nil {
		return commands.AsRefusal(err)
	}
	if err := r.WriteFile(r.out, func(w io.Writer) error { _, err := w.Write(archive); return err }); err != nil {
		return err
	}
	if r.ledger.Address == "" {
		r.Say("no ledger was given: the release states that it contains none")
	}
	r.Say("wrote %s", r.out)
	return nil
}
