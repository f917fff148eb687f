// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"context"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/response"
)

// Secret is soft voting in which no one sees a party's votes. Each party converts its votes to one
// short vector, adds its share of the noise, and releases it into a secret sum (federated/secsum). The
// combiner learns only the noisy statistic and which parties are in it. Parties and the combiner make
// the same Secret from public data.
//
// Claim G-MULTI-5: the model is (ε, δ)-DP for one party, with δ below 1e-15, against everyone who sees
// the sum. This requires that at least Honest parties draw their share of the noise correctly and are
// in the sum.
type Secret struct {
	Law    response.Addend // the secret sum has Law.Dim() coordinates in 0..Law.Top()
	Honest int
	pl     *Plan
	aux    *Auxiliary
	rows   *public
	g      *mat.SymDense
	t      *transform
	middle []float64     // the statistic of a constant vote
	paid   guard.Account // nil before Charge
}

// Secret prepares the secret sum. honest is the smallest number of parties whose noise can be relied
// on, public, in [1, Parties]. It fails with a *dp.ParamError unless the method is Soft, the form
// Statistic, and ε at most 32.
func (pl *Plan) Secret(ctx context.Context, aux *Auxiliary, honest int) (*Secret, error) {
	bad := dp.RefuseFor("combine")
	switch {
	case pl.Method != Soft:
		return nil, bad("method", `must be "soft" for a secret sum`, pl.Method)
	case pl.Form != Statistic:
		return nil, bad("form", `must be "statistic" for a secret sum`, pl.Form)
	case pl.NotPrivate:
		return nil, bad("epsilon", "must be finite for a secret sum", "inf")
	}
	s := &Secret{Honest: honest, pl: pl, aux: aux, rows: newPublic(pl, aux)}
	var err error
	if s.g, err = s.rows.computeMoments(ctx); err != nil {
		return nil, err
	}
	s.t = newTransform(pl.Shape, s.g, s.rows.rows)
	// 5.1: two hand-ins of one party lie as far apart as those of the only one.
	dim := float64(pl.outputLength())
	l2 := pl.largestChange()*s.t.reach*(1+0x1p-40) + 2*math.Sqrt(float64(pl.Levels()-1))*s.t.slip
	if s.Law, err = response.ShortAddendFor(pl.Epsilon, pl.outputLength(), min(l2*math.Sqrt(dim), 2*dim), pl.Parties,
		honest); err != nil {
		return nil, err
	}
	constant, err := s.pl.forOneParty().NewTally(aux.Rows, aux.Digest)
	if err != nil {
		return nil, err
	}
	s.middle, err = s.rows.withParties(constant.pl).computeStatistic(ctx, constant)
	return s, err
}

// forOneParty returns the plan of one party.
func (pl *Plan) forOneParty() *Plan {
	one := *pl
	one.Parties = 1
	return &one
}

// withParties returns p for another number of parties.
func (p *public) withParties(pl *Plan) *public {
	q := *p
	q.pl = pl
	return &q
}

// Addend returns one party's term of the sum, given the votes file that the party would otherwise hand
// in. exit must be its own, and the vector must be released only into the secret sum.
func (s *Secret) Addend(ctx context.Context, votes io.Reader, exit *mech.Exit) ([]uint64, error) {
	one, err := s.pl.forOneParty().NewTally(s.aux.Rows, s.aux.Digest)
	if err != nil {
		return nil, err
	}
	if _, err := one.Add(votes); err != nil {
		return nil, err
	}
	stat, err := s.rows.withParties(one.pl).computeStatistic(ctx, one)
	if err != nil {
		return nil, err
	}
	d, at := s.pl.countCoefficients(), make([]float64, len(stat))
	for i := range at {
		at[i] = stat[i] - s.middle[i]
	}
	out := make([]float64, 0, len(at))
	for ; len(at) > 0; at = at[d:] {
		out = append(out, s.t.multiplyBy(at[:d])...)
	}
	return exit.Addend(statisticLabel, s.Law, out) // 5.2: votes meet noise
}

// Charge charges acct for the sum, before the parties are asked. The combiner learns the sum whether
// or not a model is made from it.
func (s *Secret) Charge(ctx context.Context, acct guard.Account) error {
	if !(s.Law.Delta() < 1e-15) {
		return fmt.Errorf("multiparty: the noise of so many parties and coordinates must be cut less often than 1e-15")
	}
	if err := acct.Charge(ctx, s.price(), s.listReleases()); err != nil {
		return fmt.Errorf("multiparty: %w", err)
	}
	s.paid = acct
	return nil
}

func (s *Secret) listReleases() []dp.Event { return []dp.Event{response.Event(statisticLabel, s.Law)} }

// price returns the cost of an addend: Law.Delta is far below one unit (5.3).
func (s *Secret) price() dp.Price { return dp.Price{Epsilon: s.pl.Epsilon, Delta: 1} }

// Combine makes the model from a secret sum of the given number of parties' addends. Other parties
// count as constant votes. The sum must have been charged.
func (s *Secret) Combine(ctx context.Context, sum []uint64, parties int) (*model.Model, error) {
	switch {
	case s.paid == nil:
		return nil, fmt.Errorf("multiparty: a secret sum must be charged before it is used")
	case len(sum) != s.Law.Dim():
		return nil, fmt.Errorf("multiparty: the sum must have %d coordinates (got %d)", s.Law.Dim(), len(sum))
	case parties < s.Honest || parties > s.pl.Parties:
		return nil, dp.Refuse("combine", "honest",
			fmt.Sprintf("must be at most the parties in the sum, %d: with fewer the noise is too short", parties), s.Honest)
	}
	total := s.Law.Sum(response.Total(sum, parties))
	d := s.pl.countCoefficients()
	stat := make([]float64, 0, len(total))
	for ; len(total) > 0; total = total[d:] {
		stat = append(stat, s.t.multiplyInverse(total[:d])...)
	}
	for i := range stat {
		stat[i] = s.middle[i] + stat[i]/float64(s.pl.Parties)
	}
	o := s.rows.newObjective(s.g)
	o.setStatistic(stat)
	w, _, err := o.findMinimum(ctx, searchTarget, searchSteps)
	if err != nil {
		return nil, fmt.Errorf("multiparty: %w", err)
	}
	m := s.pl.assembleModel(w)
	m.Privacy = s.statePrivacy()
	return m, nil
}

func (s *Secret) statePrivacy() model.Privacy {
	price := s.price()
	return model.Privacy{
		Scope: dp.Party, Relation: dp.ReplaceOne, Unit: s.pl.s.Unit, Epsilon: price.Epsilon, Delta: price.Delta,
		Bill:  s.listReleases(),
		Claim: "multiparty: G-MULTI-5", Counted: s.paid.Counted(),
		Statement: fmt.Sprintf("No one saw a vote. Whatever one of the %d parties holds, one row or all of its rows, the "+
			"chance of this exact model changes by at most a factor e^%s, but for a chance below 1e-15; so it does for each "+
			"single row.", s.pl.Parties, s.pl.Epsilon),
		Unprotected: []string{
			"the number of parties that were asked, and, from the combiner, which took part",
			fmt.Sprintf("anyone, if fewer than %d of the parties in the sum drew their share of the noise as they should",
				s.Honest),
			"anyone, if more holders pool their shares than the secret sum allows",
			"the auxiliary table, which is public: its rows must not depend on any party's",
			"a person with rows at several parties, beyond that many times epsilon",
			"what the model says about people in general, whether or not they are in a party's table",
			"how long combining took and how much memory it used",
		},
	}
}
