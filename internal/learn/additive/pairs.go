// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"context"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// pairBins is how many bins a number has in a pair, but for whole numbers, of
// which few have a bin each.
const pairBins = 8

// protected are the declared pairs of which a column is protected. The others are
// part of the free public part.
func (pl *Plan) protected() (pairs [][2]int) {
	for _, p := range pl.s.Pairs {
		if !slices.Contains(pl.public, p[0]) || !slices.Contains(pl.public, p[1]) {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// cross adds the declared pairs that the rules afford to what may be released,
// and the public ones to the public part.
func (pl *Plan) cross(protected [][2]int) {
	pl.columns = len(pl.private)
	pl.waiting = len(protected) - pl.rules.pairs
	for _, p := range pl.s.Pairs {
		switch pair := pl.crossed(p); {
		case !slices.Contains(protected, p):
			pl.open = append(pl.open, pair)
		case pl.waiting == 0:
			pl.private = append(pl.private, pair)
		}
	}
}

// crossed cuts both columns of a pair, by the schema alone (1.1).
func (pl *Plan) crossed(p [2]int) feature.Bins {
	bins := pairBins
	if pl.NotPrivate {
		bins = greedyPairBins
	}
	cut := func(j int) feature.Bins {
		c := &pl.s.Columns[j]
		if len(c.Groups) > 0 {
			return grouped(c, j)
		}
		return feature.NewBins(pl.s, j, feature.Cuts(c, bins))
	}
	return feature.Cross(cut(p[0]), cut(p[1]))
}

// recross cuts numbers of private pairs at some of the edges that counts found for
// them.
func (pl *Plan) recross() {
	found := map[int][]float64{}
	for _, a := range pl.counts.asking {
		found[a.fine.Column] = pl.private[a.k].Edges
	}
	cut := func(b feature.Bins) feature.Bins {
		edges, ok := found[b.Column]
		if !ok {
			return b
		}
		c := pl.s.Columns[b.Column]
		c.Edges = edges
		return feature.NewBins(pl.s, b.Column, feature.Cuts(&c, pairBins))
	}
	for k := pl.columns; k < len(pl.private); k++ {
		first, second := pl.private[k], *pl.private[k].Second
		first.Second = nil
		pl.private[k] = feature.Cross(cut(first), cut(second))
	}
}

// see lets the weights see all that was released. What a pair adds is beyond what
// its columns do, so nothing of them may be left in its cells.
func (r *rounds) see() {
	for k := range r.fit {
		sh := &r.fit[k]
		if slices.Equal(sh.steps, sh.seen) {
			continue
		}
		rest := make([]float64, len(sh.steps))
		for b, s := range sh.steps {
			rest[b] = s - sh.seen[b]
		}
		r.keep(k, rest)
		copy(sh.seen, sh.steps) // but for rounding it is so
	}
	r.unseen, r.sums = 0, nil
}

// openPairs adds what pairs of public columns say beyond the score, for free:
// their cells under a public score are public.
func (pl *Plan) openPairs(ctx context.Context, tab engine.Table, score *feature.Additive) error {
	for _, pair := range pl.open {
		sums, err := tab.Cells(ctx, score, []feature.Bins{pair})
		if err != nil {
			return err
		}
		steps, _ := normal(exact(&sums[0]), &pair)
		score.Shapes = append(score.Shapes, feature.Shape{Bins: pair, Steps: steps})
	}
	return nil
}

// exact is cells without noise.
func exact(sums *engine.CellSums) cells {
	c := cells{positive: weights(sums.Positive), negative: weights(sums.Negative)}
	for b := range c.positive {
		c.positive[b] /= engine.WeightOne
		c.negative[b] /= engine.WeightOne
	}
	return c
}
