// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Classifier is the predicting part of a model: one of *Votes, *Logistic, *Additive,
// *MulticlassAdditive, *Linear, *Ballots and *Grids. The set is closed, as the file format is.
type Classifier interface {
	// Describe names the kind of classifier for messages: "a logistic model".
	Describe() string

	// checkParts refuses a classifier that is not finite or does not fit the label and the columns of
	// s. It marks the feature spaces in use.
	checkParts(s *schema.Schema, use *spaceUse) error
	// listColumns names the columns that are read directly rather than through a feature space.
	listColumns() []string
	// fileVersion is the oldest version of the file format that holds the classifier.
	fileVersion() int
	// writeBody puts the classifier into the body of a file.
	writeBody(b *body)
	// bindTable returns a function that scores the rows from, from+1, ... of cols into out, with
	// Model.Width numbers per row.
	bindTable(p *Predictor, cols []column.Column) func(from int, out []float64)
	// bindRows returns a scorer of single rows.
	bindRows(e *rowEncoder) rowScorer
}

// rowScorer scores single rows without allocation.
type rowScorer interface {
	// scoreRow writes Model.Width numbers.
	scoreRow(row []column.Cell, out []float64)
}

// spaceUse holds the number of features of each of a model's spaces, and which spaces a classifier
// uses.
type spaceUse struct {
	widths []int
	used   []bool
}

// checkCoef requires one coefficient per feature of a space, and marks the space as used.
func (u *spaceUse) checkCoef(who string, space int, coef []float64) error {
	if space < 0 || space >= len(u.widths) {
		return fmt.Errorf("model: %s: space must be one of the model's %d (got %d)", who, len(u.widths), space)
	}
	if len(coef) != u.widths[space] {
		return fmt.Errorf("model: %s: coefficients must number %d, one per feature of space %d (got %d)",
			who, u.widths[space], space, len(coef))
	}
	u.used[space] = true
	return nil
}

// checkThreshold requires that the coefficients and the bias of a threshold classifier are in [-1, 1].
func (u *spaceUse) checkThreshold(who string, space int, t *feature.Threshold) error {
	if err := u.checkCoef(who, space, t.Coef); err != nil {
		return err
	}
	if !(math.Abs(t.Bias) <= 1) {
		return fmt.Errorf("model: %s: bias must be in [-1, 1] (got %g)", who, t.Bias)
	}
	for f, c := range t.Coef {
		if !(math.Abs(c) <= 1) {
			return fmt.Errorf("model: %s: coefficient %d must be in [-1, 1] (got %g)", who, f, c)
		}
	}
	return nil
}

// checkTwoClasses refuses a label of more than two classes.
func checkTwoClasses(s *schema.Schema) error {
	if n := s.Classes(); n != 2 {
		return fmt.Errorf("model: the label must have 2 classes, or the classifier must be linear, ballots, additive "+
			"levels or grids (got %d classes)", n)
	}
	return nil
}

// logisticFunction converts log-odds to a probability.
func logisticFunction(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// thresholdAnswers evaluates the threshold classifiers of several spaces for blocks of rows. All
// thresholds are added first; then bindColumns is called once.
type thresholdAnswers struct {
	held  [][]feature.Threshold // by space
	bound []*feature.Prepared   // by space; nil if it has no threshold
	words []int                 // by space: words of answers per row
}

// answerPlace locates a threshold's answers.
type answerPlace struct {
	space, word int
	bit         uint
}

func newThresholdAnswers(spaces int) *thresholdAnswers {
	return &thresholdAnswers{make([][]feature.Threshold, spaces), make([]*feature.Prepared, spaces), make([]int, spaces)}
}

func (a *thresholdAnswers) addThreshold(space int, t feature.Threshold) answerPlace {
	n := len(a.held[space])
	a.held[space] = append(a.held[space], t)
	return answerPlace{space, n / 64, uint(n % 64)}
}

func (a *thresholdAnswers) bindColumns(spaces []*feature.Space, cols []column.Column) {
	for k, sp := range spaces {
		if len(a.held[k]) > 0 {
			s := feature.NewScorer(sp, a.held[k])
			a.bound[k], a.words[k] = s.Bind(cols), s.Words()
		}
	}
}

// answerBlock evaluates all thresholds for the rows from, from+1, ...
func (a *thresholdAnswers) answerBlock(from, rows int) answerBlock {
	out := answerBlock{words: a.words, bits: make([][]uint64, len(a.bound))}
	for k, b := range a.bound {
		if b != nil {
			out.bits[k] = make([]uint64, rows*a.words[k])
			b.Answers(from, out.bits[k])
		}
	}
	return out
}

// answerBlock holds the answers of all thresholds for some rows.
type answerBlock struct {
	words []int
	bits  [][]uint64 // by space; by row, then word
}

// isPositive reports whether the threshold at a place answers positive.
func (b *answerBlock) isPositive(row int, at *answerPlace) bool {
	return b.bits[at.space][row*b.words[at.space]+at.word]>>at.bit&1 == 1
}
