// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
)

type prices struct {
	labels      guard.Share   // of the positive rows of public columns, if the label is private
	classes     guard.Share   // of the number of rows by class, if that is private
	counts      guard.Share   // of the counts from which bins follow
	picks       []guard.Share // per round, if rounds pick
	cells       []guard.Share // per round
	weights     []guard.Share // per round if rules weigh columns
	calibration guard.Share   // of the cells of the finished score
}

// listReleases lists the releases in charging order, and allocates fields for their prices.
func (pl *Plan) listReleases() (list []learn.Release) {
	r := &pl.rules
	pl.prices = prices{}
	switch {
	case r.sharesAlone:
		return []learn.Release{{Label: pl.classesLabel(), Share: 1, Price: &pl.prices.classes}}
	case pl.protectsLabel() && !r.picks:
		if list = []learn.Release{{Label: labelsLabel, Share: 1 - r.classesShare, Price: &pl.prices.labels}}; r.classesShare > 0 {
			list = slices.Insert(list, 0, learn.Release{Label: pl.classesLabel(), Share: r.classesShare, Price: &pl.prices.classes})
		}
		return list
	}
	rest := 1 - pl.counts.share - r.calibrationShare - r.classesShare // for the rounds
	add := func(label string, share float64, to *guard.Share) {
		if share > 0 {
			list = append(list, learn.Release{Label: label, Share: share * r.totalShare() / rest, Price: to})
		}
	}
	if add(pl.classesLabel(), r.classesShare, &pl.prices.classes); len(list) > 0 {
		list[0].Pure = !pl.isMulticlass() // rounds may then yet be so
	}
	add(countsLabel, pl.counts.share, &pl.prices.counts)
	list = append(list, pl.listRounds()...)
	if r.weightShare > 0 {
		pl.prices.weights = make([]guard.Share, r.rounds)
		for t := range pl.prices.weights {
			list = append(list, learn.Release{Label: weightLabel(t), Share: r.weightShare / float64(r.rounds), Price: &pl.prices.weights[t]})
		}
	}
	label := calibrationLabel
	if pl.isMulticlass() {
		label = stretchLabel
	}
	add(label, r.calibrationShare, &pl.prices.calibration)
	return list
}

func (pl *Plan) listRounds() (list []learn.Release) {
	r := &pl.rules
	pl.prices.picks, pl.prices.cells = make([]guard.Share, r.rounds), make([]guard.Share, r.rounds)
	for t := range r.rounds {
		round := r.roundShare(t)
		if r.picks {
			list = append(list, learn.Release{Label: pickLabel(t), Choice: true, Share: round * pickShare, Price: &pl.prices.picks[t]})
			round *= 1 - pickShare
		}
		list = append(list, learn.Release{Label: cellsLabel(t), Share: round, Price: &pl.prices.cells[t]})
	}
	return list
}

// writeBill divides the price. Each release is charged exactly the part for which its noise is scaled (1.6).
func (pl *Plan) writeBill() (err error) {
	list := pl.listReleases()
	if pl.NotPrivate {
		return nil
	}
	if pl.rules.gaussian {
		if err := guard.CheckDelta("additive", pl.Delta, pl.Rows); err != nil {
			return err
		}
	}
	pl.bill, err = learn.WriteBill("additive", list, pl.Terms().Price, pl.rules.gaussian)
	return err
}

// Terms returns the bill of one Fit, in charging order.
func (pl *Plan) Terms() guard.Terms {
	return guard.Terms{Op: "additive", Scope: pl.scope, Price: dp.Price{Epsilon: pl.Epsilon, Delta: pl.Delta},
		Bill: slices.Clone(pl.bill), NotPrivate: pl.NotPrivate}
}

func epsilonShare(eps dp.Epsilon) guard.Share { return guard.Share{Epsilon: eps} }
func rhoShare(rho dp.Rho) guard.Share         { return guard.Share{Rho: rho} }

// shareOut gives every release its part of all.
func shareOut[N dp.Epsilon | dp.Rho](all N, list []learn.Release, toPrice func(N) guard.Share) error {
	return learn.ShareOut("additive", all, list, toPrice)
}

const (
	countsLabel      = "rows by fine bin"
	calibrationLabel = "weighted cells of the score"
	stretchLabel     = "weight of all columns together"
	labelsLabel      = "positive rows of public columns"
)

func (pl *Plan) classesLabel() string {
	if pl.isMulticlass() {
		return "rows of each level"
	}
	return "number of rows by label"
}

func pickLabel(t int) string   { return fmt.Sprintf("column of round %d", t+1) }
func cellsLabel(t int) string  { return fmt.Sprintf("weighted cells of round %d", t+1) }
func weightLabel(t int) string { return fmt.Sprintf("weight of the column of round %d", t+1) }
