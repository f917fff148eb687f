// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/dataset"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/feature"
	"github.com/discreet-dp/discreet/model"
	"github.com/discreet-dp/discreet/multiparty"
	"github.com/discreet-dp/discreet/schema"
)

// vote is the flags of the command.
type vote struct {
	*app
	model, command, csv string
	aux                 []string
	schema              string
	out, party, key     string
	kind                string
	encoding            string
}

func (a *app) partyVote() *cobra.Command {
	v := &vote{app: a}
	c := &cobra.Command{
		Use:   "vote",
		Short: "vote on the rows of the auxiliary table",
		Long: `Vote writes a party's votes about the rows of the auxiliary table: labels, or
probabilities of every level, signed, with the digests of the table and of what
voted. Votes are for the combiner alone: they are as private as the model.

What votes is a model file, or any other classifier: a command, run by the
shell, that reads the table's CSV on its standard input (or from {data}, which
is replaced by the file's name) and prints votes as CSV, or such a CSV in a
file. Ready-made commands for scikit-learn and ONNX models lie in adapters.

Votes as CSV have a header and a line for each row. One column: the level. As
many columns as levels, named after them: their probabilities, of any scale.

With --kind coefficients a logistic model hands in itself, for combine --method
average.`,
		Example: `  discreet party vote --model m.json --aux aux.csv --out votes/mine
  discreet party vote --model m.json --aux aux.csv --kind probabilities --key mine.pem --party "St Mary" --out votes/mary
  discreet party vote --command "python3 adapters/sklearn_votes.py model.joblib" --schema aux.yaml --aux aux.csv --out votes/mine
  discreet party vote --csv votes.csv --schema aux.yaml --aux aux.csv --out votes/mine`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return v.run(c.Context()) },
	}
	c.Flags().StringVar(&v.model, "model", "", "the party's model `file`")
	c.Flags().StringVar(&v.command, "command", "", "the `command` of another classifier")
	c.Flags().StringVar(&v.csv, "csv", "", "a CSV `file` of votes")
	c.Flags().StringArrayVar(&v.aux, "aux", nil, "a `file` of the auxiliary table, CSV (also gzip) or Parquet; may be repeated")
	c.Flags().StringVar(&v.schema, "schema", "", "the schema `file` of the auxiliary table; a model has its own")
	c.Flags().StringVar(&v.out, "out", "", "the votes `file` to write; replaced if it is there")
	c.Flags().StringVar(&v.party, "party", "", "the `name` of the party (default the name of --out)")
	c.Flags().StringVar(&v.key, "key", "", "the key `file` to sign with (default a key for this file alone)")
	c.Flags().StringVar(&v.kind, "kind", string(multiparty.Labels), "what to hand in: labels, probabilities or coefficients")
	c.Flags().StringVar(&v.encoding, "encoding", string(feature.OneHot), "how categories become numbers, for coefficients: onehot or ordinal")
	complete(c, "kind", string(multiparty.Labels), string(multiparty.Probabilities), string(multiparty.Coefficients))
	required(c, "aux", "out")
	c.MarkFlagsOneRequired("model", "command", "csv")
	c.MarkFlagsMutuallyExclusive("model", "command", "csv")
	return c
}

func (v *vote) run(ctx context.Context) error {
	kind := multiparty.Kind(v.kind)
	bad := func(param, want string, got any) error {
		return &usageError{&dp.ParamError{Op: "party", Param: param, Want: want, Got: got}}
	}
	enc, err := feature.ParseEncoding(v.encoding)
	switch {
	case err != nil:
		return &usageError{err}
	case kind != multiparty.Labels && kind != multiparty.Probabilities && kind != multiparty.Coefficients:
		return bad("kind", "must be labels, probabilities or coefficients", v.kind)
	case kind == multiparty.Coefficients && v.model == "":
		return bad("kind", "may be coefficients of a --model only", v.kind)
	case v.model == "" && v.schema == "" || kind == multiparty.Coefficients && v.schema == "":
		return bad("schema", "must be given with --command, --csv and --kind coefficients", nil)
	case v.command != "" && len(v.aux) > 1:
		return bad("aux", "must be one file for a --command", len(v.aux))
	}
	var m *model.Model
	var s *schema.Schema
	if v.schema != "" {
		if s, err = schema.Load(v.schema); err != nil {
			return err
		}
	}
	if v.model != "" {
		if m, err = model.Load(v.model); err != nil {
			return err
		}
		if s == nil {
			s = m.Schema
		}
	}
	key, err := v.signingKey(v.key)
	if err != nil {
		return err
	}
	t, aux, err := v.auxiliary(ctx, s, v.aux)
	if err != nil {
		return err
	}
	h := multiparty.Header{Party: v.party, Kind: kind, Levels: multiparty.Levels(s), Rows: t.Rows, Aux: aux.Digest}
	if h.Party == "" {
		name := filepath.Base(v.out)
		h.Party = strings.TrimSuffix(name, filepath.Ext(name))
	}
	if m == nil {
		err = v.external(ctx, s, h, key)
	} else {
		err = v.ours(m, s, t, h, enc, key)
	}
	if err == nil {
		v.say("wrote the %s of party %q about %d rows to %s", h.Kind, h.Party, h.Rows, v.out)
	}
	return err
}

// auxiliary reads the public table and its digest.
func (a *app) auxiliary(ctx context.Context, s *schema.Schema, paths []string) (*dataset.Table, *multiparty.Auxiliary, error) {
	all := sha256.New()
	for _, path := range paths {
		sum, err := digestOf(path)
		if err != nil {
			return nil, nil, err
		}
		all.Write(sum[:])
	}
	report, done := a.bytesRead("reading")
	defer done()
	t, err := dataset.Read(ctx, s, dataset.Options{Labels: dataset.LabelsIgnored, Progress: report}, paths...)
	if err != nil {
		return nil, nil, err
	}
	aux := &multiparty.Auxiliary{Cols: t.Cols, Rows: t.Rows}
	all.Sum(aux.Digest[:0])
	return t, aux, nil
}

func digestOf(path string) (d multiparty.Digest, err error) {
	f, err := os.Open(path)
	if err != nil {
		return d, err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	h.Sum(d[:0])
	return d, errors.Join(err, f.Close())
}

// write makes the votes file.
func (v *vote) write(h multiparty.Header, key ed25519.PrivateKey, body func(*multiparty.Writer) error) error {
	return writeFile(v.out, func(w io.Writer) error {
		votes, err := multiparty.NewWriter(w, h, key)
		if err != nil {
			return err
		}
		if err := body(votes); err != nil {
			return err
		}
		return votes.Close()
	})
}

// ours votes with a model of ours.
func (v *vote) ours(m *model.Model, s *schema.Schema, t *dataset.Table, h multiparty.Header, enc feature.Encoding, key ed25519.PrivateKey) (err error) {
	if h.Model, err = digestOf(v.model); err != nil {
		return err
	}
	if h.Kind == multiparty.Coefficients {
		coef, layout, err := multiparty.CoefficientsOf(m, s, enc)
		if err != nil {
			return err
		}
		h.Encoder, h.Layout = string(enc), layout
		return v.write(h, key, func(w *multiparty.Writer) error { return w.Coefficients(coef) })
	}
	p, err := m.Bind(s)
	if err != nil {
		return err
	}
	scores, err := p.Scores(t.Cols, t.Rows)
	if err != nil {
		return err
	}
	return v.write(h, key, func(w *multiparty.Writer) error {
		switch {
		case h.Kind == multiparty.Labels:
			return w.Labels(m.Labels(scores))
		case m.Width() > 1:
			return w.Probabilities(scores)
		}
		both := make([]float64, 2*len(scores))
		for i, x := range scores {
			both[2*i+s.Label.Positive], both[2*i+1-s.Label.Positive] = x, 1-x
		}
		return w.Probabilities(both)
	})
}
