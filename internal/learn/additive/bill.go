// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/privacy/accounting"
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

// release is one line of the bill before its price is known.
type release struct {
	label  string
	pure   bool    // whatever noise the others have
	choice bool    // a selection rather than a measurement, and pure
	share  float64 // of the price, relative to the other releases
	price  *guard.Share
}

// listReleases lists the releases in charging order, and allocates fields for their prices.
func (pl *Plan) listReleases() (list []release) {
	r := &pl.rules
	pl.prices = prices{}
	switch {
	case r.sharesAlone:
		return []release{{label: pl.classesLabel(), share: 1, price: &pl.prices.classes}}
	case pl.protectsLabel() && !r.picks:
		if list = []release{{label: labelsLabel, share: 1 - r.classesShare, price: &pl.prices.labels}}; r.classesShare > 0 {
			list = slices.Insert(list, 0, release{label: pl.classesLabel(), share: r.classesShare, price: &pl.prices.classes})
		}
		return list
	}
	rest := 1 - pl.counts.share - r.calibrationShare - r.classesShare // for the rounds
	add := func(label string, share float64, to *guard.Share) {
		if share > 0 {
			list = append(list, release{label: label, share: share * r.totalShare() / rest, price: to})
		}
	}
	if add(pl.classesLabel(), r.classesShare, &pl.prices.classes); len(list) > 0 {
		list[0].pure = !pl.isMulticlass() // rounds may then yet be so
	}
	add(countsLabel, pl.counts.share, &pl.prices.counts)
	list = append(list, pl.listRounds()...)
	if r.weightShare > 0 {
		pl.prices.weights = make([]guard.Share, r.rounds)
		for t := range pl.prices.weights {
			list = append(list, release{label: weightLabel(t), share: r.weightShare / float64(r.rounds), price: &pl.prices.weights[t]})
		}
	}
	label := calibrationLabel
	if pl.isMulticlass() {
		label = stretchLabel
	}
	add(label, r.calibrationShare, &pl.prices.calibration)
	return list
}

func (pl *Plan) listRounds() (list []release) {
	r := &pl.rules
	pl.prices.picks, pl.prices.cells = make([]guard.Share, r.rounds), make([]guard.Share, r.rounds)
	for t := range r.rounds {
		round := r.roundShare(t)
		if r.picks {
			list = append(list, release{pickLabel(t), true, true, round * pickShare, &pl.prices.picks[t]})
			round *= 1 - pickShare
		}
		list = append(list, release{label: cellsLabel(t), share: round, price: &pl.prices.cells[t]})
	}
	return list
}

// writeBill divides the price. Each release is charged exactly the part for which its noise is scaled (1.6).
func (pl *Plan) writeBill() error {
	list := pl.listReleases()
	switch {
	case pl.NotPrivate:
		return nil
	case !pl.rules.gaussian:
		return billReleases(pl, list, pl.Epsilon, epsilonShare)
	}
	if err := guard.CheckDelta("additive", pl.Delta, pl.Rows); err != nil {
		return err
	}
	n := dp.Rho(len(list)) // a selection counts as a Gaussian release, and is within the part that it is given
	all, err := accounting.Afford(pl.Terms().Price, dp.MaxRho-n, func(all dp.Rho) []dp.Event {
		return slices.Repeat([]dp.Event{guard.Share{Rho: all/n + 1}.Line(cellsLabel(0))}, len(list))
	})
	if err != nil {
		return err
	}
	return billReleases(pl, list, all, rhoShare)
}

// Terms returns the bill of one Fit, in charging order.
func (pl *Plan) Terms() guard.Terms {
	return guard.Terms{Op: "additive", Scope: pl.scope, Price: dp.Price{Epsilon: pl.Epsilon, Delta: pl.Delta},
		Bill: slices.Clone(pl.bill), NotPrivate: pl.NotPrivate}
}

func epsilonShare(eps dp.Epsilon) guard.Share { return guard.Share{Epsilon: eps} }
func rhoShare(rho dp.Rho) guard.Share         { return guard.Share{Rho: rho} }

// billReleases gives every release its part of all, and writes the bill.
func billReleases[N dp.Epsilon | dp.Rho](pl *Plan, list []release, all N, toPrice func(N) guard.Share) error {
	if err := shareOut(all, list, toPrice); err != nil {
		return err
	}
	pl.bill = nil
	for _, r := range list {
		line := r.price.Line(r.label)
		if r.choice {
			line = r.price.ChoiceLine(r.label)
		}
		pl.bill = append(pl.bill, line)
	}
	return nil
}

// shareOut gives every release its part of all.
func shareOut[N dp.Epsilon | dp.Rho](all N, list []release, toPrice func(N) guard.Share) error {
	parts, err := dividePrice(all, list)
	if err != nil {
		return err
	}
	for i, r := range list {
		if *r.price = toPrice(parts[i]); r.pure {
			*r.price = r.price.Pure()
		}
	}
	return nil
}

// dividePrice divides a price in proportion to the shares of releases, in whole units that add up to
// it. The remainder of rounding goes to the last.
func dividePrice[N dp.Epsilon | dp.Rho](all N, list []release) ([]N, error) {
	sum := 0.0
	for _, r := range list {
		sum += r.share
	}
	out := make([]N, len(list))
	left := all
	for i, r := range list {
		out[i] = N(float64(all) * (r.share / sum))
		if i == len(list)-1 {
			out[i] = left
		}
		if out[i] < 1 || out[i] > left {
			want := fmt.Sprintf("must give each of %d releases at least the smallest unit of price", len(list))
			return nil, refuseParam("epsilon", want, all, "")
		}
		left -= out[i]
	}
	return out, nil
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
