// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model/shrink"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// publicGroups are the distinct rows of the public columns, with the number of rows by class.
type publicGroups struct {
	groups *guard.Groups
	rows   [][]float64    // by class, then group: number, or weight
	bins   []feature.Bins // of the public columns
	codes  [][]uint32     // the bins of groups, by public column
	part   float64        // that a row is of what a fit counts it for: all rows of a person may say the same
}

// groupPublic reads public columns and a public label only, so that its results are free (1.5).
func (f *fit) groupPublic() (*publicGroups, error) {
	groups, err := f.guard.Groups(f.plan.public)
	if err != nil {
		return nil, err
	}
	g := &publicGroups{groups: groups}
	if g.rows, err = groups.Classes(); err != nil {
		return nil, err
	}
	g.part = math.Min(1, float64(f.guard.Units())/math.Max(1, sumAll(g.rows...)))
	for _, j := range f.plan.public {
		bins := f.plan.cutByRows(groups, j, publicBins)
		codes := listBins(&bins, &groups.Cols[j], groups.Len)
		g.bins, g.codes = append(g.bins, bins), append(g.codes, codes)
	}
	return g, nil
}

// fitAgainst fits the log-odds of one class against the other, and returns steps by column, then bin,
// and the intercept. Both arguments are numbers of rows by group.
func (g *publicGroups) fitAgainst(one, other []float64) (steps [][]float64, intercept float64) {
	one = floats.ScaleTo(make([]float64, len(one)), g.part, one)
	other = floats.ScaleTo(make([]float64, len(other)), g.part, other)
	sums := shrink.LabelSums{Rows: floats.AddTo(make([]float64, len(one)), one, other), Positive: one, Bins: g.codes}
	for q := range g.bins {
		sums.Sizes, sums.Ordered = append(sums.Sizes, g.bins[q].Len()), append(sums.Ordered, countOrdered(&g.bins[q]))
	}
	fit := sums.Fit()
	return fit.Steps, fit.Intercept
}

// countOrdered is how many of the first bins are in order.
func countOrdered(bins *feature.Bins) int {
	if !bins.Ordered() {
		return 0
	}
	return bins.Len() - bins.Marks()
}

// listBins lists the bins of the first n cells of a column.
func listBins(bins *feature.Bins, col *column.Column, n int) []uint32 {
	codes := make([]uint32, n)
	col.Codes.Read(0, codes)
	byCode := bins.ByCode(col)
	for i, code := range codes {
		codes[i] = byCode[code]
	}
	return codes
}

// cutByRows cuts public column j into so many bins. What the schema asks of them is counted in the
// groups, free of charge: the column is public.
func (pl *Plan) cutByRows(groups *guard.Groups, j, most int) feature.Bins {
	bins, fine := pl.cutColumn(j, most), pl.cutFine(j)
	if fine.Len() <= bins.Len() {
		return bins
	}
	rows := make([]float64, fine.Len())
	for g, b := range listBins(&fine, &groups.Cols[j], groups.Len) {
		rows[b] += groups.Rows[g]
	}
	return feature.NewBins(pl.schema, j, halveAt(rows, most, &fine))
}

// startPublic fits the public columns to a public label of two classes.
func (f *fit) startPublic(ctx context.Context) (*start, error) {
	g, err := f.groupPublic()
	if err != nil {
		return nil, err
	}
	positive := f.plan.schema.Label.Positive
	pos, neg := g.rows[positive], g.rows[1-positive]
	steps, intercept := g.fitAgainst(pos, neg)
	score := feature.Additive{Intercept: intercept}
	for q := range g.bins {
		score.Shapes = append(score.Shapes, feature.Shape{Bins: g.bins[q], Steps: steps[q]})
	}
	if err := f.addPublicPairs(&score); err != nil {
		return nil, err
	}
	st := &start{classes: [2]float64{sumAll(pos), sumAll(neg)}, score: score, groups: &g.groups.Groups,
		byClass: [2][]float64{pos, neg}}
	st.mean, st.spread = stat.PopMeanStdDev(st.boundScores(), floats.AddTo(make([]float64, len(pos)), pos, neg))
	return st, nil
}

// addPublicPairs adds the effects of pairs of public columns beyond the score, at no cost: their cells
// under a public score are public (1.5).
func (f *fit) addPublicPairs(score *feature.Additive) error {
	for _, pair := range f.plan.open {
		cells, err := f.guard.Cells(score, []feature.Bins{pair}, guard.FullCaps)
		if err != nil {
			return err
		}
		exact, err := f.guard.Exact(cells.Part(0))
		if err != nil {
			return err
		}
		steps, _ := shrink.LogOdds(splitCells(exact, 1, 1), &pair)
		score.Shapes = append(score.Shapes, feature.Shape{Bins: pair, Steps: steps})
	}
	return nil
}

// boundScores takes the extremes of the scores of public columns, which it returns in nats, and the weights of rows.
func (st *start) boundScores() []float64 {
	n := st.groups.Len
	scores, nats := make([]int64, n), make([]float64, n)
	st.score.Bind(st.groups.Cols).Scores(0, scores, make([]uint32, 2*n))
	st.least, st.most, st.totals = math.MaxInt64, math.MinInt64, []float64{0, 0}
	for i, z := range scores {
		nats[i] = float64(z) / feature.ScoreOne
		pos, neg := st.byClass[0][i], st.byClass[1][i]
		st.totals[0] += pos * float64(guard.Weight(z)) / guard.WeightOne
		st.totals[1] += neg * float64(guard.Weight(-z)) / guard.WeightOne
		if pos > 0 {
			st.least = min(st.least, z)
		}
		if neg > 0 {
			st.most = max(st.most, z)
		}
	}
	if st.least == math.MaxInt64 { // no row of that class, so none that could move
		st.least = 0
	}
	if st.most == math.MinInt64 {
		st.most = 0
	}
	return nats
}

// startPublicClasses fits the public columns to a public label of more classes: each class against
// the commonest on the rows of those two, which agrees with one fit of all (Begg and Gray 1984).
func (f *fit) startPublicClasses(ctx context.Context) (*classStart, error) {
	g, err := f.groupPublic()
	if err != nil {
		return nil, err
	}
	var totals []float64
	for _, rows := range g.rows {
		totals = append(totals, sumAll(rows))
	}
	common := slices.Index(totals, slices.Max(totals))
	st := newClassStart(totals)
	st.totals = totals
	if len(g.bins) == 0 {
		return st, nil
	}
	for q := range g.bins {
		steps := make([][]float64, len(totals))
		steps[common] = make([]float64, g.bins[q].Len())
		st.shapes = append(st.shapes, feature.LevelShape{Bins: g.bins[q], Steps: steps})
	}
	st.scores[common] = 0
	against := addPseudoRows(g.rows[common])
	for k, rows := range g.rows {
		if k == common {
			continue
		}
		steps, intercept := g.fitAgainst(addPseudoRows(rows), against)
		st.scores[k] = intercept
		for q := range steps {
			st.shapes[q].Steps[k] = steps[q]
		}
	}
	for q := range st.shapes {
		st.spread += measureSpread(g.countByBin(q), st.share, st.shapes[q].Steps)
	}
	return st, nil
}

// countByBin counts rows by class, then bin of public column q.
func (g *publicGroups) countByBin(q int) [][]float64 {
	out := make([][]float64, len(g.rows))
	for k, rows := range g.rows {
		out[k] = make([]float64, g.bins[q].Len())
		for i, b := range g.codes[q] {
			out[k][b] += rows[i]
		}
	}
	return out
}

// addPseudoRows adds half a row, spread over all groups, so that a class without rows is unlikely
// rather than impossible.
func addPseudoRows(rows []float64) []float64 {
	out := slices.Clone(rows)
	floats.AddConst(0.5/float64(len(out)), out)
	return out
}

func sumAll(lists ...[]float64) (sum float64) {
	for _, l := range lists {
		for _, x := range l {
			sum += x
		}
	}
	return sum
}
