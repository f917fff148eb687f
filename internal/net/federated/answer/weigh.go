// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"math"

	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// weigher computes record weights for given members. It is not safe for concurrent use.
type weigher struct {
	recs    *Records
	members []wire.Member
	bound   float64   // W_t
	scores  []float64 // scratch, K
	z       []float64 // scratch, K
}

func newWeigher(recs *Records, members []wire.Member) *weigher {
	t := recs.terms.task
	K := t.Schema.Classes()
	return &weigher{recs, members, t.WeightBound(members), make([]float64, K), make([]float64, K)}
}

// weight returns a record's weight divided by W_t, in [0, 1]. Members with leaves give a record the
// weight exp(−margin): the margin is the score of its label minus the highest other score. Members
// that answer levels multiply the weight by exp(Vote) if they are wrong (SAMME line 7). Weights are
// not normalised, because that would need the other owners' weights.
func (w *weigher) weight(row int) float64 {
	if len(w.members) == 0 {
		return 1
	}
	y := int(w.recs.tab.Labels[row])
	log, shaped := 0.0, false
	clear(w.scores)
	for i := range w.members {
		m := &w.members[i]
		if m.Argmax != nil {
			if w.recs.linearArgMax(m.Argmax, row, w.z) != y {
				log += m.Vote
			}
			continue
		}
		shaped = true
		w.recs.addShapes(m, m.Vote, row, w.scores)
	}
	if shaped {
		rival := math.Inf(-1)
		for k, s := range w.scores {
			if k != y {
				rival = math.Max(rival, s)
			}
		}
		log += rival - w.scores[y]
	}
	return math.Min(math.Exp(log), w.bound) / w.bound // 1.1
}

// addShapes adds vote times the member's leaves for a row.
func (r *Records) addShapes(m *wire.Member, vote float64, row int, scores []float64) {
	for i := range m.Shapes {
		s := &m.Shapes[i]
		leaf := s.Leaves[r.bins[s.Question][r.codeAt(s.Question, row)]]
		for k, x := range leaf {
			scores[k] += vote * x
		}
	}
}

// linearArgMax returns a linear member's answer for a row; z is scratch.
func (r *Records) linearArgMax(a *wire.Argmax, row int, z []float64) int {
	copy(z, a.Bias)
	for q := range r.feature {
		c := r.codeAt(q, row)
		f, v := r.feature[q][c], r.value[q][c]
		for k := range z {
			z[k] += a.Coef[k][f] * v
		}
	}
	return feature.ArgMax(z)
}

func (r *Records) codeAt(q, row int) uint32 {
	return r.tab.Cols[r.terms.cols[q]].Codes.At(row)
}

// memberAnswer returns a member's answer for a row.
func (r *Records) memberAnswer(m *wire.Member, row int, z []float64) int {
	if m.Argmax != nil {
		return r.linearArgMax(m.Argmax, row, z)
	}
	clear(z)
	r.addShapes(m, 1, row, z)
	return feature.ArgMax(z)
}
