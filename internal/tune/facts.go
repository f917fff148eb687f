// SPDX-License-Identifier: Apache-2.0

package tune

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/learn"
)

// Facts describes the plan in words and numbers, from public choices alone.
func (pl *Plan) Facts() []learn.Fact {
	share := pl.runs[len(pl.runs)-1].share // the smallest
	f := []learn.Fact{
		{Key: "protects", Value: string(pl.scope),
			Text: fmt.Sprintf("protects %s of %s (%s)", pl.scope.Words(), pl.s.Unit, pl.s.Relation)},
		{Key: "epsilon", Value: pl.Epsilon.Float(),
			Text: fmt.Sprintf("price ε = %s for the chosen model and the choice", pl.Epsilon)},
		{Key: "candidates", Value: len(pl.Candidates)},
		{Key: "method", Value: string(pl.Method)},
		{Key: "loss", Value: string(pl.Loss)},
		{Key: "epsilon_per_training", Value: share.Float()},
		{Key: "held_out", Value: pl.HeldOut,
			Text: fmt.Sprintf("%s of the rows compare the candidates, drawn at random; the others train them",
				learn.Digits(pl.HeldOut, 4))},
	}
	if pl.Method == All {
		return append(f, learn.Fact{Key: "trainings", Value: len(pl.Candidates),
			Text: fmt.Sprintf("each of %d candidates is trained once, for ε = %s; one is selected on other rows, for ε = "+
				"%s, which does not add up with it", len(pl.Candidates), learn.Digits(share.Float(), 4), pl.Epsilon)})
	}
	mean := pl.law.meanRuns(pl.Patience)
	return append(f, learn.Fact{Key: "trainings_mean", Value: mean,
		Text: fmt.Sprintf("about %s trainings, a random number (%s), each of one of %d candidates drawn at "+
			"random, for ε = %s; the best is released", learn.Digits(mean, 3), pl.Method, len(pl.Candidates),
			learn.Digits(share.Float(), 4))})
}
