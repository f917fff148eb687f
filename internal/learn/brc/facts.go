// SPDX-License-Identifier: Apache-2.0

package brc

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/learn"
)

// Facts describes the plan in words and numbers, from public choices alone.
func (pl *Plan) Facts() []learn.Fact {
	alg := 2
	if pl.public == nil {
		alg = 3
	}
	var f learn.Facts
	f.Add("algorithm", alg, "Algorithm %d of the paper: %s", alg, pl.why)
	f.AddScope(pl.s, pl.Terms(), "")
	f.AddColumns(pl.s, pl.scope == dp.WholeRow && !pl.NotPrivate)
	sides := plaintext.Count(pl.private.Width(), "feature")
	if pl.public != nil {
		sides = fmt.Sprintf("%d private and %s", pl.private.Width(), plaintext.Count(pl.public.Width(), "public feature"))
	}
	f.Add("rounds", pl.Rounds, "%s, weights in [1/%s, %s], %s encoding, %s", plaintext.Count(pl.Rounds, "round"),
		learn.Digits(pl.C1, 4), learn.Digits(pl.C2, 4), pl.Encoding, sides)
	if pl.Subroutine == Stump {
		n := len(pl.newSubroutine().listAll(nil))
		f = append(f, learn.Fact{Key: "stumps", Value: n,
			Text: fmt.Sprintf("private classifiers are stumps, picked among %d for half of a round's ε", n)})
	}
	switch pl.Subroutine {
	case Bayes:
		f = append(f, learn.Fact{Key: "subroutine", Value: string(Bayes),
			Text: "private classifiers are naive Bayes classifiers drawn from a prior, which have seen no row and are free"})
	case Shape:
		f = append(f, learn.Fact{Key: "subroutine", Value: string(Shape),
			Text: "private classifiers are random step functions of one column each, which have seen no row and are free"})
	}
	if pl.NotPrivate {
		return append(f, learn.Fact{Key: "epsilon", Value: "inf", Text: "ε is infinite"})
	}
	f = append(f, learn.Fact{Key: "epsilon", Value: pl.Epsilon.Float(),
		Text: fmt.Sprintf("price ε = %s in %s", pl.Epsilon, plaintext.Count(len(pl.bill), "release"))})
	rounds := pl.Epsilon
	if pl.labels != nil {
		rounds -= pl.labels.Epsilon
		f = append(f, learn.Fact{Key: "epsilon_public", Value: pl.labels.Epsilon.Float(),
			Text: fmt.Sprintf("ε of the public classifier %s, of all rounds %s", pl.labels.Epsilon, rounds)})
	}
	each := (rounds + dp.Epsilon(pl.Rounds) - 1) / dp.Epsilon(pl.Rounds) // of the most expensive
	f = append(f, learn.Fact{Key: "epsilon_per_round", Value: each.Float(), Text: fmt.Sprintf("ε per round %s", each)})
	if pl.s.Relation == dp.AddRemove {
		return append(f, learn.Fact{Key: "noise_scale_max", Value: pl.C2 / pl.shares[0].err.Float(),
			Text: fmt.Sprintf("noise scale at most %s rows on each of two weighted counts per round",
				learn.Digits(pl.C2/pl.shares[0].err.Float(), 4))})
	}
	if pl.rows == 0 {
		return append(f, learn.Fact{Key: "noise_scale", Value: nil,
			Text: "noise scales need the number of rows", Next: dp.Step{Kind: dp.GiveParam, Name: "rows"}})
	}
	n, e := pl.countedRows(float64(pl.rows)), pl.shares[0].err.Float()
	even := n == 0 && pl.scope == dp.PrivateFeatures // the noise if both classes were equally frequent
	if even {
		n = float64(pl.rows)
	}
	if n == 0 {
		return append(f, learn.Fact{Key: "noise_scale", Value: nil,
			Text: "noise scales of weighed classes need the share of the positive class",
			Next: dp.Step{Kind: dp.GiveParam, Name: "positives"}})
	}
	c := pl.C1 * pl.C2
	paper := c / n / e
	f = append(f, learn.Fact{Key: "noise_scale_paper", Value: paper,
		Text: fmt.Sprintf("noise scale of a round, paper, c1·c2/n over the ε of a round: %s", learn.Digits(paper, 4))})
	scale := paper
	if pl.Sensitivity == Tight {
		scale = c / (n - 1 + c) / e
		f = append(f, learn.Fact{Key: "noise_scale_first", Value: 1 / n / e,
			Text: fmt.Sprintf("noise scale of the first round, tight, 1/n over the ε of a round: %s", learn.Digits(1/n/e, 4))})
	}
	f = append(f, learn.Fact{Key: "noise_scale", Value: scale,
		Text: fmt.Sprintf("noise scale of a round, %s, at most: %s", pl.Sensitivity, learn.Digits(scale, 4))})
	// Section 4: T, c1, c2 should keep c1·c2·T/(εn) at a small constant, say 1/2,
	// for the ε that errors are released with.
	holds := paper <= 0.5*(1+1e-9) // a half that was rounded is a half
	weights, state := pl.describeBalance()
	next := dp.Step{}
	verdict := "the noise is small against the errors"
	switch {
	case !holds:
		verdict = fmt.Sprintf("FAILS: expect an erratic model; about ε ≥ %s, n ≥ %.0f or T ≤ %.0f would satisfy it",
			learn.Digits(2*paper*pl.Epsilon.Float(), 3), 2*paper*float64(pl.rows), max(1, float64(pl.Rounds)/(2*paper)))
	case even:
		verdict += " if both classes are equally frequent, and 1/(2p) times as large if one has the share p"
		next = dp.Step{Kind: dp.GiveParam, Name: "positives"}
	case state == known:
		verdict = "holds: " + verdict
	case state == uneven:
		holds = false
		verdict = "FAILS for these classes: " + verdict + ", but the model will mostly answer the frequent class"
	default:
		verdict += " if the classes are balanced; if one is rare, see the next line"
	}
	return append(f, learn.Fact{Key: "rule_of_thumb", Value: paper,
		Text: fmt.Sprintf("rule of thumb c1·c2·T/(ε·n) ≤ 1/2: %s, %s", learn.Digits(paper, 3), verdict), Next: next},
		learn.Fact{Key: "rule_of_thumb_holds", Value: holds}, weights)
}
