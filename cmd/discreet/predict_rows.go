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
input ends. The Python package uses it, and its requests and answers may change
with every version.`,
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
