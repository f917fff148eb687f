// SPDX-License-Identifier: Apache-2.0

package auto

import (
	"encoding/json"
	"fmt"

	"github.com/discreet-dp/discreet/internal/learn"
)

// Facts returns those of additive, the chosen learner, and the reason.
func (pl *additivePlan) Facts() []learn.Fact {
	return append(pl.Plan.Facts(), learn.Fact{Key: "interactions", Value: "not asked",
		Text: "additive: interactions of columns are not tested, because " + pl.why})
}

// Facts returns those of grids, the chosen learner, and the reason.
func (pl *gridsPlan) Facts() []learn.Fact {
	if pl.NotPrivate {
		return append(pl.Plan.Facts(), learn.Fact{Key: "interactions", Value: "taken for granted",
			Text: "grids: interactions of columns are assumed, because nothing is private"})
	}
	return append(pl.Plan.Facts(), learn.Fact{Key: "interactions", Value: "taken for granted",
		Text: "grids: interactions of columns are assumed, because the label has more than two classes, " +
			"rows are added or removed, a δ is given, numbers are at least half of the columns and rows times ε are at " +
			fmt.Sprintf("least %d", gridSignal)})
}

// Facts describes the plan in words and numbers, from public choices alone.
func (pl *Plan) Facts() []learn.Fact {
	f := []learn.Fact{
		{Key: "protects", Value: string(pl.scope), Text: fmt.Sprintf("protects %s of %s (%s)", pl.scope.Words(), pl.s.Unit,
			pl.s.Neighbours())},
		{Key: "rows", Value: pl.rows, Text: fmt.Sprintf("assumes %d rows", pl.rows)},
		{Key: "interactions", Value: "asked", Text: fmt.Sprintf("tests whether columns interact, among %d "+
			"products of two or three%s; then trains grids if they do, else additive", pl.products, pl.sharesInWords())},
	}
	f = append(f, learn.Fact{Key: "epsilon", Value: pl.Epsilon.Float(), Text: fmt.Sprintf("price ε = %s in total", pl.Epsilon)})
	if pl.Delta > 0 {
		f = append(f, learn.Fact{Key: "delta", Value: json.Number(pl.Delta.String()),
			Text: fmt.Sprintf("and δ = %s, of the fit that is chosen alone", pl.Delta)})
	}
	f = append(f, within("additive", pl.additive)...)
	return append(f, within("grids", pl.grids)...)
}

// sharesInWords describes the cost of the choice, if there is one.
func (pl *Plan) sharesInWords() string {
	return fmt.Sprintf(": %.0f %% of ε for a first fit of additive, %.0f %% for the choice", 100*firstShare,
		100*choiceShare)
}

// within returns the facts of one of two possible fits: texts only, without those that the whole plan
// already has.
func within(name string, pl learn.Plan) (out []learn.Fact) {
	for _, f := range pl.Facts() {
		if f.Key == "protects" || f.Key == "rows" {
			continue
		}
		out = append(out, learn.Fact{Key: name + "_" + f.Key, Value: f.Value, Text: name + ": " + f.Text})
	}
	return out
}
