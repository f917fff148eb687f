// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
)

// vote holds the flags of the command.
type vote struct {
	voter
	aux              []string
	out, party, kind string
}

func (a *app) newSiteCastCommand() *cobra.Command {
	v := &vote{voter: newVoter(a)}
	c := &cobra.Command{
		Use:   "cast",
		Short: "vote on the rows of the auxiliary table",
		Long: `Cast writes a party's votes on the rows of the auxiliary table: labels, or
probabilities of every class. The file is signed. It is as confidential as
the model: votes are for the combiner alone.

There are three ways to vote:

- a model file;
- a command, run by the shell. It reads the table as CSV from its standard input
  (or from {data}, which is replaced by the file's name) and prints votes as
  CSV. Ready-made commands for scikit-learn and ONNX models are in
  examples/adapters;
- a CSV file of votes.

Votes as CSV have a header and one line for each row. A single column contains
the class. If there are as many columns as classes, named after them, they
contain the probabilities of the classes, on any scale.

With --kind coefficients a logistic model sends its own coefficients, for
site vote --method average.`,
		Example: `  discreet-net site cast --model m.json --aux aux.csv --out votes/mine
  discreet-net site cast --model m.json --aux aux.csv --kind probabilities --key mine.pem \
    --party "St Mary" --out votes/mary
  discreet-net site cast --command "python3 examples/adapters/sklearn_votes.py model.joblib" \
    --schema aux.yaml --aux aux.csv --out votes/mine
  discreet-net site cast --csv votes.csv --schema aux.yaml --aux aux.csv --out votes/mine`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return v.writeVotes(c.Context()) },
	}
	v.voter.addFlags(c)
	c.Flags().StringVar(&v.CSV, "csv", "", "a CSV `file` of votes")
	c.Flags().StringArrayVar(&v.aux, "aux", nil,
		"a `file` of the auxiliary table, CSV (also .gz or .zst) or Parquet; may be repeated")
	c.Flags().StringVar(&v.Schema, "schema", "", "the schema `file` of the auxiliary table; a model has its own")
	c.Flags().StringVar(&v.out, "out", "", "the votes `file` to write; replaced if it is there")
	c.Flags().StringVar(&v.party, "party", "", "the `name` of the party (default the name of --out)")
	c.Flags().StringVar(&v.Key, "key", "", "the key `file` to sign with (default a key for this file alone)")
	c.Flags().StringVar(&v.kind, "kind", string(multiparty.Labels),
		"votes to send: labels, probabilities or coefficients")
	commands.CompleteFlag(c, "kind", string(multiparty.Labels), string(multiparty.Probabilities), string(multiparty.Coefficients))
	cli.Reads(c, "csv", "aux", "schema", "key")
	cli.Writes(c, "out")
	cli.Require(c, "aux", "out")
	c.MarkFlagsOneRequired("model", "command", "csv")
	c.MarkFlagsMutuallyExclusive("model", "command", "csv")
	return c
}

func (v *vote) writeVotes(ctx context.Context) error {
	kind := multiparty.Kind(v.kind)
	if err := v.CheckKind(kind); err != nil {
		return commands.AsUsageError(err)
	}
	switch {
	case v.Model == "" && v.Schema == "" || kind == multiparty.Coefficients && v.Schema == "":
		return cli.Refuse("site cast", "schema", "must be given with --command, --csv and --kind coefficients", nil)
	case v.Command != "" && len(v.aux) > 1:
		return cli.Refuse("site cast", "aux", "must be one file for a --command", len(v.aux))
	}
	if v.Key == "" {
		v.Say("no --key: the signature will say that the file is whole, not who wrote it")
	}
	if err := v.Open(); err != nil {
		return commands.AsUsageError(err)
	}
	name := v.party
	if name == "" {
		base := filepath.Base(v.out)
		name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	var h multiparty.Header
	err := v.WriteFile(v.out, func(to io.Writer) (err error) {
		h, err = v.Cast(ctx, name, kind, v.aux, to)
		return err
	})
	if err == nil {
		v.Say("wrote the %s of party %q about %d rows to %s", h.Kind, h.Party, h.Rows, v.out)
	}
	return err
}
