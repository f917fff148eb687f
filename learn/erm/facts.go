// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"fmt"

	"github.com/discreet-dp/discreet/learn"
)

// Facts are the plan in words and numbers, from public choices alone.
func (pl *Plan) Facts() []learn.Fact {
	loss := string(pl.Loss)
	if pl.Loss == Huber {
		loss = fmt.Sprintf("Huber-hinge of half-width %.4g", pl.Width)
	}
	f := []learn.Fact{
		{Key: "method", Value: string(pl.Method), Text: fmt.Sprintf("private empirical risk minimisation, %s perturbation (%s), %s loss", pl.Method, pl.Mode, loss)},
		{Key: "protects", Value: "whole row", Text: fmt.Sprintf("protects the whole row (every feature and the label) of %s (%s), whatever roles the schema declares", pl.s.Unit, pl.s.Relation)},
		{Key: "features", Value: pl.space.Width(), Text: fmt.Sprintf("%d features and the intercept, %s encoding, rows of length at most %.4g after division by √%d", pl.space.Width(), pl.Encoding, pl.Norm, len(pl.space.Columns)+1)},
	}
	if pl.NotPrivate {
		f = append(f, learn.Fact{Key: "epsilon", Value: "inf", Text: "NOT PRIVATE: no noise is added"})
	} else {
		f = append(f, learn.Fact{Key: "epsilon", Value: pl.Epsilon.Float(), Text: fmt.Sprintf("price ε = %s in %d releases", pl.Epsilon, len(pl.bill))})
	}
	if pl.rows == 0 {
		return append(f, learn.Fact{Key: "reg", Value: nil, Text: "Λ and the noise need the number of rows: give --rows"})
	}
	p := pl.perturbation(pl.rows)
	f = append(f, learn.Fact{Key: "reg", Value: p.reg, Text: fmt.Sprintf("Λ = %.4g on the mean loss (nΛ = %.4g)", p.reg, p.summed())})
	type scaled interface{ Scale() float64 }
	if m, ok := p.term.(scaled); ok {
		f = append(f, learn.Fact{Key: "noise_length", Value: float64(p.dim) * m.Scale(),
			Text: fmt.Sprintf("noise in the gradient: length %.4g on average, against at most %d from the rows", float64(p.dim)*m.Scale(), pl.rows)})
	} else if m, ok := p.after.(scaled); ok {
		f = append(f, learn.Fact{Key: "noise_length", Value: float64(p.dim) * m.Scale(),
			Text: fmt.Sprintf("noise in the coefficients of scaled rows: length about %.4g", float64(p.dim)*m.Scale())})
	}
	return f
}
