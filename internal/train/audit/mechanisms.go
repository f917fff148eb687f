// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/accounting"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// mechanisms is the table of mechanisms that can be audited by name.
var mechanisms = []struct {
	name string
	pair func(eps dp.Epsilon, delta float64) (Pair, error)
}{
	{"laplace", laplacePair},
	{"gamma", gammaPair},
	{"gaussian", gaussianPair},
	{"exponential", exponentialPair},
	{"permute-and-flip", permuteAndFlip},
	{"piecewise", piecewisePair},
	{"piecewise-k2", piecewiseOfTwo},
	{"duchi", duchiPair},
	{"hybrid", hybridPair},
	{"oue", ouePair},
	{"grr", grrPair},
}

// Mechanisms lists the names that Mechanism accepts.
func Mechanisms() (names []string) {
	for _, m := range mechanisms {
		names = append(names, m.name)
	}
	return names
}

// Mechanism returns a mechanism of package mech, scaled for (ε, δ), on a worst-case pair. All except
// gaussian ignore δ.
func Mechanism(name string, eps dp.Epsilon, delta float64) (Subject, error) {
	for _, m := range mechanisms {
		if m.name == name {
			p, err := m.pair(eps, delta)
			return Subject{Name: "mechanism " + name, Pairs: []Pair{p}}, err
		}
	}
	return Subject{}, dp.Refuse("audit", "mechanism", "must be one of "+strings.Join(Mechanisms(), ", "),
		fmt.Sprintf("%q", name))
}

// laplacePair releases 0 against 1 at sensitivity 1. Each output ≤ 0 is e^ε times as likely for 0.
func laplacePair(eps dp.Epsilon, _ float64) (Pair, error) {
	m, err := mech.LaplaceFor(eps, 1, 1)
	return releasePair(m, "0 against 1", [2][]mech.Ratio{{{Num: 0, Den: 1}}, {{Num: 1, Den: 1}}}, eps.Float()), err
}

// gammaPair releases (0, 0) against (1, 0) at sensitivity 1. Far out on the side of the first, each
// value is nearly e^ε times as likely for it.
func gammaPair(eps dp.Epsilon, _ float64) (Pair, error) {
	m, err := mech.GammaFor(eps, 1, 2)
	zero, one := mech.Ratio{Num: 0, Den: 1}, mech.Ratio{Num: 1, Den: 1}
	p := releasePair(m, "(0, 0) against (1, 0)", [2][]mech.Ratio{{zero, zero}, {one, zero}}, eps.Float())
	p.Score = func(run []float64) float64 { return math.Hypot(run[0]-1, run[1]) - math.Hypot(run[0], run[1]) }
	return p, err
}

// gaussianPair releases 0 against 1 at the largest ρ that is (ε, δ)-DP. The bound from the best event
// is then ε itself, although the event may be rare.
func gaussianPair(eps dp.Epsilon, delta float64) (Pair, error) {
	if !(delta > 0) {
		return Pair{}, dp.Refuse("audit", "delta", "must be > 0 for gaussian, which keeps no epsilon alone", delta)
	}
	rho, err := accounting.GaussianRho(eps.Float(), delta)
	if err != nil {
		return Pair{}, err
	}
	m, err := mech.GaussianFor(rho, 1, 1)
	return releasePair(m, "0 against 1", [2][]mech.Ratio{{{Num: 0, Den: 1}}, {{Num: 1, Den: 1}}}, eps.Float()), err
}

// releasePair is the pair of a mechanism on two vectors of values.
func releasePair(m mech.Mechanism, name string, values [2][]mech.Ratio, maximum float64) Pair {
	width := len(values[0])
	p := Pair{Name: name, Maximum: maximum}
	for k := range width {
		p.Outputs = append(p.Outputs, fmt.Sprintf("number %d", k+1))
	}
	p.Draw = Each(width, func(_ context.Context, side int, src rng.Source, out []float64) error {
		copy(out, mech.NewExit(src).Release("audit", m, values[side]...))
		return nil
	})
	return p
}

// candidates is K in the selectors' pair. One candidate is ahead of K-1 equal ones on one side and
// behind them on the other. Scores have sensitivity 1, and so a spread of 2.
const candidates = 10

func exponentialPair(eps dp.Epsilon, _ float64) (Pair, error) {
	m, err := mech.ExponentialFor(eps, 2)
	q := math.Exp(eps.Float() / 2) // weight of a score of 1 if 0 weighs 1
	ahead, behind := q/(q+candidates-1), 1/(1+(candidates-1)*q)
	return selectionPair(m, math.Log(ahead/behind)), err
}

func permuteAndFlip(eps dp.Epsilon, _ float64) (Pair, error) {
	m, err := mech.PermuteAndFlipFor(eps, 2)
	// The one ahead wins unless someone visited earlier is taken, each with
	// probability q; the one behind must be visited first, and be taken.
	q := math.Exp(-eps.Float() / 2)
	ahead := (1 - math.Pow(1-q, candidates)) / q / candidates
	return selectionPair(m, math.Log(ahead/(q/candidates))), err
}

func selectionPair(m mech.Selector, maximum float64) Pair {
	high, low := mech.Ratio{Num: 1, Den: 1}, mech.Ratio{Num: 0, Den: 1}
	scores := [2][]mech.Ratio{append([]mech.Ratio{high}, slices.Repeat([]mech.Ratio{low}, candidates-1)...),
		append([]mech.Ratio{low}, slices.Repeat([]mech.Ratio{high}, candidates-1)...)}
	return Pair{
		Name:    fmt.Sprintf("one of %d candidates ahead of the others, against behind them", candidates),
		Outputs: []string{"choice"}, Maximum: maximum,
		Draw: Each(1, func(_ context.Context, side int, src rng.Source, out []float64) error {
			out[0] = float64(mech.NewExit(src).Select("audit", m, scores[side]))
			return nil
		}),
	}
}
