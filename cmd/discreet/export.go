// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/cli"
)

func (a *app) newExportCommand() *cobra.Command {
	var path, format, out string
	c := &cobra.Command{
		Use:   "export",
		Short: "write a model as ONNX, PMML or SQL, for other systems to run",
		Long: `Export writes a model as a program of another system. What is written codes
cells by the model's schema and scores rows as predict does; it needs no discreet.

Format onnx is a graph for onnxruntime and its like. It has one input for each
column that the model reads, of shape [rows, 1]: doubles of a number, where NaN is
missing, and strings of a category, where "(missing)" is missing. Its outputs are
label, score, and of an additive model what each column adds. Spaces around the
text of a cell have to be taken off by the caller.

Format sql is one SELECT for PostgreSQL and DuckDB that scores the rows of a table
called input, which has a column id and the model's columns. NULL is missing.
Format pmml is a document of version 4.4, for JPMML and its like.

The privacy statement goes into the file as well. Export reads the model and no
row, so it costs no budget. docs/export.md has examples.`,
		Example: `  discreet export --model m.json --format onnx --out m.onnx
  discreet export --model m.json --format sql --out score.sql`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			m, err := discreet.LoadModel(path)
			if err != nil {
				return err
			}
			write := func(w io.Writer) error { return m.Export(w, format) }
			if out == "-" {
				return write(a.Stdout)
			}
			if err := a.WriteFile(out, write); err != nil {
				return err
			}
			a.Say("wrote %s", out)
			return nil
		},
	}
	c.Flags().StringVar(&path, "model", "", "the model `file`")
	c.Flags().StringVar(&format, "format", "", "the `format`: onnx, pmml or sql")
	c.Flags().StringVar(&out, "out", "", "the `file` to write; - is standard output; replaced if it is there")
	cli.Reads(c, "model")
	cli.Writes(c, "out")
	cli.Require(c, "model", "format", "out")
	return c
}
