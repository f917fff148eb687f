// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"cmp"
	"slices"
)

// Ranking measures how well scores order rows by whether they are positive. It exists for labels with
// two levels only.
type Ranking struct {
	// Threshold is the score from which on rows are predicted positive; nil if none is.
	Threshold *float64 `json:"threshold"`
	// PositiveRate is the share of rows that are positive, PredictedRate the share of rows that are
	// predicted positive, and ExpectedRate the mean score.
	PositiveRate  float64 `json:"positive_rate"`
	PredictedRate float64 `json:"predicted_rate"`
	ExpectedRate  float64 `json:"expected_rate"`
	// Precision is the share of rows predicted positive that are positive, Recall the share of
	// positive rows that are predicted positive; nil if the denominator is 0.
	Precision *float64 `json:"precision"`
	Recall    *float64 `json:"recall"`
	// PRAUC is the average precision: the mean, over positive rows, of the precision at the row's
	// score. Rows of equal scores are taken together. It is nil without positive rows.
	PRAUC *float64 `json:"pr_auc"`
	// LiftTop10 is the number of positive rows in the tenth with the highest scores, divided by the
	// number expected in a random tenth. Rows that tie at the border count for equal fractions. It is
	// nil without positive rows.
	LiftTop10 *float64 `json:"lift_at_10_percent"`
	// Points holds precision and recall by threshold, for at most 50 thresholds.
	Points []Point `json:"points"`
}

// Point holds the results at another threshold.
type Point struct {
	Threshold float64 `json:"threshold"`
	Predicted float64 `json:"predicted_rate"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
}

// Bin describes the rows whose scores are in one of ten equal parts of [0, 1].
type Bin struct {
	Rows  int     `json:"rows"`
	Score float64 `json:"mean_score"`
	Share float64 `json:"share"` // share of rows that have the scored level
}

// step counts the rows with one score or a higher one, and the positive rows among them.
type step struct {
	score     float64
	rows, hit int
}

// countSteps returns a step for each distinct score, highest first.
func (p *predictions) countSteps() (steps []step) {
	order := make([]int, len(p.truth))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(p.scores[b], p.scores[a]) })
	rows, hit := 0, 0
	for k, i := range order {
		rows++
		if int(p.truth[i]) == p.positive {
			hit++
		}
		if k+1 == len(order) || p.scores[order[k+1]] != p.scores[i] {
			steps = append(steps, step{p.scores[i], rows, hit})
		}
	}
	return steps
}

// rankRows computes the ranking of a label with two levels.
func (p *predictions) rankRows() *Ranking {
	steps, n := p.countSteps(), float64(len(p.truth))
	positive := float64(steps[len(steps)-1].hit)
	r := &Ranking{PositiveRate: positive / n, Points: []Point{}}
	for _, s := range p.scores {
		r.ExpectedRate += s / n
	}
	var last step
	precisions, lift, top := 0.0, 0.0, n/10
	for _, s := range steps {
		if s.score >= p.threshold {
			from := p.threshold
			r.Threshold, r.PredictedRate = &from, float64(s.rows)/n
			precision := float64(s.hit) / float64(s.rows)
			r.Precision = &precision
			if positive > 0 {
				recall := float64(s.hit) / positive
				r.Recall = &recall
			}
		}
		precisions += float64(s.hit-last.hit) * float64(s.hit) / float64(s.rows)
		if part := min(top-float64(last.rows), float64(s.rows-last.rows)); part > 0 {
			lift += part * float64(s.hit-last.hit) / float64(s.rows-last.rows)
		}
		last = s
	}
	if positive > 0 {
		precisions /= positive
		lift = lift / positive * n / top
		r.PRAUC, r.LiftTop10 = &precisions, &lift
		if r.Recall == nil {
			r.Recall = new(float64)
		}
		r.Points = pointsOf(steps, n, positive)
	}
	return r
}

// pointsOf selects at most 50 of the steps, evenly spread over the rows.
func pointsOf(steps []step, n, positive float64) (out []Point) {
	const most = 50
	next := 0.0
	for i, s := range steps {
		if float64(s.rows) < next && i+1 < len(steps) {
			continue
		}
		next = float64(s.rows) + n/(most-1)
		out = append(out, Point{s.score, float64(s.rows) / n, float64(s.hit) / float64(s.rows), float64(s.hit) / positive})
	}
	return out
}

// findMajority returns the level with the most rows and its share.
func (c *Confusion) findMajority() (level string, share float64) {
	rows, most := 0, -1
	for k, counts := range c.Counts {
		n := 0
		for _, m := range counts {
			n += m
		}
		if rows += n; n > most {
			most, level = n, c.Labels[k]
		}
	}
	return level, float64(most) / float64(rows)
}

// listUnpredicted lists the levels that are predicted for no row.
func (c *Confusion) listUnpredicted() []string {
	out := []string{}
	for k, level := range c.Labels {
		n := 0
		for _, counts := range c.Counts {
			n += counts[k]
		}
		if n == 0 {
			out = append(out, level)
		}
	}
	return out
}
