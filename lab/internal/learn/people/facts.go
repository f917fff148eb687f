// SPDX-License-Identifier: Apache-2.0

package people

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
)

// Facts are the plan in words and numbers, from public choices alone.
func (pl *Plan) Facts() []learn.Fact {
	base := "stumps"
	if pl.Base == Random {
		base = fmt.Sprintf("%d random classifiers", pl.Candidates)
	}
	f := []learn.Fact{
		{Key: "protects", Value: string(pl.scope), Text: fmt.Sprintf("protects %s of %s (%s)", pl.scope.Words(), pl.s.Unit,
			pl.s.Neighbours())},
		{Key: "rounds", Value: pl.Rounds, Text: fmt.Sprintf("%d rounds, each chooses among %s, %s encoding", pl.Rounds, base,
			pl.Encoding)},
		{Key: "kappa", Value: pl.Kappa, Text: fmt.Sprintf("no row holds more than 1/(%.4g·n) of the weight", pl.Kappa)},
	}
	if pl.NotPrivate {
		f[0] = learn.Fact{Key: "protects", Value: string(dp.Nothing),
			Text: "NOT PRIVATE: no noise is added, nothing is protected"}
		return append(f, learn.Fact{Key: "epsilon", Value: "inf", Text: "ε is infinite"})
	}
	f = append(f, learn.Fact{Key: "epsilon", Value: pl.Epsilon.Float(),
		Text: fmt.Sprintf("price ε = %s in %d releases", pl.Epsilon, len(pl.bill))})
	if pl.rows == 0 {
		return append(f, learn.Fact{Key: "noise_scale", Value: nil,
			Text: "noise scales need the number of rows: give --rows"})
	}
	moves, sh := sensitivity(density(pl.rows, pl.Kappa)), pl.share[0]
	pick, err := 2*moves/sh.pick.Float(), moves/sh.err.Float()
	return append(f,
		learn.Fact{Key: "sensitivity", Value: moves,
			Text: fmt.Sprintf("one row moves a weighted error by at most %.4g, the cap", moves)},
		learn.Fact{Key: "noise_scale_pick", Value: pick,
			Text: fmt.Sprintf("edges nearer than about %.4g are not told apart when choosing", pick)},
		learn.Fact{Key: "noise_scale", Value: err, Text: fmt.Sprintf("noise scale of a weighted error %.4g", err)})
}

// modelColumns are those of the space, in the schema's order.
func (pl *Plan) modelColumns() []int {
	cols := slices.Clone(pl.space.Columns)
	slices.Sort(cols)
	return cols
}

func (pl *Plan) claimName() string {
	if pl.scope == dp.PrivateFeatures {
		return "people: G-PEOPLE-1"
	}
	return "people: G-PEOPLE-2"
}
