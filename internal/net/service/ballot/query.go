// SPDX-License-Identifier: Apache-2.0

package ballot

import (
	"context"
	"errors"
	"io"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/net/service/party"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// Answer casts the votes of a query.
func (v *Voter) Answer(name string) func(context.Context, *party.Query, []string, io.Writer) error {
	return func(ctx context.Context, q *party.Query, files []string, to io.Writer) error {
		h, err := v.Cast(ctx, name, q.Kind, files, to)
		if err == nil && h.Aux != q.Aux() {
			err = errors.New("party: the auxiliary files changed while they were read")
		}
		return err
	}
}

// Plan checks a query, and refuses one that cannot be combined. It reads the public table and not the
// voting model. length and below describe the vector of a secret sum for the query.
func (v *Voter) Plan(ctx context.Context, q *party.Query, files []string) (length int, below uint64, err error) {
	bad := dp.RefuseFor("party")
	if v.Command != "" && len(files) > 1 {
		return 0, 0, bad("tables", "must be one file: a command votes on one", len(files))
	}
	if q.Kind == multiparty.Coefficients && v.ours == nil {
		return 0, 0, bad("kind", "must be labels or probabilities: what votes here has no coefficients", q.Kind)
	}
	secret, err := v.planSum(ctx, q, files)
	if secret == nil || err != nil {
		return 0, 0, err
	}
	return secret.Law.Dim(), secret.Law.Top() + 1, nil
}

// planSum prepares the secret sum of a query from public data; nil if votes are handed in.
func (v *Voter) planSum(ctx context.Context, q *party.Query, files []string) (*multiparty.Secret, error) {
	_, aux, err := ReadAuxiliary(ctx, v.Read, v.public, files)
	if err != nil {
		return nil, err
	}
	pl, err := q.Params.Plan(v.public, aux.Rows)
	if err != nil || q.Honest == 0 {
		return nil, err
	}
	return pl.Secret(ctx, aux, q.Honest)
}

// Addend computes the party's term of a secret sum, by its own Secret made from public data.
func (v *Voter) Addend(ctx context.Context, q *party.Query, files []string, votes io.Reader) ([]uint64, error) {
	secret, err := v.planSum(ctx, q, files)
	if err != nil {
		return nil, err
	}
	return secret.Addend(ctx, votes, mech.NewExit(rng.System()))
}
