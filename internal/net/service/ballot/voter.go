// SPDX-License-Identifier: Apache-2.0

package ballot

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/keyfile"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/net/service/party"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// Voter casts votes for a party, by a discreet model, another program, or a file of votes. Exactly one
// of Model, Command and CSV is set.
type Voter struct {
	Model, Command, CSV string
	Schema              string // the schema file of the auxiliary table; "" for the model's own
	Key                 string // the key file for signatures; "" for a new key for this file alone
	Encoding            string // of categories, for coefficients
	Env                 []string
	Read                Reader

	ours   *model.Model // nil if another classifier votes
	source multiparty.Digest
	public *schema.Schema
	enc    feature.Encoding
	signer ed25519.PrivateKey
}

// Open reads the model, the schema and the key.
func (v *Voter) Open() (err error) {
	if v.enc, err = feature.ParseEncoding(v.Encoding); err != nil {
		return &train.RequestError{Err: err}
	}
	if v.Schema != "" {
		if v.public, err = schema.Load(v.Schema); err != nil {
			return err
		}
	}
	switch {
	case v.Model != "":
		if v.ours, err = model.Load(v.Model); err != nil {
			return err
		}
		if v.public == nil {
			v.public = v.ours.Schema
		}
		v.source, err = party.DigestOf(v.Model)
	case v.CSV != "":
		v.source, err = party.DigestOf(v.CSV)
	default:
		v.source = sha256.Sum256([]byte(v.Command))
	}
	if err != nil {
		return err
	}
	if v.Key == "" { // one for this file alone
		_, v.signer, err = ed25519.GenerateKey(rand.Reader)
		return err
	}
	v.signer, err = keyfile.Read("party", v.Key)
	return err
}

// CheckKind refuses a kind of votes that this voter cannot make.
func (v *Voter) CheckKind(kind multiparty.Kind) error {
	bad := func(want string, got any) error {
		return &train.RequestError{Err: dp.Refuse("party", "kind", want, got)}
	}
	switch {
	case kind != multiparty.Labels && kind != multiparty.Probabilities && kind != multiparty.Coefficients:
		return bad("must be labels, probabilities or coefficients", string(kind))
	case kind == multiparty.Coefficients && v.Model == "":
		return bad("may be coefficients of a model file only", string(kind))
	}
	return nil
}

// IsReleased reports whether a model votes whose bytes are the result of a job of the data set (6.1).
func (v *Voter) IsReleased(ctx context.Context, l *ledger.Ledger, dataset string) (bool, error) {
	if v.ours == nil {
		return false, nil
	}
	return l.HasResult(ctx, dataset, v.source)
}

// Cast writes the votes file on the auxiliary table in the files.
func (v *Voter) Cast(ctx context.Context, name string, kind multiparty.Kind, files []string,
	to io.Writer) (multiparty.Header, error) {
	t, aux, err := ReadAuxiliary(ctx, v.Read, v.public, files)
	if err != nil {
		return multiparty.Header{}, err
	}
	h := multiparty.Header{Party: name, Kind: kind, Levels: multiparty.Levels(v.public), Rows: t.Rows, Aux: aux.Digest,
		Model: v.source}
	if v.ours == nil {
		return h, v.voteExternally(ctx, files[0], h, to)
	}
	return h, v.fromModel(t, h, to)
}

// Reader reads unlabelled rows.
type Reader func(ctx context.Context, s *schema.Schema, paths []string) (*dataset.Table, error)

// ReadAuxiliary reads the public table that parties vote on, and its digest.
func ReadAuxiliary(ctx context.Context, read Reader, s *schema.Schema,
	paths []string) (*dataset.Table, *multiparty.Auxiliary, error) {
	all := sha256.New()
	for _, path := range paths {
		sum, err := party.DigestOf(path)
		if err != nil {
			return nil, nil, err
		}
		all.Write(sum[:])
	}
	t, err := read(ctx, s, paths)
	if err != nil {
		return nil, nil, err
	}
	aux := &multiparty.Auxiliary{Cols: t.Cols, Rows: t.Rows}
	all.Sum(aux.Digest[:0])
	return t, aux, nil
}

// writeVotes writes the votes file.
func (v *Voter) writeVotes(h multiparty.Header, to io.Writer, body func(*multiparty.Writer) error) error {
	votes, err := multiparty.NewWriter(to, h, v.signer)
	if err != nil {
		return err
	}
	if err := body(votes); err != nil {
		return err
	}
	return votes.Close()
}

// fromModel votes with a discreet model.
func (v *Voter) fromModel(t *dataset.Table, h multiparty.Header, to io.Writer) error {
	m := v.ours
	if h.Kind == multiparty.Coefficients {
		coef, layout, err := multiparty.CoefficientsOf(m, v.public, v.enc)
		if err != nil {
			return err
		}
		h.Encoder, h.Layout = string(v.enc), layout
		return v.writeVotes(h, to, func(w *multiparty.Writer) error { return w.Coefficients(coef) })
	}
	p, err := m.Bind(v.public)
	if err != nil {
		return err
	}
	scores, err := p.Scores(t.Cols, t.Rows)
	if err != nil {
		return err
	}
	return v.writeVotes(h, to, func(w *multiparty.Writer) error {
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

// CheckModel refuses a model that cannot vote on rows of the schema.
func (v *Voter) CheckModel() error {
	if v.ours == nil {
		return nil
	}
	if _, err := v.ours.Bind(v.public); err != nil {
		return fmt.Errorf("party: %s and %s: %w", v.Model, v.Schema, err)
	}
	return nil
}
