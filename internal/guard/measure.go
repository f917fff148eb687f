// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/guard/internal/inside"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
)

// Sum is a sealed vector of sums over rows. It shows nothing but its length.
type Sum struct {
	of     *Guard
	values inside.Sealed[[]mech.Ratio]
	moves  Moves
	public bool // no protected cell has a part in it
	cells  int  // so many vectors side by side, to one cell of each of which a row adds; 0 for another form
	// forms and reversed are what is asked of sites, if rows lie there: values are then zeros.
	forms    []Form
	reversed bool
}

// sum seals values that move by m.
func (g *Guard) sum(values []mech.Ratio, m Moves, public bool) *Sum {
	return &Sum{of: g, values: inside.Seal(values), moves: m, public: public}
}

// Len is the number of its values.
func (s *Sum) Len() int { return len(s.values()) }

// Reverse turns the order of the values round.
func (s *Sum) Reverse() {
	slices.Reverse(s.values())
	s.reversed = !s.reversed
}

// Noisy is a measured Sum.
type Noisy struct {
	Values   []float64
	Variance float64 // of the noise on each value, unless that is Gamma noise
	Gaussian bool    // else the noise is Laplace
}

// Measure returns s with noise, for a share of the price. label names it on the bill. It refuses a
// share that the purse does not hold, before any noise is drawn.
func (g *Guard) Measure(label string, share Share, s *Sum) (Noisy, error) {
	if s.of != g {
		return Noisy{}, fmt.Errorf("guard: %s must be measured by the guard that summed it", label)
	}
	if g.remote != nil {
		return g.measureAcross(label, share, s)
	}
	m := mech.Mechanism(mech.NoNoise{})
	if g.private {
		var err error
		if m, err = share.size(s.moves, len(s.values())); err != nil {
			return Noisy{}, err
		}
	}
	if err := g.purse.take(label, m.Name(), share); err != nil {
		return Noisy{}, err
	}
	out := g.exit().Release(label, m, s.values()...) // 3.1: rows meet noise
	return Noisy{out, share.Variance(s.moves), share.Rho > 0}, nil
}

// size is the mechanism for so many values that move by m.
func (s Share) size(m Moves, values int) (mech.Mechanism, error) {
	switch {
	case s.Rho > 0:
		return mech.GaussianFor(s.Rho, m.L2, values)
	case s.Gamma:
		return mech.GammaFor(s.Epsilon, m.L2, values)
	}
	return mech.LaplaceFor(s.Epsilon, m.L1, values)
}

// Check refuses a share that cannot measure so many values that move by m.
func (s Share) Check(m Moves, values int) error {
	_, err := s.size(m, values)
	return err
}

// Exact returns the values of s if no protected cell has a part in them, or without privacy.
func (g *Guard) Exact(s *Sum) ([]float64, error) {
	if s.of != g || g.private && !s.public {
		return nil, fmt.Errorf("guard: a sum over protected cells must be measured")
	}
	out := make([]float64, len(s.values()))
	for i, v := range s.values() {
		out[i] = v.Float()
	}
	return out, nil
}

// Scores are sealed scores of candidates.
type Scores struct {
	of      *Guard
	values  inside.Sealed[[]mech.Ratio]
	offsets []int64 // public, by candidate, within ±farthest; nil: none
	spread  float64 // how far a neighbour moves the difference of two scores
}

// scores seals scores of which a neighbour moves the difference of two by spread.
func (g *Guard) scores(values []mech.Ratio, spread float64) *Scores {
	return &Scores{of: g, values: inside.Seal(values), spread: spread}
}

// Len is the number of candidates.
func (s *Scores) Len() int { return len(s.values()) }

// Spread is how far a neighbour moves the difference of two of the scores.
func (s *Scores) Spread() float64 { return s.spread }

// farthest bounds public scores, so that none overflows with what rows add to it.
const farthest = 1 << 40

// AddOffset adds a public number to the score of candidate i. All that is added to one candidate is
// cut to ±2^40.
func (s *Scores) AddOffset(i int, x int64) {
	if s.offsets == nil {
		s.offsets = make([]int64, len(s.values()))
	}
	s.offsets[i] = max(-farthest, min(farthest, s.offsets[i]+max(-farthest, min(farthest, x))))
}

// Prepend puts a candidate first whose score, cut to ±2^40, no row has a part in.
func (s *Scores) Prepend(score float64) {
	den := s.values()[0].Den
	if !(score >= -farthest) {
		score = -farthest
	}
	first := mech.Ratio{Num: int64(min(score, farthest) * float64(den)), Den: den}
	s.values = inside.Seal(append([]mech.Ratio{first}, s.values()...))
	if s.offsets != nil {
		s.offsets = append([]int64{0}, s.offsets...)
	}
}

// withOffsets is the scores with what was added to them.
func (s *Scores) withOffsets() []mech.Ratio {
	out := slices.Clone(s.values())
	for i, x := range s.offsets {
		out[i].Num += x * out[i].Den
	}
	return out
}

// Select returns the index of a candidate with a high score, for a share of the price.
func (g *Guard) Select(label string, share Share, s *Scores) (int, error) {
	if s.of != g || len(s.values()) == 0 {
		return 0, fmt.Errorf("guard: %s must be selected by the guard that scored at least one candidate", label)
	}
	if err := g.refuseRemote("a selection"); err != nil {
		return 0, err
	}
	m := mech.Selector(mech.NoNoise{})
	if g.private {
		sized, err := mech.PermuteAndFlipFor(share.Epsilon, s.spread)
		if err != nil {
			return 0, err
		}
		m = sized
	}
	if err := g.purse.take(label, m.Name(), share); err != nil {
		return 0, err
	}
	return g.exit().Select(label, m, s.withOffsets()), nil // 3.2: rows meet noise
}

// Price is a share's text in errors.
func (s Share) String() string {
	if s.Rho > 0 {
		return "rho = " + s.Rho.String()
	}
	return dp.Price{Epsilon: s.Epsilon}.String()
}
