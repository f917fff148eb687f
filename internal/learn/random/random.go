// SPDX-License-Identifier: Apache-2.0

// Package random draws linear classifiers without using data.
package random

import (
	"math"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// grid is the number of steps between 0 and 1. Coefficients on a grid are exactly uniform and print
// exactly; 2^-20 is far below what affects any answer.
const grid = 1 << 20

// Threshold draws a threshold of sp: each coefficient, and the bias if intercept is set (otherwise it
// is 0), uniformly from the 2^21+1 numbers k/2^20 in [-1, 1] (Shen et al., Algorithm 2, line 5). It
// draws in the order of the features, the bias last.
func Threshold(src guard.Coins, sp *feature.Space, intercept bool) feature.Threshold {
	th := feature.Threshold{Coef: make([]float64, sp.Width())}
	for i := range th.Coef {
		th.Coef[i] = drawUniform(src)
	}
	if intercept {
		th.Bias = drawUniform(src)
	}
	return th
}

func drawUniform(src guard.Coins) float64 {
	return float64(int64(guard.Below(src, 2*grid+1))-grid) / grid
}

// steepest bounds the natural parameters of Bayes under the prior: a level may be up to e^4 times as
// likely as another.
const steepest = 2

// Bayes draws a naive Bayes classifier of two classes that are equally likely. Given a class, columns
// are independent, and the probability of a cell (for a number: the density between its bounds) is
// proportional to exp(θ·value) with a θ for each feature and class, drawn uniformly from [-steepest,
// steepest]. It draws in the order of the features, the positive class first. The log-odds of a row
// are thus a sum of one log-ratio per column, which is linear in the features; they are divided by the
// largest of coefficients and bias.
func Bayes(src guard.Coins, sp *feature.Space, s *schema.Schema) feature.Threshold {
	th := feature.Threshold{Coef: make([]float64, sp.Width())}
	for k, j := range sp.Columns {
		first, width := sp.Block(k)
		pos, neg := make([]float64, width), make([]float64, width)
		for f := range width {
			pos[f], neg[f] = steepest*drawUniform(src), steepest*drawUniform(src)
			th.Coef[first+f] = pos[f] - neg[f]
		}
		th.Bias += logTotal(sp, &s.Columns[j], k, neg) - logTotal(sp, &s.Columns[j], k, pos)
	}
	most := math.Abs(th.Bias)
	for _, c := range th.Coef {
		most = max(most, math.Abs(c))
	}
	if most > 0 {
		for f := range th.Coef {
			th.Coef[f] /= most
		}
		th.Bias /= most
	}
	return th
}

// logTotal is the logarithm of the sum of exp(θ·value) over all cells of a column.
func logTotal(sp *feature.Space, c *schema.Column, k int, theta []float64) float64 {
	if c.Kind == schema.Number {
		if theta[0] == 0 {
			return math.Ln2
		}
		return math.Log(2 * math.Sinh(theta[0]) / theta[0])
	}
	sum := 0.0
	first, _ := sp.Block(k)
	for code := range c.Codes() {
		f, value := sp.Code(k, code)
		sum += math.Exp(theta[f-first] * value)
	}
	return math.Log(sum)
}
