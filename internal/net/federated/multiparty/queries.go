// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
)

// ErrSpent refuses a query because the budget is used up.
var ErrSpent = errors.New("multiparty: the budget is spent: every answer that was paid for has been given")

// Queries answers single rows of the auxiliary table by a noisy vote, each for its price (G-MULTI-4),
// until the budget is used up.
type Queries struct {
	t    *Tally
	acct guard.Account // nil if all answers were charged together
	exit *mech.Exit
	left []dp.Event
	said map[int]uint8
}

// Ask starts answering; acct is charged for each new answer, before it is given. The method must be
// NoisyMax.
func (pl *Plan) Ask(t *Tally, acct guard.Account, exit *mech.Exit) (*Queries, error) {
	if pl.Method != NoisyMax || t.pl != pl {
		return nil, fmt.Errorf("multiparty: queries need a plan of method %q and its tally", NoisyMax)
	}
	return pl.newQueries(t, acct, exit), nil
}

func (pl *Plan) newQueries(t *Tally, acct guard.Account, exit *mech.Exit) *Queries {
	q := &Queries{t: t, acct: acct, exit: exit, left: pl.Events(), said: map[int]uint8{}}
	if pl.NotPrivate {
		q.left = make([]dp.Event, pl.Queries)
	}
	return q
}

// Left returns the number of answers that are paid for and not yet given.
func (q *Queries) Left() int { return len(q.left) }

// Answer returns the code of a level for one row. The same row gets the same answer again at no cost.
// It fails with ErrSpent when the budget is used up, and with the account's error if the account
// refuses.
func (q *Queries) Answer(ctx context.Context, row int) (uint8, error) {
	if row < 0 || row >= q.t.rows {
		return 0, fmt.Errorf("multiparty: a query must name a row below %d (got %d)", q.t.rows, row)
	}
	if code, ok := q.said[row]; ok {
		return code, nil
	}
	if len(q.left) == 0 {
		return 0, ErrSpent
	}
	if q.acct != nil && !q.t.pl.NotPrivate {
		if err := q.acct.Charge(ctx, dp.Pure(q.left[:1]), q.left[:1]); err != nil {
			return 0, fmt.Errorf("multiparty: %w", err)
		}
	}
	shares := make([]uint64, q.t.pl.Levels())
	q.t.share(row, shares)
	scores := make([]mech.Ratio, len(shares))
	for k, share := range shares {
		scores[k] = mech.Ratio{Num: int64(share), Den: int64(len(shares)) * One}
	}
	// 4.1: a vote that moves takes up to 1 from some levels and gives it to others.
	const spread = 2
	var m mech.Selector = mech.NoNoise{}
	if !q.t.pl.NotPrivate {
		m = mech.Sized(mech.PermuteAndFlipFor(q.left[0].Epsilon, spread))
	}
	code := uint8(q.exit.Select(answerLabel, m, scores)) // 4.2: votes meet noise
	q.left, q.said[row] = q.left[1:], code
	return code, nil
}

// Recall restores an answer that was given, and paid for, in an earlier run of the same queries.
func (q *Queries) Recall(row int, code uint8) error {
	if _, ok := q.said[row]; ok {
		return nil
	}
	if row < 0 || row >= q.t.rows || int(code) >= q.t.pl.Levels() {
		return fmt.Errorf("multiparty: an answer must be for a row below %d and a level below %d", q.t.rows, q.t.pl.Levels())
	}
	if len(q.left) == 0 {
		return ErrSpent
	}
	q.left, q.said[row] = q.left[1:], code
	return nil
}

// fitAnswers queries the first rows and fits the answers.
func (pl *Plan) fitAnswers(ctx context.Context, p *public, t *Tally, exit *mech.Exit) ([]float64, error) {
	q := pl.newQueries(t, nil, exit)
	p = p.firstRows(pl.Queries)
	votes := &Tally{pl: pl, rows: p.rows, votes: make([]uint32, p.rows*pl.Levels())}
	for i := range p.rows {
		code, err := q.Answer(ctx, i)
		if err != nil {
			return nil, err
		}
		// One whole vote of all parties together, so that none counts as absent.
		votes.votes[i*pl.Levels()+int(code)] = One
	}
	one := *pl
	one.Parties = 1
	votes.pl, votes.parties = &one, map[string]bool{answerLabel: true}
	p.pl = &one
	g, err := p.computeMoments(ctx)
	if err != nil {
		return nil, err
	}
	s, err := p.computeStatistic(ctx, votes)
	if err != nil {
		return nil, err
	}
	o := p.newObjective(g)
	o.setStatistic(slices.Clone(s))
	w, _, err := o.findMinimum(ctx, searchTarget, searchSteps)
	return w, err
}
