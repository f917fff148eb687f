// SPDX-License-Identifier: Apache-2.0

package brc

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/mistakes"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// ClassWeights determines the weight of a row of each class before any round.
type ClassWeights string

const (
	// AutoWeights is Balanced if the label is public, where that costs nothing, unless the schema declares
	// weights. Otherwise, and with Sensitivity Paper, it is Declared.
	AutoWeights ClassWeights = "auto"
	// Declared uses the weights that the schema declares for the label; without any, all rows have
	// equal weight, as in the paper.
	Declared ClassWeights = "declared"
	// Balanced gives both classes the same total weight. Their shares come from a public label, from
	// labeldp's classifier or from a declared share; if none of these is available, they are released
	// at a price.
	Balanced ClassWeights = "balanced"
)

// classUnits is the weight of a row of the heavier class, before any round.
const classUnits = mistakes.ClassUnits

// leastShare is the smallest share of a class that Balanced accepts, unless it comes from a public
// label.
const leastShare = 0.01

// classUnit holds a weight of each class by label code; the larger one is classUnits.
type classUnit [2]int64

// evenUnits give every row the same weight.
var evenUnits = classUnit{classUnits, classUnits}

// unitsOf rounds weights, at least one of which is positive, to units.
func unitsOf(weights []float64) (u classUnit) {
	most := slices.Max(weights)
	for code := range u {
		u[code] = max(1, int64(math.RoundToEven(classUnits*weights[code]/most)))
	}
	return u
}

// balancedUnits returns weights inversely proportional to the classes' shares. A class without rows
// needs no weight.
func balancedUnits(s *schema.Schema, positive float64) classUnit {
	if !(positive > 0 && positive < 1) {
		return evenUnits
	}
	weights := []float64{positive, positive}
	weights[s.Label.Positive] = 1 - positive
	return unitsOf(weights)
}

// weighsClasses reports whether rows of the two classes may have different weights.
func (pl *Plan) weighsClasses() bool { return pl.ClassWeights == Balanced || pl.s.Label.Weights != nil }

// paysForShares reports whether the classes' shares are released for a part of ε.
func (pl *Plan) paysForShares() bool {
	return pl.ClassWeights == Balanced && pl.scope == dp.WholeRow && pl.Positives == 0
}

const sharesLabel = "share of the positive class"

// weighClasses gives the rows of both sides the weights of their classes, and returns them.
func (pl *Plan) weighClasses(g *guard.Guard, rows *mistakes.Rows, pub *publicSide) (classUnit, error) {
	u, err := pl.unitsOfClasses(g, rows, pub)
	if err != nil {
		return u, err
	}
	if pub != nil {
		pub.weighClasses(u)
	}
	return u, rows.WeighClasses(u)
}

// unitsOfClasses returns the weights of the classes. Only the last case uses protected rows, and pays
// for it.
func (pl *Plan) unitsOfClasses(g *guard.Guard, rows *mistakes.Rows, pub *publicSide) (classUnit, error) {
	switch {
	case pl.ClassWeights == Declared && pl.s.Label.Weights != nil:
		return unitsOf(pl.s.Label.Weights), nil
	case pl.ClassWeights == Declared:
		return evenUnits, nil
	case pl.scope == dp.PrivateFeatures && pub != nil:
		return balancedUnits(pl.s, pub.shareOfPositives()), nil
	case pl.scope == dp.PrivateFeatures:
		share, err := pl.countPositives(g)
		return balancedUnits(pl.s, share), err
	case pub != nil:
		return balancedUnits(pl.s, believable(pub.shareOfPositives())), nil
	case pl.Positives != 0:
		return balancedUnits(pl.s, pl.Positives), nil
	}
	share, err := rows.Share(sharesLabel, pl.share)
	return balancedUnits(pl.s, believable(share)), err
}

func believable(share float64) float64 { return min(1-leastShare, max(leastShare, share)) }

// countPositives returns the share of rows whose public label is positive.
func (pl *Plan) countPositives(g *guard.Guard) (float64, error) {
	all, err := g.Groups(nil)
	if err != nil {
		return 0, err
	}
	classes, err := all.Classes()
	if err != nil {
		return 0, err
	}
	p := publicSide{weights: classes, positive: pl.s.Label.Positive}
	return p.shareOfPositives(), nil
}

// shareOfPositives is the positive share among the rows of the public side, before any round.
func (p *publicSide) shareOfPositives() float64 {
	pos, neg := p.weightsOfClasses()
	return pos / (pos + neg)
}

// weightsOfClasses adds up the weights.
func (p *publicSide) weightsOfClasses() (pos, neg float64) {
	for i := range p.weights[p.positive] {
		pos += p.weights[p.positive][i]
		neg += p.weights[1-p.positive][i]
	}
	return pos, neg
}

// weighClasses multiplies every row's weight by that of its class.
func (p *publicSide) weighClasses(u classUnit) {
	for code := range u {
		for i := range p.weights[code] {
			p.weights[code][i] *= float64(u[code]) / classUnits
		}
	}
}

// checkClasses checks the choice of class weights, and the declared share.
func (p Params) checkClasses(s *schema.Schema) error {
	bad := func(param, want string, got any) error {
		return &dp.ParamError{Op: "brc", Param: param, Want: want, Got: got}
	}
	w := s.Label.Weights
	switch {
	case p.ClassWeights != AutoWeights && p.ClassWeights != Declared && p.ClassWeights != Balanced:
		return bad("class-weights", `must be "auto", "declared" or "balanced"`, p.ClassWeights)
	case p.ClassWeights == Balanced && w != nil:
		return bad("class-weights", `must be "declared", since the schema declares weights of classes`, p.ClassWeights)
	case p.Positives != 0 && !(p.Positives >= leastShare && p.Positives <= 1-leastShare):
		return bad("positives", fmt.Sprintf("must be from %g to %g, or 0 if the share is not known", leastShare,
			1-leastShare), p.Positives)
	case w != nil && slices.Max(w) > classUnits*slices.Min(w):
		return bad("weights", fmt.Sprintf("must be at most %d times as large for one class as for the other", classUnits), w)
	case p.Sensitivity == Paper && (w != nil || p.ClassWeights == Balanced):
		return bad("sensitivity", `must be "tight" where classes are weighed: the paper's rows begin alike`, p.Sensitivity)
	}
	return nil
}

// heavier returns the weight of a row of the heavier class relative to the other, and the heavier
// class's share of the rows, from public choices alone: 0 if unknown.
func (pl *Plan) heavier() (ratio, share float64) {
	positive := pl.Positives
	w := pl.s.Label.Weights
	switch {
	case w == nil && pl.ClassWeights == Declared:
		return 1, positive
	case w == nil && positive == 0:
		return 0, 0
	case w == nil:
		least := min(positive, 1-positive)
		return (1 - least) / least, least
	case positive == 0:
	case w[pl.s.Label.Positive] == slices.Max(w):
		share = positive
	default:
		share = 1 - positive
	}
	return slices.Max(w) / slices.Min(w), share
}

// countedRows is the number of rows of the heavier class with the same noise as n rows of the table; 0
// if public choices do not determine it.
func (pl *Plan) countedRows(n float64) float64 {
	ratio, share := pl.heavier()
	switch {
	case ratio == 0:
		return 0
	case pl.scope == dp.PrivateFeatures && share != 0: // labels stay, and so do their weights
		return n * (share + (1-share)/ratio)
	}
	return n / ratio
}

// balance states what public choices imply about the balance of the weighted classes.
type balance int

const (
	unknown balance = iota
	known           // about equal
	uneven
)

// aboutEqual is the smallest weighted share of the lighter class that counts as balanced: a constant
// answer then has an edge of at most a tenth.
const aboutEqual = 0.4

// describeBalance describes the weights of the classes and their effect on the rounds.
func (pl *Plan) describeBalance() (learn.Fact, balance) {
	how := func(value any, text string) learn.Fact { return learn.Fact{Key: "balance", Value: value, Text: text} }
	if pl.ClassWeights == Balanced {
		by := "by the public label, which costs nothing; the noise is as for twice the rows of the rarer class"
		switch {
		case pl.paysForShares():
			by = fmt.Sprintf("by their shares, released for ε = %s", pl.share)
		case pl.labels != nil:
			by = "by the public classifier's own release"
		case pl.scope == dp.WholeRow:
			by = "by the declared share"
		}
		return how("weights", "rows are weighed so that both classes weigh the same, "+by+". Mistakes about "+
			"either class count alike, so that accuracy may be below that of the frequent class alone; with the linear "+
			"output probabilities are of the classes as they are, and the positive class is predicted from its share on"), known
	}
	ask := "weigh both alike (class-weights balanced, " + pl.describeBalancePrice() + ")"
	ratio, share := pl.heavier()
	if share == 0 {
		return how(nil, "the paper balances the classes. If one is rare, every classifier errs on few rows, and "+
			"the model may always predict the frequent class. Declare the rarer one's share (positives), "+ask+
			", or take the default learner"), unknown
	}
	least := ratio * share / (ratio*share + 1 - share)
	least = min(least, 1-least)
	if least >= aboutEqual {
		return how(least, fmt.Sprintf("the lighter class makes %.3g of the rows as they are weighed", least)), known
	}
	return how(least, fmt.Sprintf("the lighter class makes %.3g of the rows as they are weighed: the frequent class "+
		"alone errs as rarely as that, and random classifiers seldom less; %s, balance the rows, or take the default learner",
		least, ask)), uneven
}

// describeBalancePrice says what Balanced would cost in place of Declared.
func (pl *Plan) describeBalancePrice() string {
	asked := *pl
	asked.ClassWeights = Balanced
	if !asked.paysForShares() {
		return "which costs nothing"
	}
	asked.bill = nil
	if asked.splitEpsilon() != nil {
		return "for a part of ε"
	}
	return fmt.Sprintf("for ε = %s of the price", asked.share)
}
