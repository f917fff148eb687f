// SPDX-License-Identifier: Apache-2.0

package collect

import (
	"math"

	"github.com/discreet-dp/discreet/internal/net/federated/wire"
)

// judgeCandidate gives the candidate its vote, or drops it, by the reports of the error slot's owners,
// who did not contribute to it.
//
// The error of SAMME (line 5) is computed for each level of the label separately and averaged, because
// frequencies of levels are in the prior and not in the candidate. The estimate is noisy and is
// clamped before its logarithm is taken.
func (a *Aggregator) judgeCandidate() {
	K := a.task.Schema.Classes()
	t := a.collectTables()[0] // cells: answers
	total := estimateTotals(a.tables)
	o := Outcome{Round: len(a.done) + 1, Errors: int64(t.reports)}
	for i := range a.tables {
		if n := int64(a.tables[i].reports); a.task.Mode == wire.Aggregate { // every owner is in all tables
			o.Tables = n
		} else {
			o.Tables += n
		}
	}
	m := &a.members[len(a.members)-1]
	if t.reports > 0 {
		shares := t.cellShares(total)
		var variance float64
		for y := range K {
			miss := 1 - shares[y*K+y]
			n := total[y] * t.reports
			o.Err += miss / float64(K)
			variance += (t.variance/(n*n) + miss*(1-miss)/n) / float64(K*K)
		}
		o.ErrNoise = math.Sqrt(variance)
		m.Vote = sammeVote(a.expectedError(o.Err, variance), K, t.reports)
	}
	o.Vote = m.Vote
	if m.Vote == 0 {
		a.members = a.members[:len(a.members)-1]
	}
	a.done = append(a.done, o)
}

// expectedError combines the estimated error with the one that the candidate's own margin implies. If
// few owners measured the error, chance alone would otherwise drop good candidates.
func (a *Aggregator) expectedError(err, variance float64) float64 {
	rivals := float64(a.task.Schema.Classes() - 1)
	before := rivals / (rivals + math.Exp(a.margin/typicalMargin)) // whose vote is the margin's
	const doubt = 0.04 * 0.04
	return (err*doubt + before*variance) / (doubt + variance)
}

// sammeVote is the vote of SAMME (line 6) for an error clamped to [1/(2n), 1 − 1/(2n)]; 0 if the error
// is that of chance or larger.
func sammeVote(err float64, levels int, n float64) float64 {
	clamp := 1 / (2 * n)
	err = math.Min(math.Max(err, clamp), 1-clamp)
	return math.Max(0, math.Log((1-err)/err)+math.Log(float64(levels-1)))
}
