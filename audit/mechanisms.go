// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/rng"
)

// mechanisms are the rows of the table: what can be audited by name.
var mechanisms = []struct {
	name string
	pair func(eps dp.Epsilon) (Pair, error)
}{
	{"laplace", laplace},
	{"exponential", exponential},
	{"permute-and-flip", permuteAndFlip},
}

// Mechanisms lists the mechanisms that Mechanism knows.
func Mechanisms() (names []string) {
	for _, m := range mechanisms {
		names = append(names, m.name)
	}
	return names
}

// Mechanism is a mechanism of package mech, sized for ε, on its worst pair.
func Mechanism(name string, eps dp.Epsilon) (Subject, error) {
	for _, m := range mechanisms {
		if m.name == name {
			p, err := m.pair(eps)
			return Subject{Name: "mechanism " + name, Pairs: []Pair{p}}, err
		}
	}
	return Subject{}, &dp.ParamError{Op: "audit", Param: "mechanism", Want: "must be one of " + strings.Join(Mechanisms(), ", "), Got: fmt.Sprintf("%q", name)}
}

// laplace releases 0 against 1 at sensitivity 1. Where the output lies at or
// below 0, each value is e^ε times as likely for 0.
func laplace(eps dp.Epsilon) (Pair, error) {
	m, err := mech.LaplaceFor(eps, 1, 1)
	return release(m, "0 against 1", [2][]mech.Ratio{{{Num: 0, Den: 1}}, {{Num: 1, Den: 1}}}, eps.Float()), err
}

// release is the pair of a mechanism on two vectors of values.
func release(m mech.Mechanism, name string, values [2][]mech.Ratio, maximum float64) Pair {
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

// candidates is K of the selectors' pair: one candidate ahead of K-1 equal ones
// against the same one behind, scores of sensitivity 1 and so a spread of 2.
const candidates = 10

func exponential(eps dp.Epsilon) (Pair, error) {
	m, err := mech.ExponentialFor(eps, 2)
	q := math.Exp(eps.Float() / 2) // weight of a score of 1 where 0 weighs 1
	ahead, behind := q/(q+candidates-1), 1/(1+(candidates-1)*q)
	return selection(m, math.Log(ahead/behind)), err
}

func permuteAndFlip(eps dp.Epsilon) (Pair, error) {
	m, err := mech.PermuteAndFlipFor(eps, 2)
	// The one ahead wins unless somebody visited earlier is taken, each with
	// probability q; the one behind must be visited first, and be taken.
	q := math.Exp(-eps.Float() / 2)
	ahead := (1 - math.Pow(1-q, candidates)) / q / candidates
	return selection(m, math.Log(ahead/(q/candidates))), err
}

func selection(m mech.Selector, maximum float64) Pair {
	high, low := mech.Ratio{Num: 1, Den: 1}, mech.Ratio{Num: 0, Den: 1}
	scores := [2][]mech.Ratio{append([]mech.Ratio{high}, slices.Repeat([]mech.Ratio{low}, candidates-1)...), append([]mech.Ratio{low}, slices.Repeat([]mech.Ratio{high}, candidates-1)...)}
	return Pair{
		Name: fmt.Sprintf("one of %d candidates ahead of the others, against behind them", candidates), Outputs: []string{"choice"}, Maximum: maximum,
		Draw: Each(1, func(_ context.Context, side int, src rng.Source, out []float64) error {
			out[0] = float64(mech.NewExit(src).Select("audit", m, scores[side]))
			return nil
		}),
	}
}
