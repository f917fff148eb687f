// SPDX-License-Identifier: Apache-2.0

package adaboost

import (
	"context"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/lab/internal/learn/stump"
)

// boostSplits boosts splits about K levels. A level's share of the odds is e to the
// power of its votes: what SAMME's exponential loss is least for.
func (pl *plan) boostSplits(ctx context.Context, tab engine.Table) (*model.Ballots, error) {
	g, err := tab.Groups(ctx, pl.use.Cols)
	if err != nil {
		return nil, err
	}
	h := &splits{sp: pl.space, g: g, weights: pl.weights, search: stump.NewSearch(pl.space, g)}
	voters, err := boostWeak(ctx, pl.Rounds, len(pl.weights), h)
	if err != nil {
		return nil, err
	}
	b := &model.Ballots{Link: model.Softmax}
	for _, one := range voters {
		yes, no := make([]float64, len(pl.weights)), make([]float64, len(pl.weights))
		yes[one.c.Yes], no[one.c.No] = 1, 1
		b.Members = append(b.Members, model.Ballot{Weight: one.vote,
			Stump: &model.Stump{Threshold: one.c.Threshold, Yes: yes, No: no}})
	}
	return b, nil
}

// splits is the weak learner of K levels. Its cells are the groups' rows of the
// first level, then of the second, and so on.
type splits struct {
	sp      *feature.Space
	g       *engine.Groups
	weights []float64 // of a row, by level
	search  *stump.Search
}

func (h *splits) startWeights() []float64 {
	w := make([]float64, 0, len(h.weights)*h.g.Len)
	for level, counts := range h.g.Counts {
		for _, n := range counts {
			w = append(w, float64(n)*h.weights[level])
		}
	}
	return w
}

func (h *splits) fitWeak(_ context.Context, _ int, w []float64, wrong []bool) (stump.Split, error) {
	n := h.g.Len
	levels := make([][]float64, len(h.weights))
	for level := range levels {
		levels[level] = w[level*n:][:n]
	}
	s := h.search.BestSplit(levels)
	answers := make([]uint64, n) // one threshold: one word per group
	feature.NewScorer(h.sp, []feature.Threshold{s.Threshold}).Bind(h.g.Cols).Answers(0, answers)
	for g, a := range answers {
		says := s.No
		if a == 1 {
			says = s.Yes
		}
		for level := range levels {
			wrong[level*n+g] = level != says
		}
	}
	return s, nil
}
