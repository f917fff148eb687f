// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/service/party"
	"github.com/discreet-dp/discreet/internal/table/dataset"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// voter is what votes for a party: the flags of party vote and party serve, and
// what open reads.
type voter struct {
	*app
	model, command, csv string
	schema, key         string
	encoding            string

	ours   *model.Model // nil where another classifier votes
	source multiparty.Digest
	public *schema.Schema
	enc    feature.Encoding
	signer ed25519.PrivateKey
}

func (v *voter) add(c *cobra.Command) {
	c.Flags().StringVar(&v.model, "model", "", "the party's model `file`")
	c.Flags().StringVar(&v.command, "command", "", "the `command` of another classifier")
	c.Flags().StringVar(&v.encoding, "encoding", string(feature.OneHot), "how categories become numbers, for coefficients: onehot or ordinal")
	complete(c, "encoding", string(feature.OneHot), string(feature.Ordinal))
}

// open reads what votes, the schema and the key.
func (v *voter) open() (err error) {
	if v.enc, err = feature.ParseEncoding(v.encoding); err != nil {
		return &cli.UsageError{Err: err}
	}
	if v.schema != "" {
		if v.public, err = schema.Load(v.schema); err != nil {
			return err
		}
	}
	switch {
	case v.model != "":
		if v.ours, err = model.Load(v.model); err != nil {
			return err
		}
		if v.public == nil {
			v.public = v.ours.Schema
		}
		v.source, err = party.DigestOf(v.model)
	case v.csv != "":
		v.source, err = party.DigestOf(v.csv)
	default:
		v.source = sha256.Sum256([]byte(v.command))
	}
	if err != nil {
		return err
	}
	v.signer, err = v.signingKey(v.key)
	return err
}

// checkKind refuses what the party has nothing to hand in of.
func (v *voter) checkKind(kind multiparty.Kind) error {
	bad := func(want string, got any) error {
		return &cli.UsageError{Err: &dp.ParamError{Op: "party", Param: "kind", Want: want, Got: got}}
	}
	switch {
	case kind != multiparty.Labels && kind != multiparty.Probabilities && kind != multiparty.Coefficients:
		return bad("must be labels, probabilities or coefficients", string(kind))
	case kind == multiparty.Coefficients && v.model == "":
		return bad("may be coefficients of a --model only", string(kind))
	}
	return nil
}

// cast writes the votes file about the auxiliary table in the files.
func (v *voter) cast(ctx context.Context, name string, kind multiparty.Kind, files []string, to io.Writer) (multiparty.Header, error) {
	t, aux, err := v.auxiliary(ctx, v.public, files)
	if err != nil {
		return multiparty.Header{}, err
	}
	h := multiparty.Header{Party: name, Kind: kind, Levels: multiparty.Levels(v.public), Rows: t.Rows, Aux: aux.Digest, Model: v.source}
	if v.ours == nil {
		return h, v.external(ctx, files[0], h, to)
	}
	return h, v.fromModel(t, h, to)
}

// auxiliary reads the public table and its digest.
func (a *app) auxiliary(ctx context.Context, s *schema.Schema, paths []string) (*dataset.Table, *multiparty.Auxiliary, error) {
	all := sha256.New()
	for _, path := range paths {
		sum, err := party.DigestOf(path)
		if err != nil {
			return nil, nil, err
		}
		all.Write(sum[:])
	}
	report, done := a.ShowBytes("reading")
	defer done()
	t, err := dataset.Read(ctx, s, dataset.Options{Labels: dataset.LabelsIgnored, Progress: report}, paths...)
	if err != nil {
		return nil, nil, err
	}
	aux := &multiparty.Auxiliary{Cols: t.Cols, Rows: t.Rows}
	all.Sum(aux.Digest[:0])
	return t, aux, nil
}

// write writes the votes file.
func (v *voter) write(h multiparty.Header, to io.Writer, body func(*multiparty.Writer) error) error {
	votes, err := multiparty.NewWriter(to, h, v.signer)
	if err != nil {
		return err
	}
	if err := body(votes); err != nil {
		return err
	}
	return votes.Close()
}

// fromModel votes with a model of ours.
func (v *voter) fromModel(t *dataset.Table, h multiparty.Header, to io.Writer) error {
	m := v.ours
	if h.Kind == multiparty.Coefficients {
		coef, layout, err := multiparty.CoefficientsOf(m, v.public, v.enc)
		if err != nil {
			return err
		}
		h.Encoder, h.Layout = string(v.enc), layout
		return v.write(h, to, func(w *multiparty.Writer) error { return w.Coefficients(coef) })
	}
	p, err := m.Bind(v.public)
	if err != nil {
		return err
	}
	scores, err := p.Scores(t.Cols, t.Rows)
	if err != nil {
		return err
	}
	return v.write(h, to, func(w *multiparty.Writer) error {
		switch {
		case h.Kind == multiparty.Labels:
			return w.Labels(m.Labels(scores))
		case m.Width() > 1:
			return w.Probabilities(scores)
		}
		both, positive := make([]float64, 2*len(scores)), v.public.Label.Positive
		for i, x := range scores {
			both[2*i+positive], both[2*i+1-positive] = x, 1-x
		}
		return w.Probabilities(both)
	})
}

// agreeing refuses a model that cannot vote on rows of the schema.
func (v *voter) agreeing() error {
	if v.ours == nil {
		return nil
	}
	if _, err := v.ours.Bind(v.public); err != nil {
		return fmt.Errorf("party: %s and %s: %w", v.model, v.schema, err)
	}
	return nil
}
