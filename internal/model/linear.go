// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Linear is one linear function of the features per label level, K in all:
// z_k = Coef[k]·features + Bias[k]. Link makes probabilities of them.
type Linear struct {
	Space int
	Link  Link        // Softmax or OneVersusRest
	Coef  [][]float64 // K rows, one number per feature
	Bias  []float64   // K
	Norm  float64     // as Logistic's
}

func (l *Linear) check(levels int, widths []int, used []bool) error {
	if err := l.Link.check("linear", Softmax, OneVersusRest); err != nil {
		return err
	}
	if err := checkNorm("linear", l.Norm); err != nil {
		return err
	}
	return checkLevels("linear", levels, l.Space, l.Coef, l.Bias, widths, used)
}

func checkNorm(who string, norm float64) error {
	if !(norm >= 0 && norm <= math.MaxFloat64) {
		return fmt.Errorf("model: %s: norm must be finite and at least 0 (got %g)", who, norm)
	}
	return nil
}

// checkLevels wants one finite linear function per level.
func checkLevels(who string, levels, space int, coef [][]float64, bias []float64, widths []int, used []bool) error {
	if len(coef) != levels || len(bias) != levels {
		return fmt.Errorf("model: %s: coefficients and biases must be given for each of %d levels (got %d and %d)", who, levels, len(coef), len(bias))
	}
	for k := range coef {
		if err := checkCoef(who, space, coef[k], widths, used); err != nil {
			return err
		}
		sum := math.Abs(bias[k])
		for _, c := range coef[k] {
			sum += math.Abs(c)
		}
		if !(sum <= math.MaxFloat64) {
			return fmt.Errorf("model: %s: level %d: coefficients and bias must be finite, and so must the sum of their sizes", who, k)
		}
	}
	return nil
}

// linear returns a function that adds up the functions of the rows from,
// from+1, ..., K numbers per row.
func (p *Predictor) linear(cols []column.Column) func(from int, sums []float64) {
	l := p.m.Linear
	sp := p.spaces[l.Space]
	add, levels := linears(sp, cols, l.Coef, l.Bias), len(l.Bias)
	if l.Norm == 0 {
		return add
	}
	shorten := shortener(sp, cols, l.Norm)
	return func(from int, sums []float64) {
		add(from, sums)
		factor := make([]float64, len(sums)/levels)
		shorten(from, factor)
		for i, t := range factor {
			row := sums[i*levels:][:levels]
			for level := range row {
				row[level] *= t
			}
		}
	}
}

// shortener returns a function that writes, for the rows from, from+1, ..., what
// a row (features, 1) is multiplied with to be at most norm long.
func shortener(sp *feature.Space, cols []column.Column, norm float64) func(from int, factor []float64) {
	squares := make([][]float64, len(sp.Columns)) // by column of the space, then code
	for k, j := range sp.Columns {
		for code := range sp.Codes(k, &cols[j]) {
			_, v := sp.Cell(k, &cols[j], code)
			squares[k] = append(squares[k], float64(v*v))
		}
	}
	return func(from int, factor []float64) {
		codes := make([]uint32, len(factor))
		for i := range factor {
			factor[i] = 1
		}
		for k, j := range sp.Columns {
			cols[j].Codes.Read(from, codes)
			for i, c := range codes {
				factor[i] += squares[k][c]
			}
		}
		for i, square := range factor {
			factor[i] = min(1, norm/math.Sqrt(square))
		}
	}
}

// linears evaluates one linear function per level.
func linears(sp *feature.Space, cols []column.Column, coef [][]float64, bias []float64) func(from int, sums []float64) {
	levels := len(bias)
	terms := make([][]float64, len(sp.Columns)) // by column of the space, then code, then level
	for k, j := range sp.Columns {
		for code := range sp.Codes(k, &cols[j]) {
			f, v := sp.Cell(k, &cols[j], code)
			for level := range levels {
				terms[k] = append(terms[k], float64(coef[level][f]*v))
			}
		}
	}
	return func(from int, sums []float64) {
		codes := make([]uint32, len(sums)/levels)
		for i := range codes {
			copy(sums[i*levels:], bias)
		}
		for k, j := range sp.Columns {
			cols[j].Codes.Read(from, codes)
			for i, c := range codes {
				row := sums[i*levels:][:levels]
				for level, t := range terms[k][int(c)*levels:][:levels] {
					row[level] += t
				}
			}
		}
	}
}

type linearBody struct {
	Space  int         `json:"space"`
	Link   Link        `json:"link"`
	Levels []levelBody `json:"levels"`
	Norm   float64     `json:"norm,omitempty"`
}

// levelBody is the linear function of one level.
type levelBody struct {
	Bias float64   `json:"bias"`
	Coef []float64 `json:"coef"`
}

func linearToBody(l *Linear) *linearBody {
	if l == nil {
		return nil
	}
	return &linearBody{l.Space, l.Link, levelsToBody(l.Coef, l.Bias), l.Norm}
}

func (b *linearBody) model() *Linear {
	if b == nil {
		return nil
	}
	l := &Linear{Space: b.Space, Link: b.Link, Norm: b.Norm}
	l.Coef, l.Bias = levelsOfBody(b.Levels)
	return l
}

func levelsToBody(coef [][]float64, bias []float64) []levelBody {
	levels := make([]levelBody, len(bias))
	for k := range levels {
		levels[k] = levelBody{bias[k], coef[k]}
	}
	return levels
}

func levelsOfBody(levels []levelBody) (coef [][]float64, bias []float64) {
	for _, l := range levels {
		coef, bias = append(coef, l.Coef), append(bias, l.Bias)
	}
	return coef, bias
}

func fillLevels(levels *[]levelBody) {
	empty(levels)
	for k := range *levels {
		empty(&(*levels)[k].Coef)
	}
}
