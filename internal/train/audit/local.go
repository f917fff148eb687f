// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// The mechanisms that owners report by. Each pair has an event that is exactly
// e^ε times as likely on one side: the maximum is ε, up to the rounding of
// probabilities to quotients of integers.

// piecewisePair reports on 1 against -1, whose windows have no cell in common.
func piecewisePair(eps dp.Epsilon, _ float64) (Pair, error) {
	law, err := response.PiecewiseFor(eps, 1)
	return vectorPair(law, "1 against -1", [2][]float64{{1}, {-1}}), err
}

// piecewiseOfTwo reports two coordinates at ε/2 each.
func piecewiseOfTwo(eps dp.Epsilon, _ float64) (Pair, error) {
	law, err := response.PiecewiseTelling(eps, 2, 2)
	return vectorPair(law, "(1, 1) against (-1, -1)", [2][]float64{{1, 1}, {-1, -1}}), err
}

func hybridPair(eps dp.Epsilon, _ float64) (Pair, error) {
	law, err := response.HybridFor(eps, 1)
	return vectorPair(law, "1 against -1", [2][]float64{{1}, {-1}}), err
}

// duchiPair changes one of two signs. In even dimensions there are ties, which the published mechanism
// draws too often.
func duchiPair(eps dp.Epsilon, _ float64) (Pair, error) {
	law, err := response.DuchiFor(eps, 2)
	return vectorPair(law, "(1, 1) against (-1, 1)", [2][]float64{{1, 1}, {-1, 1}}), err
}

// vectorPair is the pair of a law for vectors; its outputs are a report's values for each coordinate.
func vectorPair(law response.VectorLaw, name string, truths [2][]float64) Pair {
	width := len(truths[0])
	p := Pair{Name: name, Maximum: law.Loss().Float()}
	for j := range width {
		p.Outputs = append(p.Outputs, fmt.Sprintf("coordinate %d", j+1))
	}
	p.Draw = Each(width, func(_ context.Context, side int, src rng.Source, out []float64) error {
		r, err := mech.NewExit(src).Perturb("audit", law, truths[side])
		if err != nil {
			return err
		}
		copy(out, response.Decode(law, r))
		return nil
	})
	return p
}

func ouePair(eps dp.Epsilon, _ float64) (Pair, error) {
	law, err := response.OUEFor(eps, 20)
	return reportedCell(law), err
}

func grrPair(eps dp.Epsilon, _ float64) (Pair, error) {
	law, err := response.GRRFor(eps, 4)
	return reportedCell(law), err
}

// reportedCell is the pair of a law for cells; its outputs are a report's values for the two cells
// that differ.
func reportedCell(law response.CellLaw) Pair {
	return Pair{
		Name: "the first cell against the second", Outputs: []string{"first cell", "second cell"},
		Maximum: law.Loss().Float(),
		Draw: Each(2, func(_ context.Context, side int, src rng.Source, out []float64) error {
			r, err := mech.NewExit(src).PerturbCell("audit", law, side, 1)
			if err != nil {
				return err
			}
			copy(out, response.Decode(law, r))
			return nil
		}),
	}
}
