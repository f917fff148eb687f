// SPDX-License-Identifier: Apache-2.0

package statistic

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Cells adds up, for each of Bins, the weights of the rows in each bin by label, of two classes. A row
// weighs Weight(m), m its score under Under if its label is positive and minus that if not, and
// engine.WeightOne if Under is nil; but no more than the cap of its class. If rows weigh what their
// persons allow, it is the product.
type Cells struct {
	Under *feature.Additive
	Bins  []feature.Bins
	Caps  Caps
}

// CellSums is how much weight lies in each bin of a column, by label, in units
// of 1/engine.WeightOne.
type CellSums struct {
	Positive, Negative []int64 // one per bin
}

// Caps are the most that a row may weigh, of the positive class and of the other, 1 to
// engine.WeightOne.
type Caps [2]uint32

// FullCaps cut no weight.
var FullCaps = Caps{engine.WeightOne, engine.WeightOne}

// Weight is min(1, exp(-margin)) in units of 1/engine.WeightOne: 1 for a row that a
// score is wrong or undecided about, less the more it is right. margin is in
// units of 1/feature.ScoreOne nat. It never increases with the margin.
func Weight(margin int64) uint64 {
	if margin <= 0 {
		return engine.WeightOne
	}
	return uint64(math.RoundToEven(engine.WeightOne * math.Exp(-float64(margin)/feature.ScoreOne)))
}

var cells = Register[Cells]("cells")

func (c Cells) Check(s *schema.Schema) error {
	if len(c.Bins) == 0 || min(c.Caps[0], c.Caps[1]) < 1 || max(c.Caps[0], c.Caps[1]) > engine.WeightOne {
		return ErrParts(cells)
	}
	if c.Under != nil {
		if err := c.Under.Check(s); err != nil {
			return err
		}
	}
	return checkBins(s, c.Bins)
}

func (c Cells) Size(v *engine.View) (n int, err error) {
	if classes := v.Schema.Classes(); classes != 2 {
		return 0, fmt.Errorf("statistic: cells need a label with 2 classes (schema %q has %d)", v.Schema.Name, classes)
	}
	for k := range c.Bins {
		n += 2 * c.Bins[k].Len()
	}
	return n, nil
}

func (c Cells) Columns() []int {
	columns := columnsOf(c.Bins)
	if c.Under != nil && c.Score() == nil {
		columns = append(columns, shapeColumns(c.Under.Shapes)...)
	}
	return columns
}

func (c Cells) Score() engine.Score {
	if c.Under == nil || !fitsUnits(c.Under) {
		return nil
	}
	return margins{c.Under}
}

func (c Cells) Of(ctx context.Context, t engine.Table) ([]CellSums, error) {
	all, err := Sum(ctx, t, c)
	if err != nil {
		return nil, err
	}
	out := make([]CellSums, len(c.Bins))
	for k := range out {
		out[k].Positive, all = cut(all, c.Bins[k].Len())
		out[k].Negative, all = cut(all, c.Bins[k].Len())
	}
	return out, nil
}

type cellsAdder struct {
	run     *engine.Run
	side    [1 << 8]uint8 // by label: 1 for the positive one
	places  []place
	sums    [][]uint64             // by bins: of a place at twice its number and, of the positive label, one further
	long    *feature.BoundAdditive // to score rows whose scores are not kept
	weights *weights
	most    [2]uint32 // by the label's bit: the cap of a weight, as writeWeights writes one
	cut     bool      // some weight may be above its cap

	bins, spare []uint32
	score       []int64
	weighed     []uint32 // weights times 2, plus 1 for a row of the positive label
}

func (c Cells) Adder(run *engine.Run) engine.Adder {
	a := &cellsAdder{run: run, side: run.Positive(), most: [2]uint32{c.Caps[1] << 1, c.Caps[0]<<1 | 1}, cut: min(c.Caps[0], c.Caps[1]) < engine.WeightOne,
		weights: weightTables()}
	for k := range c.Bins {
		a.places = append(a.places, placeOf(&c.Bins[k], run.Cols))
		a.sums = append(a.sums, make([]uint64, 2*a.places[k].places))
	}
	if c.Under != nil && c.Score() == nil {
		a.long = c.Under.Bind(run.Cols)
	}
	return a
}

func (a *cellsAdder) Add() {
	n := a.run.Rows()
	a.bins, a.spare, a.weighed = room(a.bins, n), room(a.spare, n), room(a.weighed, n)
	weighed := a.weighed
	switch {
	case a.long != nil:
		a.weighLongScores()
	case a.run.Scores != nil:
		a.weights.writeWeights(a.run.Scores, weighed)
	default:
		for i, l := range a.run.Labels {
			weighed[i] = engine.WeightOne<<1 | uint32(a.side[l])
		}
	}
	if a.cut {
		for i, w := range weighed {
			weighed[i] = min(w, a.most[w&1])
		}
	}
	if a.run.Weights != nil {
		for i, w := range a.run.Weights {
			weighed[i] = uint32(uint64(weighed[i]>>1)*uint64(w)/engine.WeightOne)<<1 | weighed[i]&1
		}
	}
	for k := range a.places {
		a.sumWeights(&a.places[k], a.sums[k])
	}
}

// sumWeights adds weights to the sums of the places of the rows.
func (a *cellsAdder) sumWeights(p *place, into []uint64) {
	weighed := a.weighed
	if p.codes != nil {
		sums := (*[2 << 8]uint64)(into)
		for i, c := range p.codes.U8[:len(weighed)] {
			w := weighed[i]
			sums[2*uint(c)+uint(w&1)] += uint64(w >> 1)
		}
		return
	}
	bins := a.bins[:len(weighed)]
	p.bins.Read(0, bins, a.spare)
	for i, w := range weighed {
		into[2*bins[i]+w&1] += uint64(w >> 1)
	}
}

// weighLongScores weighs rows whose scores may be too long for margins.
func (a *cellsAdder) weighLongScores() {
	n := a.run.Rows()
	a.spare, a.score = room(a.spare, 2*n), room(a.score, n)
	a.long.Scores(0, a.score, a.spare)
	for i, l := range a.run.Labels {
		z, side := a.score[i], uint32(a.side[l])
		if side == 0 {
			z = -z
		}
		a.weighed[i] = uint32(Weight(z))<<1 | side
	}
}

func (a *cellsAdder) AddTo(sums []int64) {
	for k := range a.places {
		p := &a.places[k]
		var positive, negative []int64
		positive, sums = cut(sums, p.len)
		negative, sums = cut(sums, p.len)
		for at := range p.places {
			bin := p.binOf(at)
			negative[bin] += int64(a.sums[k][2*at])
			positive[bin] += int64(a.sums[k][2*at+1])
		}
	}
}
