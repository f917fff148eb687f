// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Logistic is one linear model of the log-odds of the positive class.
type Logistic struct {
	Space int       `json:"space"`
	Bias  float64   `json:"bias"`
	Coef  []float64 `json:"coef"`
	// Norm is 0, or the largest Euclidean length of a row (features, 1): a longer row is scaled to it
	// before it is scored. That changes no predicted class, but moves the probabilities of long rows
	// towards 1/2.
	Norm float64 `json:"norm,omitempty"`
	// Threshold is 0, or the probability from which on the positive class is predicted, in place of 1/2.
	Threshold float64 `json:"threshold,omitempty"`
}

// Linear is one linear function of the features per class, K in total: z_k = Coef[k]·features +
// Bias[k]. Link converts them to probabilities.
type Linear struct {
	Space int
	Link  Link        // Softmax or OneVersusRest
	Coef  [][]float64 // K rows, one number per feature
	Bias  []float64   // K
	Norm  float64     // as in Logistic
}

// OneVersusRestOf combines models of the same features, one per class, each for that class against all
// others together. They share one space and one norm. A single model is for two classes and is
// returned unchanged.
func OneVersusRestOf(parts []*Logistic) Classifier {
	if len(parts) == 1 {
		return parts[0]
	}
	all := &Linear{Space: parts[0].Space, Link: OneVersusRest, Norm: parts[0].Norm}
	for _, one := range parts {
		all.Coef, all.Bias = append(all.Coef, one.Coef), append(all.Bias, one.Bias)
	}
	return all
}

// Describe implements Classifier.
func (l *Logistic) Describe() string { return "a logistic model" }

// Describe implements Classifier.
func (l *Linear) Describe() string { return "a linear model per class" }

func (l *Logistic) checkParts(s *schema.Schema, use *spaceUse) error {
	if err := checkTwoClasses(s); err != nil {
		return err
	}
	if err := use.checkCoef("logistic", l.Space, l.Coef); err != nil {
		return err
	}
	if err := checkFinite("logistic", l.Coef, l.Bias); err != nil {
		return err
	}
	if !(l.Threshold >= 0 && l.Threshold < 1) {
		return fmt.Errorf("model: logistic: threshold must be at least 0 and below 1 (got %g)", l.Threshold)
	}
	return checkNorm("logistic", l.Norm)
}

func (l *Linear) checkParts(s *schema.Schema, use *spaceUse) error {
	if err := l.Link.checkKnown("linear", Softmax, OneVersusRest); err != nil {
		return err
	}
	if err := checkNorm("linear", l.Norm); err != nil {
		return err
	}
	f := l.toFunctions()
	return f.checkPerClass("linear", s.Classes(), use)
}

func checkNorm(who string, norm float64) error {
	if !(norm >= 0 && norm <= math.MaxFloat64) {
		return fmt.Errorf("model: %s: norm must be finite and at least 0 (got %g)", who, norm)
	}
	return nil
}

// checkFinite requires that a linear function is finite for every row.
func checkFinite(who string, coef []float64, bias float64) error {
	sum := math.Abs(bias)
	for _, c := range coef {
		sum += math.Abs(c)
	}
	if !(sum <= math.MaxFloat64) {
		return fmt.Errorf("model: %s: coefficients and bias must be finite, and so must the sum of their sizes", who)
	}
	return nil
}

func (l *Logistic) listColumns() []string { return nil }
func (l *Linear) listColumns() []string   { return nil }
func (l *Linear) fileVersion() int        { return 3 }

func (l *Logistic) fileVersion() int {
	switch {
	case l.Threshold != 0:
		return 9
	case l.Norm != 0:
		return 3
	}
	return 1
}

// linearFunctions are one or more linear functions of the features of one space, for rows that are
// scaled to length norm at most, unless it is 0.
type linearFunctions struct {
	space int
	coef  [][]float64 // by function, then feature
	bias  []float64   // by function
	norm  float64
}

func (l *Logistic) toFunctions() linearFunctions {
	return linearFunctions{l.Space, [][]float64{l.Coef}, []float64{l.Bias}, l.Norm}
}

func (l *Linear) toFunctions() linearFunctions {
	return linearFunctions{l.Space, l.Coef, l.Bias, l.Norm}
}

// checkPerClass requires one finite function for each class.
func (f *linearFunctions) checkPerClass(who string, classes int, use *spaceUse) error {
	if len(f.coef) != classes || len(f.bias) != classes {
		return fmt.Errorf("model: %s: coefficients and biases must be given for each of %d classes (got %d and %d)",
			who, classes, len(f.coef), len(f.bias))
	}
	for k := range f.coef {
		if err := use.checkCoef(who, f.space, f.coef[k]); err != nil {
			return err
		}
		if err := checkFinite(fmt.Sprintf("%s: class %d", who, k), f.coef[k], f.bias[k]); err != nil {
			return err
		}
	}
	return nil
}

// bindTable returns a function that writes the values of all functions for the rows
// from, from+1, ...
func (f *linearFunctions) bindTable(spaces []*feature.Space, cols []column.Column) func(from int, sums []float64) {
	sp, functions := spaces[f.space], len(f.bias)
	terms := make([][]float64, len(sp.Columns)) // by column of the space, then code, then function
	for k, j := range sp.Columns {
		for code := range sp.Codes(k, &cols[j]) {
			at, v := sp.Cell(k, &cols[j], code)
			for function := range functions {
				terms[k] = append(terms[k], float64(f.coef[function][at]*v))
			}
		}
	}
	shorten := bindNorm(sp, cols, f.norm)
	return func(from int, sums []float64) {
		codes := make([]uint32, len(sums)/functions)
		for i := range codes {
			copy(sums[i*functions:], f.bias)
		}
		for k, j := range sp.Columns {
			cols[j].Codes.Read(from, codes)
			if functions == 1 {
				for i, c := range codes {
					sums[i] += terms[k][c]
				}
				continue
			}
			for i, c := range codes {
				row := sums[i*functions:][:functions]
				for function, t := range terms[k][int(c)*functions:][:functions] {
					row[function] += t
				}
			}
		}
		if f.norm == 0 {
			return
		}
		factor := make([]float64, len(codes))
		shorten(from, factor)
		for i, t := range factor {
			row := sums[i*functions:][:functions]
			for function := range row {
				row[function] *= t
			}
		}
	}
}

// bindNorm returns a function that writes, for the rows from, from+1, ..., the factor that scales a
// row (features, 1) to length norm at most.
func bindNorm(sp *feature.Space, cols []column.Column, norm float64) func(from int, factor []float64) {
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

// evaluateRow writes the values of all functions for a row encoded in their space.
func (f *linearFunctions) evaluateRow(s *rowScratch, sums []float64) {
	copy(sums, f.bias)
	index, value := s.index[f.space], s.value[f.space]
	for k, at := range index {
		for function := range sums {
			sums[function] += float64(f.coef[function][at] * value[k])
		}
	}
	if f.norm == 0 {
		return
	}
	square := 1.0
	for _, v := range value {
		square += float64(v * v)
	}
	t := min(1, f.norm/math.Sqrt(square))
	for function := range sums {
		sums[function] *= t
	}
}

func (l *Logistic) bindTable(p *Predictor, cols []column.Column) func(from int, out []float64) {
	f := l.toFunctions()
	evaluate := f.bindTable(p.spaces, cols)
	return func(from int, out []float64) {
		evaluate(from, out)
		for i, z := range out {
			out[i] = logisticFunction(z)
		}
	}
}

func (l *Linear) bindTable(p *Predictor, cols []column.Column) func(from int, out []float64) {
	f := l.toFunctions()
	return l.Link.bindTable(p.m, f.bindTable(p.spaces, cols))
}

func (l *Logistic) bindRows(e *rowEncoder) rowScorer { return &logisticRows{e, l.toFunctions()} }
func (l *Linear) bindRows(e *rowEncoder) rowScorer   { return &linearRows{e, l.toFunctions(), l.Link} }

type logisticRows struct {
	*rowEncoder
	linearFunctions
}

func (l *logisticRows) scoreRow(row []column.Cell, out []float64) {
	s := l.takeScratch()
	defer l.returnScratch(s)
	l.encodeSpace(l.space, row, s)
	l.evaluateRow(s, out)
	out[0] = logisticFunction(out[0])
}

type linearRows struct {
	*rowEncoder
	linearFunctions
	link Link
}

func (l *linearRows) scoreRow(row []column.Cell, out []float64) {
	s := l.takeScratch()
	defer l.returnScratch(s)
	l.encodeSpace(l.space, row, s)
	l.evaluateRow(s, s.sums)
	l.link.writeScores(l.m, s.sums, out)
}

type linearBody struct {
	Space   int            `json:"space"`
	Link    Link           `json:"link"`
	Classes []functionBody `json:"levels"`
	Norm    float64        `json:"norm,omitempty"`
}

// functionBody is the linear function of one class.
type functionBody struct {
	Bias float64   `json:"bias"`
	Coef []float64 `json:"coef"`
}

func (l *Logistic) writeBody(b *body)          { b.Logistic = l }
func (l *Logistic) readClassifier() Classifier { return l }

func (l *Linear) writeBody(b *body) {
	b.Linear = &linearBody{l.Space, l.Link, writeFunctions(l.Coef, l.Bias), l.Norm}
}

func (b *linearBody) readClassifier() Classifier {
	l := &Linear{Space: b.Space, Link: b.Link, Norm: b.Norm}
	l.Coef, l.Bias = readFunctions(b.Classes)
	return l
}

func writeFunctions(coef [][]float64, bias []float64) []functionBody {
	functions := make([]functionBody, len(bias))
	for k := range functions {
		functions[k] = functionBody{bias[k], coef[k]}
	}
	return functions
}

func readFunctions(functions []functionBody) (coef [][]float64, bias []float64) {
	for _, f := range functions {
		coef, bias = append(coef, f.Coef), append(bias, f.Bias)
	}
	return coef, bias
}
