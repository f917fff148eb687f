// SPDX-License-Identifier: Apache-2.0

package auto

import (
	"encoding/json"

	"github.com/discreet-dp/discreet/internal/learn"
)

// Facts returns those of the learner, and why it was chosen.
func (pl *given) Facts() []learn.Fact { return append(pl.Plan.Facts(), pl.why) }

// Facts describes the plan in words and numbers, from public choices alone.
func (pl *Plan) Facts() []learn.Fact {
	var f learn.Facts
	f.AddScope(pl.s, pl.scope)
	f.AddRows(pl.s, pl.rows, false)
	f.Add("interactions", "asked", "tests whether columns interact, among %d products of two or three: %.0f %% of ε for a "+
		"first fit of additive, %.0f %% for the choice; then trains grids if they do, else additive", pl.products,
		100*firstShare, 100*choiceShare)
	f.Add("epsilon", pl.Epsilon.Float(), "price ε = %s in total", pl.Epsilon)
	if pl.Delta > 0 {
		f.Add("delta", json.Number(pl.Delta.String()), "and δ = %s, of the fit that is chosen alone", pl.Delta)
	}
	f = append(f, within("additive", pl.additive)...)
	return append(f, within("grids", pl.grids)...)
}

// within returns the facts of one of two possible fits, without those that the whole plan has.
func within(name string, pl learn.Plan) (out []learn.Fact) {
	for _, f := range pl.Facts() {
		if f.Key != "protects" && f.Key != "rows" {
			out = append(out, learn.Fact{Key: name + "_" + f.Key, Value: f.Value, Text: name + ": " + f.Text})
		}
	}
	return out
}
