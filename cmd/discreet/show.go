// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/build"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/model"
	sealed "github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/internal/release/card"
)

func (a *app) newShowCommand() *cobra.Command {
	asJSON, path := false, ""
	c := &cobra.Command{
		Use:   "show FILE",
		Short: "print a model's privacy statement",
		Long: `Show prints the privacy statement of a model file, as train did: what is
protected, what is not protected, what it cost and whether a ledger counted it.
With --json it prints the facts of the model's card.`,
		Example: `  discreet show m.json`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 == (path == "") {
				return &cli.UsageError{Err: dp.Refuse("show", "model", "must be given once, as an argument or as --model", nil)}
			}
			m, err := loadCard(strings.Join(append(args, path), ""))
			if err != nil {
				return err
			}
			if asJSON {
				return cli.WriteJSON(a.Stdout, m)
			}
			_, err = io.WriteString(a.Stdout, m.Statement())
			return err
		},
	}
	cli.ReadsArguments(c)
	c.Flags().StringVar(&path, "model", "", "the model `file`, or a release of it, in place of the argument")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cli.Reads(c, "model")
	return c
}

// loadCard makes the card of a model file or a release.
func loadCard(path string) (*card.Card, error) {
	m, err := sealed.Trusted(nil).LoadModel(path)
	if err != nil {
		return nil, err
	}
	file, err := model.Marshal(m) // the bytes of the file, as LoadModel has checked
	if err != nil {
		return nil, err
	}
	return card.Of(m, file, build.Describe("discreet"), commands.Clock()), nil
}

// cardFlags holds the flags of the command.
type cardFlags struct {
	*app
	model, out, format, audit string
	about                     []string
	aboutFile                 string
	names                     bool
	ledger                    commands.LedgerFlag
}

func (a *app) newCardCommand() *cobra.Command {
	k := &cardFlags{app: a}
	c := &cobra.Command{
		Use:   "card",
		Short: "write a model's privacy card, for the person who signs",
		Long: `Card writes a page for the person who signs for a model. It lists whose data the
model was trained on, what is protected and against whom, how certain a reader
of the model can become about a person, how the model was made and proved, and
which ledger was charged. It reads the model and, if you pass one, the ledger.
It reads no row.

The format follows the name of the file: .html or .yaml. To have the card on
paper, print the page from a browser. With --format registry the output is a
draft record for the OpenDP Deployments Registry, in YAML, which must say
curator, intended-use, region, author and published.

A model file does not contain who is responsible for it. Use --about, or a file
with --about-file: curator (the controller), intended-use, recipients, retention,
people, trained (a date), region, author, contact, published (a date), sector,
sources and notes.`,
		Example: `  discreet card --model m.json --out card.html --ledger l.db
  discreet card --model m.json --out card.html --audit audit.json --about-file about.yaml
  discreet card --model m.json --out record.yaml --format registry --about curator="City hospital" \
    --about intended-use="Triage" --about region=Bohemia --about author="A. Officer" --about published=2026-05-01`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return k.writeCard(c) },
	}
	c.Flags().StringVar(&k.model, "model", "", "the model `file`, or a release of it")
	c.Flags().StringVar(&k.out, "out", "", "the `file` to write; replaced if it is there")
	c.Flags().StringVar(&k.format, "format", "", "the `format`: html, yaml or registry (default by the name's ending)")
	c.Flags().StringVar(&k.audit, "audit", "", "a `file` that audit --json or attack --json printed")
	c.Flags().StringArrayVar(&k.about, "about", nil, "`NAME=TEXT` about what the model does not contain; may be repeated")
	c.Flags().StringVar(&k.aboutFile, "about-file", "", "a `file` of such names and texts in YAML")
	k.ledger.AddFlag(c)
	addNamesFlag(c, &k.names)
	cli.Reads(c, "model", "audit", "about-file")
	cli.Writes(c, "out")
	cli.Require(c, "model", "out")
	commands.CompleteFlag(c, "format", "html", "yaml", "registry")
	return c
}

// addNamesFlag adds the flag that names who approved.
func addNamesFlag(c *cobra.Command, names *bool) {
	c.Flags().BoolVar(names, "names", false, "name who approved the training, not the role alone")
}

func (k *cardFlags) writeCard(c *cobra.Command) error {
	var about card.About
	if k.format == "" && len(filepath.Ext(k.out)) > 1 {
		k.format = filepath.Ext(k.out)[1:]
	}
	var err error
	if k.aboutFile != "" {
		if about, err = card.ReadAbout(k.aboutFile); err != nil {
			return commands.AsRefusal(err)
		}
	}
	if about, err = about.Parse(k.about); err != nil {
		return commands.AsRefusal(err)
	}
	m, err := loadCard(k.model)
	if err == nil && k.audit != "" {
		err = m.AddAudit(k.audit)
	}
	if err == nil && k.ledger.Address != "" {
		err = k.ledger.UseLedger(c.Context(), func(l *ledger.Ledger) error { return m.AddLedger(c.Context(), l, k.names) })
	}
	if err != nil {
		return commands.AsRefusal(err)
	}
	if len(about) > 0 {
		m.About = about
	}
	write := m.Format(k.format)
	if write == nil {
		return cli.Refuse("card", "format", "must be html, yaml or registry", k.format)
	}
	return commands.AsRefusal(k.WriteFile(k.out, write))
}
