// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/learn/logistic"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// levelStart is the scores before any round.
type levelStart struct {
	scores []float64            // of each level, nats
	shapes []feature.LevelShape // of the public columns
	share  []float64            // of each level, in (0, 1), adding up to 1
	totals []float64            // rows of each level where they are public, else nil
	rows   float64              // how many there are, as released where that is private; at least 1
}

// begin is the start of the rounds.
func (pl *LevelsPlan) begin(ctx context.Context, tab engine.Table, exit *mech.Exit) (*levelStart, error) {
	if pl.scope == dp.WholeRow {
		return pl.privateStart(ctx, tab, exit)
	}
	st, err := pl.publicStart(ctx, tab)
	if err != nil {
		return nil, fmt.Errorf("public columns: %w", err)
	}
	return st, nil
}

// privateStart releases how many rows have each level.
func (pl *LevelsPlan) privateStart(ctx context.Context, tab engine.Table, exit *mech.Exit) (*levelStart, error) {
	cells, err := tab.LevelCells(ctx, pl.private[:1])
	if err != nil {
		return nil, err
	}
	var counts []mech.Ratio
	for _, rows := range cells[0].Rows {
		sum := int64(0)
		for _, n := range rows {
			sum += int64(n)
		}
		counts = append(counts, mech.Ratio{Num: sum, Den: 1})
	}
	out := exit.Release(levelsLabel, pl.noise(pl.prior, length(pl.s.Relation), len(counts)), counts...) // 1.4: rows meet noise: a row has one level, as it lies in one cell
	floor := 1.0                                                                                        // rows: below the noise a count says nothing
	if !pl.NotPrivate {
		floor = math.Max(1, math.Sqrt(pl.prior.noiseVariance(step(pl.s.Relation), length(pl.s.Relation))/2))
	}
	return newLevelStart(out, floor, nil), nil
}

// newLevelStart starts at the shares of the levels; each counts for at least
// floor rows.
func newLevelStart(rows []float64, floor float64, totals []float64) *levelStart {
	st := &levelStart{totals: totals}
	sum := 0.0
	for _, n := range rows {
		sum += math.Max(n, floor)
		st.rows += n
	}
	st.rows = math.Max(1, st.rows)
	for _, n := range rows {
		st.share = append(st.share, math.Max(n, floor)/sum)
		st.scores = append(st.scores, math.Log(math.Max(n, floor)/sum))
	}
	return st
}

// publicStart fits the public columns to the public label: no private cell is
// read, so it is free (1.5). Each level is fitted against the commonest on the
// rows of those two, which agrees with one fit of all (Begg and Gray 1984).
func (pl *LevelsPlan) publicStart(ctx context.Context, tab engine.Table) (*levelStart, error) {
	groups, err := tab.Groups(ctx, pl.public)
	if err != nil {
		return nil, err
	}
	var totals []float64
	common := 0
	for k, counts := range groups.Counts {
		totals = append(totals, total(weights(counts)))
		if totals[k] > totals[common] {
			common = k
		}
	}
	st := newLevelStart(totals, 0.5, totals)
	if len(pl.public) == 0 {
		return st, nil
	}
	binned, bins, cols := (&Plan{s: pl.s, public: pl.public}).binned(groups)
	sp, err := feature.NewSpace(binned, feature.OneHot, pl.public)
	if err != nil {
		return nil, err
	}
	recoded := *groups
	recoded.Cols = cols
	for q := range bins {
		st.shapes = append(st.shapes, feature.LevelShape{Bins: bins[q], Steps: make([][]float64, len(totals))})
	}
	against := pseudo(weights(groups.Counts[common]))
	for k, counts := range groups.Counts {
		coef := make([]float64, sp.Width()+1)
		if k != common {
			rows := pseudo(weights(counts))
			best, err := logistic.FitGroups(ctx, sp, &recoded, rows, against, publicRidge/total(rows, against), nil)
			if err != nil {
				return nil, err
			}
			coef = best.Coef
		}
		st.scores[k] = coef[sp.Width()]
		for q := range bins {
			first, _ := sp.Block(q)
			st.shapes[q].Steps[k] = coef[first : first+bins[q].Len()]
		}
	}
	return st, nil
}

// pseudo adds half a row, spread over all groups: a level that nobody has is
// unlikely, not impossible.
func pseudo(rows []float64) []float64 {
	for g := range rows {
		rows[g] += 0.5 / float64(len(rows))
	}
	return rows
}
