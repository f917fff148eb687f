// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn/brc"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// BRC audits the learner brc on the pair with its largest sensitivity: n rows on which every
// classifier is right, except one row on which all are wrong (side 0) or right (side 1). The content
// of the rows is chosen for the classifiers drawn, which are public and cost nothing, so that the
// claim must hold on this pair too. The pairs of Learner follow, which use a real engine.
func BRC(ctx context.Context, pl *brc.Plan, s *schema.Schema, n int, src rng.Source) (Subject, error) {
	if n < 2 {
		return Subject{}, dp.Refuse("audit", "rows", "must be at least 2", n)
	}
	const fewRows = 100 // a real engine takes its time for each
	sub, err := Learner(ctx, "brc", pl, s, min(n, fewRows), src)
	if err != nil {
		return Subject{}, err
	}
	sub.Name = fmt.Sprintf("learner brc, %d rounds on %d rows", pl.Rounds, n)
	worst, err := mistakePair(ctx, pl, s, n, src)
	if err != nil {
		return Subject{}, err
	}
	sub.Pairs = append([]Pair{worst}, sub.Pairs...)
	return sub, nil
}

func mistakePair(ctx context.Context, pl *brc.Plan, s *schema.Schema, n int, src rng.Source) (Pair, error) {
	voting := *pl
	voting.Output, pl = brc.Votes, &voting // the releases do not depend on it, and it shows the votes
	base, err := memory.New(equalRows(s, n, lowestCode))
	if err != nil {
		return Pair{}, err
	}
	groups := &sync.Map{} // of base: the same on both sides, and the rows never change
	tables := [2]engine.Table{&mistaken{base, n, 1, groups}, &mistaken{base, n, 0, groups}}
	name := "one row about which every classifier is wrong, against right"
	if s.Relation == dp.AddRemove {
		tables[1] = &mistaken{base, n - 1, 0, groups}
		name = "one row about which every classifier is wrong, against left out"
	}
	pair, err := modelPair(ctx, pl, name, tables, src)
	if err != nil {
		return Pair{}, err
	}
	// From here on only what a model holds matters: its votes, in order.
	m, err := guard.Train(ctx, pl, tables[0], guard.Uncounted{}, mech.NewExit(src))
	if err != nil {
		return Pair{}, err
	}
	pair.Outputs = nil
	for t := range m.Classifier.(*model.Votes).Members {
		pair.Outputs = append(pair.Outputs, fmt.Sprintf("vote of round %d", t+1))
	}
	pair.Draw = Each(len(pair.Outputs), func(ctx context.Context, side int, src rng.Source, out []float64) error {
		m, err := guard.Train(ctx, pl, tables[side], guard.Uncounted{}, mech.NewExit(src))
		if err != nil {
			return err
		}
		for t, v := range m.Classifier.(*model.Votes).Members {
			out[t] = v.Vote
		}
		return nil
	})
	if s.Relation == dp.ReplaceOne {
		tr := newTranscript(pl, n)
		pair.Score = tr.logLikelihood
		if len(pl.Terms().Bill) == pl.Rounds { // else a part of ε pays for what this pair does not move
			pair.Maximum = tr.largestRatio()
		}
	}
	return pair, nil
}

// mistaken is a table on which every classifier is right, except for some rows on which every one is
// wrong.
type mistaken struct {
	engine.Table // labels and public columns
	rows, wrong  int
	groups       *sync.Map
}

func (m *mistaken) Rows() int { return m.rows }

func (m *mistaken) Mistakes(_ context.Context, _ *feature.Space, cs []feature.Threshold) (*engine.Patterns, error) {
	words := (len(cs) + 63) / 64
	p := &engine.Patterns{Words: words, Bits: make([]uint64, words), Count: []uint64{uint64(m.rows - m.wrong)}}
	if m.wrong > 0 {
		for w := range words {
			p.Bits = append(p.Bits, ^uint64(0)>>max(0, 64*(w+1)-len(cs)))
		}
		p.Count = append(p.Count, uint64(m.wrong))
	}
	return p, nil
}

func (m *mistaken) Groups(ctx context.Context, cols []int) (*engine.Groups, error) {
	key := fmt.Sprint(cols)
	if g, ok := m.groups.Load(key); ok {
		return g.(*engine.Groups), nil
	}
	g, err := m.Table.Groups(ctx, cols)
	if err == nil {
		m.groups.Store(key, g)
	}
	return g, err
}

// transcript computes what the released errors reveal about the row, from the paper and the guarantee
// page alone. It is an independent implementation in floating point, which is accurate enough for a
// score.
type transcript struct {
	p   brc.Params
	n   float64
	eps []float64 // price of each round's error
}

func newTranscript(pl *brc.Plan, n int) *transcript {
	tr := &transcript{p: pl.Params, n: float64(n)}
	for _, e := range pl.Terms().Bill {
		if strings.HasPrefix(e.Release, "weighted error") {
			tr.eps = append(tr.eps, e.Epsilon.Float())
		}
	}
	return tr
}

// stepWeight implements Algorithm 2, lines 13 to 19.
func (tr *transcript) stepWeight(w, vote float64) float64 {
	if v := w * math.Exp(vote); v >= 1/tr.p.C1 && v <= tr.p.C2 {
		return v
	}
	return w
}

// walkRounds calls f for every round with the row's share of all weights, which is the change of the
// error, and the noise scale.
func (tr *transcript) walkRounds(votes func(t int, moved float64) float64, f func(t int, moved, scale float64)) {
	row, reach := 1.0, []float64{1}
	for t, eps := range tr.eps {
		moved := row / (row + tr.n - 1)
		delta := tr.p.C1 * tr.p.C2 / tr.n
		if tr.p.Sensitivity == brc.Tight {
			hi, lo := slices.Max(reach), slices.Min(reach)
			delta = hi / (hi + (tr.n-1)*lo)
		}
		f(t, moved, delta/eps)
		vote := votes(t, moved)
		row = tr.stepWeight(row, vote)
		for _, w := range reach {
			if v := tr.stepWeight(w, vote); !slices.Contains(reach, v) && len(reach) < 256 {
				reach = append(reach, v)
			}
		}
	}
}

// logLikelihood returns the log-likelihood ratio of a run's votes: the error is shifted on side 0 and
// not on side 1, each plus Laplace noise.
func (tr *transcript) logLikelihood(votes []float64) (sum float64) {
	tr.walkRounds(func(t int, _ float64) float64 { return votes[t] }, func(t int, moved, scale float64) {
		noisy := 0.5 - votes[t]
		sum += (math.Abs(noisy) - math.Abs(noisy-moved)) / scale
	})
	return sum
}

// largestRatio returns the ratio if every noisy error is slightly above the true one. (For much larger
// errors, votes and weights change by more, but such runs are too rare to be counted.)
func (tr *transcript) largestRatio() (sum float64) {
	tr.walkRounds(func(_ int, moved float64) float64 { return 0.5 - moved },
		func(_ int, moved, scale float64) { sum += moved / scale })
	return sum
}
