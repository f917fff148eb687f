// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"context"
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/shrink"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// A private label of which all columns are public, G-ADDITIVE-6. How many rows each bin of a column
// has is public; the label enters the fit through one number by bin, the positive rows there. A row
// that is replaced keeps its public cells, so it moves one number of each column by at most 1. With
// Gaussian noise each row adds a vector of its public cells instead, whose length is the same for
// all rows: shrink.LabelVectors. Where ε is scarce, rounds pick the columns whose numbers leave.

// protectsLabel reports whether only the label is private.
func (pl *Plan) protectsLabel() bool { return pl.scope == dp.LabelOnly }

// settleLabel derives the rules for a private label with the given number of public columns.
func (pl *Plan) settleLabel(public int, rho float64) rules {
	signal := float64(pl.rows) * pl.Epsilon.Float()
	joint := float64(pl.rows) * 2 * math.Sqrt(rho*float64(public))
	if joint > math.Max(signal, fewestAtOnce) {
		return rules{gaussian: true, bins: countBins(joint / float64(public))}
	}
	rounds := math.Max(1, math.Round(signal/scalesForLabels))
	if signal >= scalesForSecond {
		rounds = math.Max(2, rounds)
	}
	if rounds < worthAllLabels*float64(public) {
		return rules{rounds: int(rounds), picks: true, passes: onePass(0, 1), bins: countBins(signal / rounds)}
	}
	return rules{bins: countBins(signal / float64(public))}
}

// labelMoves is the sensitivity of the labels of the given number of public columns. Replacing a row's label changes
// one bin of each column by 1 or, if noise is Gaussian, the sum of vectors by one of them (2.1).
func (pl *Plan) labelMoves(columns int) guard.Moves {
	if pl.rules.gaussian {
		return guard.Toggled(math.Inf(1), 1)
	}
	return guard.Toggled(float64(columns), math.Sqrt(float64(columns)))
}

// learnLabels makes the releases of a private label and fits the public columns to it, which is post-processing.
func (f *fit) learnLabels(ctx context.Context) (*model.Model, error) {
	pl := f.plan
	groups, err := f.guard.Groups(pl.public)
	if err != nil {
		return nil, err
	}
	f.bins = make([]feature.Bins, len(pl.public))
	all := &labelled{groups: groups, LabelSums: shrink.LabelSums{Rows: groups.Rows}}
	for k, j := range pl.public {
		f.bins[k] = pl.cutByRows(groups, j, pl.rules.bins)
		cut := &f.bins[k]
		all.add(k, listBins(cut, &groups.Cols[j], groups.Len), cut.Len(), countOrdered(cut))
	}
	st := (*start)(nil)
	if pl.rules.classesShare > 0 {
		if st, err = f.startBinary(ctx); err != nil {
			return nil, err
		}
		all.Start, all.StartVariance = st.score.Intercept, st.baseMoved
	}
	if pl.rules.picks {
		all, err = f.pickLabels(all, st)
	} else {
		err = f.measureLabels(labelsLabel, pl.prices.labels, all, 0)
	}
	if err != nil {
		return nil, err
	}
	fit := all.Fit()
	r := newBinaryFit(f, &start{score: feature.Additive{Intercept: fit.Intercept}})
	moved := fit.Moved()
	for i, k := range all.columns {
		r.finished = append(r.finished, r.finishShape(f.bins[k], fit.Steps[i], fit.Variance[i],
			make([]float64, f.bins[k].Len()), moved[i], &model.Cells{Weights: shrink.ShareOut(all.countRows(i))}))
	}
	return r.buildModel(), nil
}

// labelled is a set of public columns, as indices into the bins of a fit, and the releases about their labels.
type labelled struct {
	shrink.LabelSums
	groups  *guard.Groups
	columns []int
}

func (l *labelled) add(column int, bins []uint32, size, ordered int) {
	l.columns, l.Bins = append(l.columns, column), append(l.Bins, bins)
	l.Sizes, l.Ordered = append(l.Sizes, size), append(l.Ordered, ordered)
}

// pickLabels picks columns with a large imbalance of cells given the current fit, and measures them one by one.
func (f *fit) pickLabels(all *labelled, st *start) (*labelled, error) {
	picked := &labelled{groups: all.groups,
		LabelSums: shrink.LabelSums{Rows: all.Rows, Start: all.Start, StartVariance: all.StartVariance}}
	score, least, most := st.score, st.least, st.most
	for t := range f.plan.rules.rounds {
		cells, err := f.guard.Cells(&score, f.bins, capScores(least, most))
		if err != nil {
			return nil, err
		}
		k, err := f.pick(t, cells.Imbalances(f.free))
		if err != nil {
			return nil, err
		}
		picked.add(k, all.Bins[k], all.Sizes[k], all.Ordered[k])
		if err := f.measureLabels(cellsLabel(t), f.plan.prices.cells[t], picked, t); err != nil {
			return nil, err
		}
		fit := picked.Fit()
		score, least, most = feature.Additive{Intercept: fit.Intercept}, math.MaxInt64, math.MinInt64
		for i, k := range picked.columns {
			score.Shapes = append(score.Shapes, feature.Shape{Bins: f.bins[k], Steps: fit.Steps[i]})
		}
		for _, z := range fit.Scores {
			least, most = min(least, feature.Units(z)), max(most, feature.Units(z))
		}
	}
	return picked, nil
}

// measureLabels measures, of the columns from one on, how many positive rows each bin has, or the sum
// of the vectors of positive rows, all in one vector (2.1).
func (f *fit) measureLabels(label string, price guard.Share, sums *labelled, from int) error {
	positive, groups := f.plan.schema.Label.Positive, sums.groups
	bins, sizes := sums.Bins[from:], sums.Sizes[from:]
	variance := price.Variance(f.plan.labelMoves(len(bins)))
	sum := (*guard.Sum)(nil)
	if f.plan.rules.gaussian {
		sums.Variance = variance
		sums.Vectors = sums.NewVectors(math.Sqrt(variance))
		vectors := groups.ClassVectors(positive, sums.Vectors.Len())
		sums.Vectors.Each(vectors.Add)
		sum = vectors.Sum()
	} else {
		sum = groups.ClassBins(positive, bins, sizes)
	}
	out, err := f.guard.Measure(label, price, sum)
	if err != nil {
		return err
	}
	if sums.Released = out.Values; sums.Vectors != nil {
		return nil
	}
	rest := out.Values
	for _, n := range sizes {
		sums.Sums, sums.Noise = append(sums.Sums, rest[:n]), append(sums.Noise, variance)
		rest = rest[n:]
	}
	return nil
}
