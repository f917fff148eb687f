// SPDX-License-Identifier: Apache-2.0

package brc

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/mistakes"
	"github.com/discreet-dp/discreet/internal/learn/random"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Subroutine is the kind of private classifier in a round. The paper draws it at random and allows any
// other (section 1.2), at its own price.
type Subroutine string

const (
	// Random is a random linear classifier, which uses no row and is free.
	Random Subroutine = "random"
	// Stump tests one column: it is the threshold of a number or the level of a category with the
	// largest weighted edge, selected privately for half of the round's ε.
	Stump Subroutine = "stump"
	// Bayes is a naive Bayes classifier whose class distributions are drawn from a declared prior. It
	// uses no row and is free.
	Bayes Subroutine = "bayes"
	// Shape is a step function of one column, as in additive, with a random sign for each bin. It uses
	// no row and is free.
	Shape Subroutine = "shape"
)

// subroutine trains the private classifier of each round on weighted rows. Its classifiers come from a
// list that is drawn before any row is read, so that the rows are read once. A row's weight remains a
// function of its own cells and of the transcript, which includes the choices (lemma 2).
type subroutine interface {
	// listAll draws every classifier of every round.
	listAll(src guard.Coins) []feature.Threshold
	// rangeOf returns the classifiers that round t chooses from: list[from:to]. A single one costs
	// nothing; otherwise a selection is needed.
	rangeOf(t int) (from, to int)
}

func (p Params) selectsPrivately() bool {
	return p.Subroutine == Stump || p.Intercept == InterceptSelected
}

// newSubroutine depends on the schema and public choices alone (1.1).
func (pl *Plan) newSubroutine() subroutine {
	switch {
	case pl.Subroutine == Stump:
		return &stumps{all: allStumps(pl.private, pl.s, pl.Candidates)}
	case pl.Subroutine == Shape:
		return newShapes(pl)
	case pl.Subroutine == Bayes:
		return &drawn{pl.Rounds, func(src guard.Coins) feature.Threshold { return random.Bayes(src, pl.private, pl.s) }}
	case pl.Intercept == InterceptSelected:
		return &directions{pl.private, pl.Rounds, pl.Candidates}
	}
	return &drawn{pl.Rounds, func(src guard.Coins) feature.Threshold {
		return random.Threshold(src, pl.private, pl.Intercept == InterceptUniform)
	}}
}

// chooseClassifier returns the index of round t's classifier in the list.
func (pl *Plan) chooseClassifier(t int, sub subroutine, rows *mistakes.Rows) (int, error) {
	from, to := sub.rangeOf(t)
	if !pl.selectsPrivately() {
		return from, nil
	}
	return rows.Choose(pl.pickLabel(t), pl.shares[t].pick, from, to)
}

func (pl *Plan) pickLabel(t int) string {
	if pl.Subroutine == Stump {
		return fmt.Sprintf("stump of round %d", t+1)
	}
	return fmt.Sprintf("intercept of round %d", t+1)
}

// drawn makes one random classifier per round (Algorithm 2 line 5).
type drawn struct {
	rounds int
	draw   func(src guard.Coins) feature.Threshold
}

func (d *drawn) listAll(src guard.Coins) (all []feature.Threshold) {
	for range d.rounds {
		all = append(all, d.draw(src))
	}
	return all
}

func (d *drawn) rangeOf(t int) (from, to int) { return t, t + 1 }

// directions makes one random direction per round, with a grid of intercepts.
type directions struct {
	space      *feature.Space
	rounds     int
	candidates int
}

func (d *directions) listAll(src guard.Coins) (all []feature.Threshold) {
	for range d.rounds {
		h := random.Threshold(src, d.space, false)
		// The grid spans the scores the declared box allows in this direction.
		// Dividing everything by its half-width keeps coefficients in [-1, 1].
		reach := d.space.Reach(h.Coef)
		scale := 1.0
		if reach > 1 {
			scale = 1 / reach
		}
		for i := range h.Coef {
			h.Coef[i] *= scale
		}
		visitMiddles(d.candidates, func(at float64) {
			all = append(all, feature.Threshold{Coef: h.Coef, Bias: at * reach * scale})
		})
	}
	return all
}

func (d *directions) rangeOf(t int) (from, to int) { return t * d.candidates, (t + 1) * d.candidates }

// stumps are the same in every round, because they depend on the schema and not on the data.
type stumps struct{ all []feature.Threshold }

func (s *stumps) listAll(guard.Coins) []feature.Threshold { return s.all }
func (s *stumps) rangeOf(int) (from, to int)              { return 0, len(s.all) }

// allStumps returns the stumps of all columns.
func allStumps(sp *feature.Space, s *schema.Schema, candidates int) (all []feature.Threshold) {
	for k := range sp.Columns {
		all = append(all, stumpsOf(sp, s, k, candidates)...)
	}
	return all
}

// stumpsOf returns the stumps of column k: for a number, evenly spaced thresholds inside its declared
// bounds, ascending; for a category, one per code (one-hot) or one between neighbouring levels
// (ordinal).
func stumpsOf(sp *feature.Space, s *schema.Schema, k, candidates int) (all []feature.Threshold) {
	add := func(f int, at float64) {
		th := feature.Threshold{Coef: make([]float64, sp.Width()), Bias: -at}
		th.Coef[f] = 1
		all = append(all, th)
	}
	first, width := sp.Block(k)
	c := &s.Columns[sp.Columns[k]]
	switch {
	case c.Kind == schema.Number:
		visitMiddles(candidates, func(at float64) { add(first, at) })
	case sp.Encoding == feature.Ordinal:
		visitMiddles(len(c.Levels)-1, func(at float64) { add(first, at) })
	default:
		for f := first; f < first+width; f++ {
			add(f, 0.5)
		}
	}
	return all
}

// visitMiddles visits the middles of n equal parts of [-1, 1].
func visitMiddles(n int, visit func(at float64)) {
	for c := range n {
		visit(-1 + 2*(float64(c)+0.5)/float64(n))
	}
}
