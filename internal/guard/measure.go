// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard/internal/inside"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
)

// Sum is a sealed vector of sums over rows, which does not change. Only its length is visible.
type Sum struct {
	of     *core
	values inside.Sealed[[]mech.Ratio]
	moves  Moves
	public bool // it depends on no protected cell
	cells  int  // number of concatenated vectors, in each of which a row adds to one cell; 0 for other forms
	most   int  // rows that a unit counts for in them
	// forms and reversed describe the request to sites, if rows are there: values are then zeros.
	forms    []Form
	reversed bool
}

// sum seals values that move by m.
func (g *core) sum(values []mech.Ratio, m Moves, public bool) *Sum {
	return &Sum{of: g, values: inside.Seal(values), moves: m, public: public}
}

// Len is the number of its values.
func (s *Sum) Len() int { return len(s.values()) }

// Reversed returns the same sum with its values in the opposite order.
func (s *Sum) Reversed() *Sum {
	out, values := *s, slices.Clone(s.values())
	slices.Reverse(values)
	out.values, out.reversed = inside.Seal(values), !s.reversed
	return &out
}

// Noisy is a measured Sum.
type Noisy struct {
	Values   []float64
	Variance float64 // of the noise on each value, except for Gamma noise
	Gaussian bool    // otherwise the noise is Laplace noise
}

// Measure returns s with noise, for a share of the price. label is its name on the bill. It refuses a
// share that exceeds the purse, before any noise is drawn.
func (g *Guard) Measure(label string, share Share, s *Sum) (Noisy, error) {
	if s.of != g.core {
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
	out := Noisy{Variance: share.Variance(s.moves), Gaussian: share.Rho > 0}
	if err := g.spend(label, m.Name(), share, func(exit *mech.Exit) {
		out.Values = exit.Release(label, m, s.values()...) // 3.1: rows meet noise
	}); err != nil {
		return Noisy{}, err
	}
	return out, nil
}

// size returns the mechanism for the given number of values with sensitivity m.
func (s Share) size(m Moves, values int) (mech.Mechanism, error) {
	switch {
	case s.Rho > 0:
		return mech.GaussianFor(s.Rho, m.L2, values)
	case s.Gamma:
		return mech.GammaFor(s.Epsilon, m.L2, values)
	}
	return mech.LaplaceFor(s.Epsilon, m.L1, values)
}

// Check refuses a share that cannot measure the given number of values with sensitivity m.
func (s Share) Check(m Moves, values int) error {
	_, err := s.size(m, values)
	return err
}

// Exact returns the values of s if they depend on no protected cell, or without privacy.
func (g *Guard) Exact(s *Sum) ([]float64, error) {
	if s.of != g.core || g.private && !s.public {
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
	of      *core
	mu      sync.Mutex // guards values and offsets
	values  inside.Sealed[[]mech.Ratio]
	offsets []int64 // public, by candidate, within ±farthest; nil: none
	spread  float64 // sensitivity of the difference of two scores
}

// scores seals scores of which a neighbour moves the difference of two by spread.
func (g *core) scores(values []mech.Ratio, spread float64) *Scores {
	return &Scores{of: g, values: inside.Seal(values), spread: spread}
}

// Len is the number of candidates.
func (s *Scores) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.values())
}

// Spread returns the sensitivity of the difference of two of the scores.
func (s *Scores) Spread() float64 { return s.spread }

// farthest bounds public scores, so that they cannot overflow when the rows' scores are added.
const farthest = 1 << 40

// AddOffset adds a public number to the score of candidate i. The total added to one candidate is
// clamped to ±2^40.
func (s *Scores) AddOffset(i int, x int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.offsets == nil {
		s.offsets = make([]int64, len(s.values()))
	}
	s.offsets[i] = max(-farthest, min(farthest, s.offsets[i]+max(-farthest, min(farthest, x))))
}

// withOffsets returns the scores plus their offsets.
func (s *Scores) withOffsets() []mech.Ratio {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.Clone(s.values())
	for i, x := range s.offsets {
		out[i].Num += x * out[i].Den
	}
	return out
}

// Select returns the index of a candidate with a high score, for a share of the price.
func (g *Guard) Select(label string, share Share, s *Scores) (int, error) {
	if s.of != g.core || s.Len() == 0 {
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
	scores, chosen := s.withOffsets(), 0
	err := g.spend(label, m.Name(), share, func(exit *mech.Exit) {
		chosen = exit.Select(label, m, scores) // 3.2: rows meet noise
	})
	return chosen, err
}

// String formats a share for errors.
func (s Share) String() string {
	if s.Rho > 0 {
		return "rho = " + s.Rho.String()
	}
	return dp.Price{Epsilon: s.Epsilon}.String()
}
