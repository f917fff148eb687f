// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/commands/cli"
)

func (a *app) newExportCommand() *cobra.Command {
	var path, format, out string
	c := &cobra.Command{
		Use:   "export",
		Short: "write a model as ONNX, PMML or SQL, for other systems to run",
		Long: `Export translates a model for another system. The result reads cells as the
model's schema declares and scores rows as predict does. It runs without
discreet.

Format onnx is a graph for onnxruntime and similar programs. Its inputs are the
model's columns; its outputs are label, score and, for an additive model, what
each column adds.

Format sql is one SELECT for PostgreSQL and DuckDB. It scores the rows of a
table called input, which has a column id and the model's columns. Format pmml
is a document of version 4.4, for JPMML and similar programs.

The privacy statement is included in the file. Export reads the model and no
row, so it costs no budget. See docs/export.md for types and examples.`,
		Example: `  discreet export --model m.json --format onnx --out m.onnx
  discreet export --model m.json --format sql --out score.sql`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if !slices.Contains([]string{"onnx", "pmml", "sql"}, format) {
				return cli.Refuse("export", "format", "must be onnx, pmml or sql", strconv.Quote(format))
			}
			m, err := discreet.LoadModel(path)
			if err != nil {
				return err
			}
			write := func(w io.Writer) error { return m.Export(w, format) }
			if out == "-" {
				return write(a.Data())
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
