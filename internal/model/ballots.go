// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Ballots is a weighted vote of classifiers on a label of K classes. The sum of class k is Σ
// Weight·ballot_k over the members, and Link turns the sums into K numbers that add up to 1.
type Ballots struct {
	// Link is Share, the default, if each member votes for one class, or Softmax if the leaves of
	// stumps are log-odds.
	Link    Link     `json:"link"`
	Members []Ballot `json:"members"`
}

// Ballot is one member. Exactly one of Stump and Argmax is set.
type Ballot struct {
	Space  int     `json:"space"`  // index into Spaces
	Weight float64 `json:"weight"` // finite, ≥ 0
	Stump  *Stump  `json:"stump,omitempty"`
	Argmax *Argmax `json:"argmax,omitempty"`
}

// Stump tests one condition, and scores every class by the outcome.
type Stump struct {
	feature.Threshold
	// Yes and No hold K numbers each, for the two outcomes: a 1 and zeros for a vote for one class;
	// any numbers ≥ 0 under Share; any finite numbers under Softmax.
	Yes []float64 `json:"yes"`
	No  []float64 `json:"no"`
}

// Argmax votes for the class with the largest linear function, the first if several are equal: its
// ballot is 1 for that class and 0 for the others. A nearest centroid under any quadratic norm is an
// Argmax.
type Argmax struct {
	Coef [][]float64 // K rows, one number per feature
	Bias []float64   // K
}

func (a *Argmax) toFunctions(space int) linearFunctions {
	return linearFunctions{space: space, coef: a.Coef, bias: a.Bias}
}

// Describe implements Classifier.
func (b *Ballots) Describe() string { return "a vote of classifiers" }

func (b *Ballots) checkParts(s *schema.Schema, use *spaceUse) error {
	if err := b.Link.checkKnown("ballots", Share, Softmax); err != nil {
		return err
	}
	if err := checkMembers(len(b.Members)); err != nil {
		return err
	}
	classes, sum := s.Classes(), 0.0
	for i := range b.Members {
		m := &b.Members[i]
		if !(m.Weight >= 0) {
			return fmt.Errorf("model: member %d: weight must be at least 0 (got %g)", i, m.Weight)
		}
		who := fmt.Sprintf("member %d", i)
		most := 1.0
		var err error
		switch {
		case (m.Stump != nil) == (m.Argmax != nil):
			err = fmt.Errorf("model: %s: exactly one of stump and argmax must be given", who)
		case m.Stump != nil:
			most, err = m.Stump.checkLeaves(who, b.Link, classes, m.Space, use)
		default:
			f := m.Argmax.toFunctions(m.Space)
			err = f.checkPerClass(who, classes, use)
		}
		if err != nil {
			return err
		}
		sum += float64(m.Weight * most)
		if !(float64(classes)*sum <= math.MaxFloat64) {
			return fmt.Errorf("model: %s: the ballots up to here must add up to a finite number", who)
		}
	}
	return nil
}

// checkLeaves returns the size of the largest leaf, or 1 if all are smaller.
func (s *Stump) checkLeaves(who string, link Link, classes, space int, use *spaceUse) (most float64, err error) {
	if err := use.checkThreshold(who, space, &s.Threshold); err != nil {
		return 0, err
	}
	if len(s.Yes) != classes || len(s.No) != classes {
		return 0, fmt.Errorf("model: %s: leaves must hold %d numbers, one per class (got %d and %d)", who, classes,
			len(s.Yes), len(s.No))
	}
	most = 1
	for _, leaf := range [][]float64{s.Yes, s.No} {
		for k, x := range leaf {
			if !(math.Abs(x) <= math.MaxFloat64) || link == Share && !(x >= 0) {
				return 0, fmt.Errorf("model: %s: leaves must be finite and, under link %q, at least 0 (class %d has %g)", who,
					Share, k, x)
			}
			most = max(most, math.Abs(x))
		}
	}
	return most, nil
}

func (b *Ballots) listColumns() []string { return nil }
func (b *Ballots) fileVersion() int      { return 3 }

func (b *Ballots) bindTable(p *Predictor, cols []column.Column) func(from int, out []float64) {
	return b.Link.bindTable(p.m, b.bindSums(p, cols))
}

// bindSums returns a function that adds up the ballots about the rows from,
// from+1, ..., K numbers per row.
func (b *Ballots) bindSums(p *Predictor, cols []column.Column) func(from int, sums []float64) {
	classes := p.m.Schema.Classes()
	// Members are called in their order, so that sums do not depend on how the
	// stumps of a space are grouped to be answered together.
	answers := newThresholdAnswers(len(p.spaces))
	places := make([]answerPlace, len(b.Members))
	argmax := make([]func(int, []float64), len(b.Members))
	for i, m := range b.Members {
		if m.Argmax != nil {
			f := m.Argmax.toFunctions(m.Space)
			argmax[i] = f.bindTable(p.spaces, cols)
			continue
		}
		places[i] = answers.addThreshold(m.Space, m.Stump.Threshold)
	}
	answers.bindColumns(p.spaces, cols)
	return func(from int, sums []float64) {
		rows := len(sums) / classes
		block := answers.answerBlock(from, rows)
		z := make([]float64, len(sums))
		for i := range b.Members {
			m := &b.Members[i]
			if m.Argmax != nil {
				argmax[i](from, z)
				for r := range rows {
					sums[r*classes+feature.ArgMax(z[r*classes:][:classes])] += m.Weight
				}
				continue
			}
			for r := range rows {
				for k, x := range m.Stump.leafFor(block.isPositive(r, &places[i])) {
					sums[r*classes+k] += float64(m.Weight * x)
				}
			}
		}
	}
}

func (s *Stump) leafFor(positive bool) []float64 {
	if positive {
		return s.Yes
	}
	return s.No
}

func (b *Ballots) bindRows(e *rowEncoder) rowScorer {
	rows := &ballotRows{rowEncoder: e, Ballots: b, argmax: make([]linearFunctions, len(b.Members))}
	for i := range b.Members {
		if m := &b.Members[i]; m.Argmax != nil {
			rows.argmax[i] = m.Argmax.toFunctions(m.Space)
		}
	}
	return rows
}

type ballotRows struct {
	*rowEncoder
	*Ballots
	argmax []linearFunctions // by member
}

func (b *ballotRows) scoreRow(row []column.Cell, out []float64) {
	s := b.takeScratch()
	defer b.returnScratch(s)
	b.encodeAll(row, s)
	clear(s.sums)
	for i := range b.Members {
		m := &b.Members[i]
		if m.Argmax != nil {
			b.argmax[i].evaluateRow(s, s.votes)
			s.sums[feature.ArgMax(s.votes)] += m.Weight
			continue
		}
		for class, x := range m.Stump.leafFor(b.isPositive(m.Space, &m.Stump.Threshold, s)) {
			s.sums[class] += float64(m.Weight * x)
		}
	}
	b.Link.writeScores(b.m, s.sums, out)
}

type argmaxBody struct {
	Classes []functionBody `json:"levels"`
}

// MarshalJSON implements json.Marshaler: in a file each class has its function.
func (a *Argmax) MarshalJSON() ([]byte, error) {
	return json.Marshal(argmaxBody{writeFunctions(a.Coef, a.Bias)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *Argmax) UnmarshalJSON(text []byte) error {
	var b argmaxBody
	err := json.Unmarshal(text, &b)
	a.Coef, a.Bias = readFunctions(b.Classes)
	return err
}

func (b *Ballots) writeBody(into *body)       { into.Ballots = b }
func (b *Ballots) readClassifier() Classifier { return b }
