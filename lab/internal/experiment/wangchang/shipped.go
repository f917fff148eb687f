// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/lab/internal/experiment/wangchang/continuous"
)

// shipped is a law of reports that discreet ships, on its public grid, in place
// of a printed mechanism. Only its source of randomness is a seeded one.
type shipped struct{ law response.VectorLaw }

func (s shipped) Sum(rows continuous.Rows, from, to int, src rng.Source) []float64 {
	exit, tally, row := mech.NewExit(src), response.NewTally(s.law), make([]float64, s.law.Dim())
	for i := from; i < to; i++ {
		rows.Row(i, row)
		report, err := exit.Perturb("row", s.law, row)
		if err != nil { // the row has the law's dimension
			panic("wangchang: " + err.Error())
		}
		s.law.Add(&tally, report)
	}
	return s.law.Sum(tally)
}

func (s shipped) Variance(t float64) float64 { return s.law.Variance(t) }

// shippedMechanism is a mechanism that ships, by its name.
func shippedMechanism(name string) func(d int, eps float64) continuous.Mechanism {
	return func(d int, eps float64) continuous.Mechanism {
		e, err := dp.EpsilonOf(eps)
		if err == nil {
			var law response.VectorLaw
			if law, err = response.VectorLawFor(name, e, d); err == nil {
				return shipped{law}
			}
		}
		panic("wangchang: " + err.Error()) // every ε and d of a figure is a constant that laws accept
	}
}
