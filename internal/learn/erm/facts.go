// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/learn"
)

// tellingReach is the smallest range of scores, in nats, for which probabilities differ noticeably.
const tellingReach = 0.5

// describeMethod describes what is minimised, and where noise is added if it is.
func (pl *Plan) describeMethod(loss string) string {
	if pl.NotPrivate {
		return fmt.Sprintf("empirical risk minimisation, %s loss", loss)
	}
	return fmt.Sprintf("private empirical risk minimisation, %s perturbation (%s), %s loss", pl.Method, pl.Mode, loss)
}

// Facts describes the plan in words and numbers, from public choices alone.
func (pl *Plan) Facts() []learn.Fact {
	loss := string(pl.Loss)
	if pl.Loss == Huber {
		loss = fmt.Sprintf("Huber-hinge of half-width %.4g", pl.Width)
	}
	var f learn.Facts
	f.Add("method", string(pl.Method), "%s", pl.describeMethod(loss))
	f.AddScope(pl.s, pl.Terms(), ", whatever roles the schema declares")
	f.Add("features", pl.space.Width(), "%s and the intercept, %s encoding, rows of length at most %s after "+
		"division by √%d", plaintext.Count(pl.space.Width(), "feature"), pl.Encoding, learn.Digits(pl.Norm, 4), len(pl.space.Columns)+1)
	if pl.Loss == Huber {
		f = append(f, learn.Fact{Key: "scores", Value: "margins",
			Text: "scores rank rows and are no probabilities: the Huber-hinge does not estimate any"})
	}
	whole := pl
	if pl.parts != nil {
		f = append(f, learn.Fact{Key: "fits", Value: len(pl.parts),
			Text: fmt.Sprintf("%d fits, each level of the label against the rest", len(pl.parts))})
		pl = pl.parts[len(pl.parts)-1] // it has the smallest part of ε, and most noise
	}
	if w := pl.s.Label.RowWeights(); w != nil {
		f = append(f, learn.Fact{Key: "weights", Value: w,
			Text: fmt.Sprintf("rows count by their level, at most once: %.4g", w)})
	}
	if pl.NotPrivate {
		f = append(f, learn.Fact{Key: "epsilon", Value: "inf"})
	} else {
		f = append(f, learn.Fact{Key: "epsilon", Value: whole.Epsilon.Float(),
			Text: fmt.Sprintf("price ε = %s in %s", whole.Epsilon, plaintext.Count(len(whole.bill), "release"))})
	}
	if whole != pl && !pl.NotPrivate {
		f = append(f, learn.Fact{Key: "epsilon_each", Value: pl.Epsilon.Float(),
			Text: fmt.Sprintf("each fit has ε = %s of it and noise of its own; what follows is of one fit", pl.Epsilon)})
	}
	if pl.rows == 0 {
		return append(f, learn.Fact{Key: "reg", Value: nil, Text: "Λ and the noise need the number of rows",
			Next: dp.Step{Kind: dp.GiveParam, Name: "rows"}})
	}
	if pl.ask > 0 {
		f = append(f, learn.Fact{Key: "threshold", Value: pl.ask.Float(),
			Text: fmt.Sprintf("ε = %s of it chooses the intercept again, by how many rows are answered rightly; scores then "+
				"rank rows and are no calibrated probabilities", pl.ask)})
	}
	p := pl.sizeNoise(pl.rows)
	f = append(f, learn.Fact{Key: "reg", Value: p.Reg(),
		Text: fmt.Sprintf("Λ = %s on the mean loss (nΛ = %s)", learn.Digits(p.Reg(), 4), learn.Digits(p.SummedPenalty(), 4))})
	if reach := 1 / p.Reg(); !pl.NotPrivate && reach < tellingReach { // no row's slope or length is above 1
		f = append(f, learn.Fact{Key: "reach", Value: reach,
			Text: fmt.Sprintf("TOO FEW: under so large a ridge no row moves a score by more than %s nats, so all "+
				"probabilities are about one half; use a larger epsilon, more rows or fewer columns", learn.Digits(reach, 2))})
	}
	if length := p.TermLength(); length > 0 {
		f = append(f, learn.Fact{Key: "noise_length", Value: length,
			Text: fmt.Sprintf("noise in the gradient: length about %s, compared with at most %d from the rows", learn.Digits(length, 4), pl.rows)})
	} else if length := p.OutputLength(); length > 0 {
		f = append(f, learn.Fact{Key: "noise_length", Value: length,
			Text: fmt.Sprintf("noise in the coefficients of scaled rows: length about %s", learn.Digits(length, 4))})
	}
	return f
}
