// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/learn/logistic"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// start is the score before any round, what weights see of it, and bounds on
// what a row can score there: in units of 1/feature.ScoreOne nat, by label.
type start struct {
	score, seen feature.Additive
	// totals are the weights of all rows, the positive label's first, where they
	// are public; else nil.
	totals []float64
	rows   float64 // how many there are, where that is public; else as released, at least 1
	// least is a lower bound for rows of the positive label, most an upper one
	// for the others.
	least, most int64
}

const (
	publicBins = 32 // of a public number: finer than private ones, since they cost nothing
	// publicRidge is the weight of ½‖coef‖² in the summed loss of the public
	// part: three pseudo-rows to a bin keep it honest on its own rows.
	publicRidge = 3
	// Weights see the public score within this central part of its rows only:
	// few rows lie outside, and they would decide the caps.
	central = 0.7
)

// publicStart fits the public columns to the public label: no private cell is
// read, so it is free (1.5).
func (pl *Plan) publicStart(ctx context.Context, tab engine.Table) (*start, error) {
	groups, err := tab.Groups(ctx, pl.public)
	if err != nil {
		return nil, err
	}
	positive := pl.s.Label.Positive
	pos, neg := weights(groups.Counts[positive]), weights(groups.Counts[1-positive])
	binned, bins, cols := pl.binned(groups)
	sp, err := feature.NewSpace(binned, feature.OneHot, pl.public)
	if err != nil {
		return nil, err
	}
	recoded := *groups
	recoded.Cols = cols
	best, err := logistic.FitGroups(ctx, sp, &recoded, pos, neg, publicRidge/total(pos, neg), nil)
	if err != nil {
		return nil, err
	}
	st := &start{score: feature.Additive{Intercept: best.Coef[sp.Width()]}, rows: total(pos, neg)}
	for k := range bins {
		first, _ := sp.Block(k)
		st.score.Shapes = append(st.score.Shapes, feature.Shape{Bins: bins[k], Steps: best.Coef[first : first+bins[k].Len()]})
	}
	if err := pl.openPairs(ctx, tab, &st.score); err != nil {
		return nil, err
	}
	rate := baseRate(total(pos), total(neg))
	st.seen, st.score = glimpse(st.score, rate, pl.rules.sees), glimpse(st.score, rate, pl.rules.says)
	st.bound(groups, pos, neg)
	return st, nil
}

// baseRate is the log-odds of the positive label over all rows.
func baseRate(pos, neg float64) float64 { return math.Log(math.Max(pos, 1) / math.Max(neg, 1)) }

// glimpse is the base rate and a part of what a score adds to it.
func glimpse(of feature.Additive, rate, part float64) feature.Additive {
	out := feature.Additive{Intercept: rate + float64(part*(of.Intercept-rate))}
	for _, sh := range of.Shapes {
		steps := make([]float64, len(sh.Steps))
		for b, s := range sh.Steps {
			steps[b] = part * s
		}
		out.Shapes = append(out.Shapes, feature.Shape{Bins: sh.Bins, Steps: steps})
	}
	return out
}

// quantiles are the scores below and above which equal parts of the rows lie,
// central of them between.
func quantiles(scores []int64, pos, neg []float64) (low, high float64) {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(scores[a], scores[b]), cmp.Compare(a, b)) })
	all, below := total(pos, neg), 0.0
	low, high = math.Inf(1), math.Inf(-1)
	for _, i := range order {
		z := float64(scores[i]) / feature.ScoreOne
		if below <= all*(1+central)/2 {
			high = z
		}
		below += pos[i] + neg[i]
		if below >= all*(1-central)/2 && math.IsInf(low, 1) {
			low = z
		}
	}
	return low, high
}

// binned is the schema with public columns as categories of bins, the bins,
// and the columns of the groups coded that way.
func (pl *Plan) binned(g *engine.Groups) (*schema.Schema, []feature.Bins, []column.Column) {
	s := *pl.s
	s.Columns = append([]schema.Column(nil), pl.s.Columns...)
	cols := make([]column.Column, len(g.Cols))
	var all []feature.Bins
	for _, j := range pl.public {
		bins := pl.publicBins(g, j)
		all = append(all, bins)
		if c := &pl.s.Columns[j]; c.Kind == schema.Category && c.Groups == nil {
			cols[j] = g.Cols[j]
			continue
		}
		s.Columns[j] = schema.Column{Name: pl.s.Columns[j].Name, Kind: schema.Category, Levels: make([]schema.Level, bins.Len())}
		cols[j] = column.Column{Codes: column.Narrow(inBins(&bins, &g.Cols[j], g.Len), bins.Len())}
	}
	return &s, all, cols
}

// inBins lists the bins of the first n cells of a column.
func inBins(bins *feature.Bins, col *column.Column, n int) []uint32 {
	codes := make([]uint32, n)
	col.Codes.Read(0, codes)
	byCode := bins.ByCode(col)
	for i, code := range codes {
		codes[i] = byCode[code]
	}
	return codes
}

// publicBins is the bins of public column j. What the schema asks of them is
// counted in the groups, free of charge: the column and the label are public.
func (pl *Plan) publicBins(g *engine.Groups, j int) feature.Bins {
	c := &pl.s.Columns[j]
	bins := feature.NewBins(pl.s, j, feature.Cuts(c, publicBins))
	if len(c.Groups) > 0 {
		return grouped(c, j)
	}
	fine := bins
	if c.Quantiles {
		fine = feature.NewBins(pl.s, j, feature.Fine(c, fineCells))
	}
	if fine.Len() <= bins.Len() {
		return bins
	}
	rows := make([]float64, fine.Len())
	for i, b := range inBins(&fine, &g.Cols[j], g.Len) {
		for label := range g.Counts {
			rows[b] += float64(g.Counts[label][i])
		}
	}
	var edges []float64
	for _, at := range feature.Halve(rows, publicBins) {
		edges = append(edges, fine.Edges[at-1])
	}
	return feature.NewBins(pl.s, j, edges)
}

// bound clips what weights see, and scores the groups there are as they will.
func (st *start) bound(g *engine.Groups, pos, neg []float64) {
	scores, scratch := make([]int64, g.Len), make([]uint32, 2*g.Len)
	st.seen.Bind(g.Cols).Scores(0, scores, scratch)
	low, high := quantiles(scores, pos, neg)
	st.seen.Clip = &feature.Clip{Shapes: len(st.seen.Shapes), Low: low, High: high}
	st.seen.Bind(g.Cols).Scores(0, scores, scratch)
	st.least, st.most, st.totals = math.MaxInt64, math.MinInt64, []float64{0, 0}
	for i, z := range scores {
		st.totals[0] += pos[i] * float64(engine.Weight(z)) / engine.WeightOne
		st.totals[1] += neg[i] * float64(engine.Weight(-z)) / engine.WeightOne
		if pos[i] > 0 {
			st.least = min(st.least, z)
		}
		if neg[i] > 0 {
			st.most = max(st.most, z)
		}
	}
	if st.least == math.MaxInt64 { // no row of that label, so none that could move
		st.least = 0
	}
	if st.most == math.MinInt64 {
		st.most = 0
	}
}

// privateStart releases how many rows have each label and starts at their
// log-odds.
func (pl *Plan) privateStart(ctx context.Context, tab engine.Table, exit *mech.Exit) (*start, error) {
	cells, err := tab.Cells(ctx, nil, pl.private[:1])
	if err != nil {
		return nil, err
	}
	rows := func(units []uint64) (n int64) {
		for _, u := range units {
			n += int64(u / engine.WeightOne)
		}
		return n
	}
	pos := mech.Ratio{Num: rows(cells[0].Positive), Den: 1}
	neg := mech.Ratio{Num: rows(cells[0].Negative), Den: 1}
	var p, q float64
	if pl.s.Relation == dp.ReplaceOne { // the number of rows is public: one count says both
		p = exit.Release(priorLabel, pl.noise(pl.prior, dp.AddRemove, 1), pos)[0] // 1.4: rows meet noise: the count moves by 1
		q = float64(pos.Num+neg.Num) - p
	} else {
		out := exit.Release(priorLabel, pl.noise(pl.prior, dp.AddRemove, 2), pos, neg) // 1.4: rows meet noise: one of the counts moves by 1
		p, q = out[0], out[1]
	}
	floor := 1.0 // rows: below the noise a count says nothing
	if !pl.NotPrivate {
		floor = math.Sqrt(pl.prior.variance(dp.AddRemove) / 2)
	}
	z := math.Log(math.Max(p, floor) / math.Max(q, floor))
	whole := feature.Additive{Intercept: z}
	return &start{score: whole, seen: whole, rows: math.Max(1, p+q), least: feature.Units(z), most: feature.Units(z)}, nil
}

func weights(counts []uint64) []float64 {
	out := make([]float64, len(counts))
	for i, c := range counts {
		out[i] = float64(c)
	}
	return out
}

func total(lists ...[]float64) (sum float64) {
	for _, l := range lists {
		for _, x := range l {
			sum += x
		}
	}
	return sum
}

// begin is the score that rounds start from.
func (pl *Plan) begin(ctx context.Context, tab engine.Table, exit *mech.Exit) (*start, error) {
	if pl.scope == dp.WholeRow {
		return pl.privateStart(ctx, tab, exit)
	}
	st, err := pl.publicStart(ctx, tab)
	if err != nil {
		return nil, fmt.Errorf("public columns: %w", err)
	}
	return st, nil
}
