// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/commands/demo"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// demoFlags holds the flags of the command.
type demoFlags struct {
	*app
	rows int
	save string
}

const minDemoRows = 100

func (a *app) newDemoCommand() *cobra.Command {
	d := &demoFlags{app: a}
	c := &cobra.Command{
		Use:   "demo",
		Short: "train and compare models on an invented census",
		Long: `Demo has a table like a census, of people who are all invented. It trains on one
half of the people and tests on the other half, with four models: without the
private columns, under differential privacy with brc and with the default learner,
and without privacy. It prints how accurate each model is. It writes the table, its
schema, the default learner's model and a page that explains the model, so that you
can try the other commands on them.

The people are the same in every run. The noise is fresh.`,
		Example: `  discreet demo
  discreet demo --rows 2000 --save sample`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return d.runDemo(c.Context()) },
	}
	c.Flags().IntVar(&d.rows, "rows", census.People, "how many of the people to take, half of them for testing")
	c.Flags().StringVar(&d.save, "save", "discreet-demo",
		"the `folder` to write to; what an earlier demo left there is replaced")
	cli.WritesInto(c, "save", demoFiles...)
	return c
}

// demoSchema is the file by which the demo recognizes its own folder, whose files it may replace.
const demoSchema = "census.yaml"

// demoFiles are the other files that the demo writes.
var demoFiles = []string{"train.csv", "held-out.csv", "model.html", "model.json"}

// checkFolder refuses a folder with files that the demo does not write.
func (d *demoFlags) checkFolder() (again bool, err error) {
	old, err := openfile.Read(d.pathOf(demoSchema))
	if err == nil && bytes.Equal(old, census.SchemaYAML()) {
		return true, nil
	}
	for _, name := range append([]string{demoSchema}, demoFiles...) {
		if _, err := os.Lstat(d.pathOf(name)); err == nil {
			return false, cli.Refuse("demo", "save", "must be a folder without files called "+demoSchema+", "+
				strings.Join(demoFiles, ", ")+", or one that demo left", d.save)
		}
	}
	return false, nil
}

func (d *demoFlags) runDemo(ctx context.Context) error {
	if d.rows < minDemoRows || d.rows > census.People {
		return cli.Refuse("demo", "rows", fmt.Sprintf("must be from %d to %d", minDemoRows, census.People), d.rows)
	}
	again, err := d.checkFolder()
	if err != nil {
		return err
	}
	d.Say("%d invented people, to train on one half and test on the other", d.rows)
	if err := os.MkdirAll(d.save, 0o777); err != nil {
		return err
	}
	half := d.rows / 2
	train, heldOut := census.CSV(0, half), census.CSV(half, d.rows)
	learn, err := readPeople(ctx, train)
	if err != nil {
		return err
	}
	judge, err := readPeople(ctx, heldOut)
	if err != nil {
		return err
	}
	progress, done := d.ShowRuns("training")
	r, err := demo.Run(ctx, learn, judge, progress)
	done()
	if err != nil {
		return err
	}
	if err := r.WriteText(d.Stdout); err != nil {
		return err
	}
	left := plaintext.Sprintf("\nLeft in %s:\n", d.save)
	for _, file := range []struct {
		name, what string
		write      func(io.Writer) error
	}{
		{demoSchema, "the schema: which columns are private, and their bounds",
			writeBytes(census.SchemaYAML())},
		{"train.csv", "the people trained on", writeBytes(train)},
		{"held-out.csv", "the people tested on", writeBytes(heldOut)},
		{"model.html", "what the model learnt of each column; open it in a browser", r.WriteHTML},
	} {
		if file.name == demoSchema && again {
			// it is there, and a schema is not replaced
		} else if err := d.WriteFile(d.pathOf(file.name), file.write); err != nil {
			return err
		}
		left += plaintext.Sprintf("  %s  %s\n", d.pathOf(file.name), file.what)
	}
	if err := r.Model.Save(d.pathOf("model.json")); err != nil {
		return err
	}
	left += plaintext.Sprintf("  %s  the default learner's model with its privacy statement\n", d.pathOf("model.json"))
	_, err = io.WriteString(d.Stdout, left+plaintext.Sprintf(`
Try next:
  discreet evaluate --model %[1]s --data %[2]s
  discreet plan --schema %[3]s --epsilon 0.1 --rows %[4]d
  discreet train --data %[5]s --schema %[3]s --epsilon 0.1 --model %[6]s
`, d.pathOf("model.json"), d.pathOf("held-out.csv"), d.pathOf("census.yaml"), learn.Rows, d.pathOf("train.csv"),
		d.pathOf("cheaper.json")))
	return err
}

func readPeople(ctx context.Context, text []byte) (*dataset.Table, error) {
	return dataset.Read(ctx, census.Schema(), dataset.Options{Stdin: bytes.NewReader(text)}, "-")
}

func writeBytes(text []byte) func(io.Writer) error {
	return func(w io.Writer) error { _, err := w.Write(text); return err }
}

func (d *demoFlags) pathOf(name string) string { return filepath.Join(d.save, name) }
