// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Checks holds the flags about the record of checks of tables.
type Checks struct {
	file    string
	mostly  float64
	Require bool
	Command string // that checks tables, without --checks and --data; "" for schema check
}

// AddFile adds the flag that names the record.
func (k *Checks) AddFile(c *cobra.Command) {
	c.Flags().StringVar(&k.file, "checks", "",
		"the `file` that records which tables were checked (default the schema's name and .checks)")
	cli.Reads(c, "checks")
}

// AddFlags adds the flags of a command that charges for a table.
func (k *Checks) AddFlags(c *cobra.Command) {
	k.AddFile(c)
	c.Flags().BoolVar(&k.Require, "require-check", false,
		"refuse a table that schema check has not read as it is now, with this schema")
}

// AddMostly adds the flags of a command that checks tables.
func (k *Checks) AddMostly(c *cobra.Command) {
	k.AddFile(c)
	c.Flags().Float64Var(&k.mostly, "mostly", dataset.Mostly,
		"the share of a column's cells, in `percent`, from which the schema does not fit if they are not what it declares")
}

func (k *Checks) place(schemaFile string) string {
	return cmp.Or(k.file, dataset.RecordBeside(schemaFile))
}

// Check reads tables as a training reads them by s, and records that they were checked, whatever it finds.
// schemaFile is the file that s belongs to.
func (k *Checks) Check(ctx context.Context, a *App, s *schema.Schema, schemaFile string, data []string) (*dataset.Tally, error) {
	if !(k.mostly > 0 && k.mostly <= 100) {
		return nil, cli.Refuse("check", "mostly", "must be a percentage above 0 and at most 100", k.mostly)
	}
	tables, err := dataset.NameTables(ctx, s, data...) // as they are before they are read
	if err != nil {
		return nil, err
	}
	tally, err := dataset.Check(ctx, s, dataset.Options{Stdin: a.Stdin}, data...)
	if err != nil {
		return nil, err
	}
	if err := dataset.WriteRecord(k.place(schemaFile), Clock(), tables); err != nil {
		a.Say("the check is not recorded: %v", err)
	}
	faults := make([]error, len(tally.Faults))
	for i := range faults {
		faults[i] = &tally.Faults[i]
	}
	return tally, errors.Join(faults...)
}

// Misfit returns the error for a table that the schema does not fit.
func (k *Checks) Misfit(t *dataset.Tally) error {
	if names := t.Misfits(k.mostly); len(names) > 0 {
		return &dataset.MisfitError{Columns: names}
	}
	return nil
}

// Print prints the counts, and returns the error for a table that the schema does not fit.
func (k *Checks) Print(a *App, t *dataset.Tally, json bool) error {
	var err error
	if json {
		err = cli.WriteJSON(a.Stdout, struct {
			*dataset.Tally
			Misfits []string `json:"misfits"`
			Private bool     `json:"private"`
		}{t, append([]string{}, t.Misfits(k.mostly)...), false})
	} else {
		err = t.WriteText(a.Stdout, k.mostly)
	}
	return cmp.Or(err, k.Misfit(t))
}

// ShellWord writes a text as one word of the shell.
func ShellWord(text string) string {
	plain := strings.IndexFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./:=@,+%", r)
	}) < 0
	if plain && text != "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Ask says in one line, or refuses if it is required, that nobody has checked these tables with the schema.
func (k *Checks) Ask(c *cobra.Command, a *App, s *schema.Schema, schemaFile string, data []string) error {
	command := cmp.Or(k.Command, "discreet schema check "+ShellWord(schemaFile))
	if k.file != "" {
		command += " --checks " + ShellWord(k.file)
	}
	for _, table := range data {
		command += " --data " + ShellWord(table)
	}
	mend := dp.Step{Kind: dp.CheckTable, Name: command}
	err := dataset.FindCheck(c.Context(), k.place(schemaFile), s, data...)
	stream := errors.Is(err, dataset.ErrStream)
	switch {
	case err == nil:
		return nil
	case stream && k.Require:
		return fmt.Errorf("%s: %w", c.Name(), err)
	case stream:
		a.Say("%v", err)
	case !errors.Is(err, dataset.ErrUnchecked) && (k.Require || k.file != ""):
		return AsUsageError(err)
	case k.Require:
		return &dp.Advised{Err: fmt.Errorf("%s: %w", c.Name(), dataset.ErrUnchecked), Next: mend}
	case !errors.Is(err, fs.ErrNotExist): // a file that is not there is told when it is read
		a.Say("%v: %s", dataset.ErrUnchecked, cli.StepWords(c)(mend))
	}
	return nil
}
