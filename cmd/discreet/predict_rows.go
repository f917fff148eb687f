// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/train/predict"
)

func (a *app) newPredictRowsCommand() *cobra.Command {
	path, signed := "", signedFlag{}
	c := &cobra.Command{
		Use:   "predict-rows",
		Short: "score rows for another program, over standard input and output",
		Long: `Predict-rows scores rows for the program that started it, until its standard
input ends. A frame is the length of its text as four bytes, the lowest first,
followed by JSON. The first frame that it writes lists columns and classes. Each
request {"rows": [[cell, ...]]} has cells in that order, and null for a missing
cell. The answer is {"scores": [...]} or {"error": "..."}. A request
{"labels": [cell, ...]} is answered by {"classes": [...]}, the index of each
label's class. The Python package uses it.`,
		Example: `  discreet predict-rows --model m.json`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			trusted, err := signed.trusted("predict-rows")
			if err != nil {
				return err
			}
			m, err := trusted.LoadModel(path)
			if err != nil {
				return err
			}
			return predict.Answer(m, a.Stdin, a.Data())
		},
	}
	c.Flags().StringVar(&path, "model", "", "the model `file`, or a release of it")
	signed.addFlag(c)
	cli.Reads(c, "model")
	cli.Require(c, "model")
	return c
}
