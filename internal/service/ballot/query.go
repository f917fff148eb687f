// SPDX-License-Identifier: Apache-2.0

package ballot

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/service/party"
)

// Answer casts the votes of a query.
func (v *Voter) Answer(name string) func(context.Context, *party.Query, []string, io.Writer) error {
	return func(ctx context.Context, q *party.Query, files []string, to io.Writer) error {
		if v.Command != "" && len(files) > 1 {
			return fmt.Errorf("party: a command votes on one file (got %d)", len(files))
		}
		h, err := v.Cast(ctx, name, q.Kind, files, to)
		if err == nil && h.Aux != q.Aux() {
			err = errors.New("party: the auxiliary files changed while they were read")
		}
		return err
	}
}

// Addend makes what the party adds to a secret sum: its own Secret, of public
// things, says how.
func (v *Voter) Addend(ctx context.Context, q *party.Query, files []string, votes io.Reader) ([]uint64, uint64, error) {
	_, aux, err := ReadAuxiliary(ctx, v.Read, v.public, files)
	if err != nil {
		return nil, 0, err
	}
	pl, err := q.Params.Plan(v.public, aux.Rows)
	if err != nil {
		return nil, 0, err
	}
	secret, err := pl.Secret(ctx, aux, q.Honest)
	if err != nil {
		return nil, 0, err
	}
	out, err := secret.Addend(ctx, votes, mech.NewExit(rng.System()))
	return out, secret.Law.Top() + 1, err
}
