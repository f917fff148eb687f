// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Votes is a weighted vote of threshold classifiers on a label of two classes: F(x) = Σ Vote·h(x), in
// which h = +1 if the threshold answers positive and -1 otherwise. The label is positive if F ≥ 0. The
// score, in [0, 1], is the share of the votes for positive, (1 + F/Σ|Vote|)/2, or 1/2 if all votes are
// 0.
type Votes struct {
	Members []Member `json:"members"`
}

// Member is one classifier of the vote.
type Member struct {
	Space int     `json:"space"` // index into Spaces
	Vote  float64 `json:"vote"`
	feature.Threshold
}

// Describe implements Classifier.
func (v *Votes) Describe() string { return "a vote of classifiers" }

func (v *Votes) checkParts(s *schema.Schema, use *spaceUse) error {
	if err := checkTwoClasses(s); err != nil {
		return err
	}
	if err := checkMembers(len(v.Members)); err != nil {
		return err
	}
	sum := 0.0
	for i := range v.Members {
		b := &v.Members[i]
		if err := use.checkThreshold(fmt.Sprintf("member %d", i), b.Space, &b.Threshold); err != nil {
			return err
		}
		sum += math.Abs(b.Vote)
		if !(sum <= math.MaxFloat64) {
			return fmt.Errorf("model: member %d: the votes up to here must add up to a finite number", i)
		}
	}
	return nil
}

func checkMembers(n int) error {
	if n < 1 || n > maxMembers {
		return fmt.Errorf("model: members must number 1 to %d (got %d)", maxMembers, n)
	}
	return nil
}

func (v *Votes) listColumns() []string { return nil }
func (v *Votes) fileVersion() int      { return 1 }

func (v *Votes) bindTable(p *Predictor, cols []column.Column) func(from int, out []float64) {
	answers := newThresholdAnswers(len(p.spaces))
	places, votes := make([]answerPlace, len(v.Members)), make([]float64, len(v.Members))
	all := 0.0
	for i, b := range v.Members {
		places[i], votes[i] = answers.addThreshold(b.Space, b.Threshold), b.Vote
		all += math.Abs(b.Vote)
	}
	answers.bindColumns(p.spaces, cols)
	return func(from int, out []float64) {
		block := answers.answerBlock(from, len(out))
		for row := range out {
			sum := 0.0
			for i := range places {
				if block.isPositive(row, &places[i]) {
					sum += votes[i]
				} else {
					sum -= votes[i]
				}
			}
			out[row] = voteShare(sum, all)
		}
	}
}

// voteShare returns (1 + sum/all)/2. The result is on the same side of 1/2 as sum is of 0, even if the
// division rounds.
func voteShare(sum, all float64) float64 {
	if all == 0 {
		return 0.5
	}
	s := (1 + sum/all) / 2
	if sum < 0 && s >= 0.5 {
		return math.Nextafter(0.5, 0)
	}
	return s
}

func (v *Votes) bindRows(e *rowEncoder) rowScorer { return &voteRows{e, v} }

type voteRows struct {
	*rowEncoder
	*Votes
}

func (v *voteRows) scoreRow(row []column.Cell, out []float64) {
	s := v.takeScratch()
	defer v.returnScratch(s)
	v.encodeAll(row, s)
	sum, all := 0.0, 0.0
	for i := range v.Members {
		b := &v.Members[i]
		all += math.Abs(b.Vote)
		if v.isPositive(b.Space, &b.Threshold, s) {
			sum += b.Vote
		} else {
			sum -= b.Vote
		}
	}
	out[0] = voteShare(sum, all)
}

func (v *Votes) writeBody(b *body)          { b.Votes = v }
func (v *Votes) readClassifier() Classifier { return v }
