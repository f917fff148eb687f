// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

// Learner is a learner that takes part in a comparison.
type Learner struct {
	Name    string // at most 16 characters, see plot.Series
	Private bool   // it has an ε; otherwise it trains without privacy
	// Plan makes the plan of a fit, with the given ε if Private. rows is 0 if the number of rows is
	// private. It is not called concurrently.
	Plan func(eps dp.Epsilon, s *schema.Schema, rows int) (learn.Plan, error)
}

// Options are the options of a comparison.
type Options struct {
	Learners []Learner    // 1 to 6 private ones, and up to 3 others
	Epsilons []dp.Epsilon // increasing, 1 to 20; each private learner is trained at each
	Repeats  int          // random splits, 1 to 1000
	HeldOut  float64      // share of held-out rows, in [0.01, 0.99]
	Seed     uint64       // of the splits; does not affect noise
	// Progress receives the number of finished fits and their total, one call at a time; may be nil.
	Progress func(done, total int)
}

const (
	maxEpsilons = 20
	maxRepeats  = 1000
)

// Check refuses what cannot be compared on any table of this schema.
func (o *Options) Check(s *schema.Schema) error {
	refuse := func(param, want string, got any) error {
		return &dp.ParamError{Op: "compare", Param: param, Want: want, Got: got}
	}
	private := 0
	for _, l := range o.Learners {
		if l.Private {
			private++
		}
	}
	switch {
	case private == 0:
		return &dp.ParamError{Op: "compare", Param: "learners", Want: "must name a private one", Hint: "for example additive"}
	case len(o.Epsilons) == 0 || len(o.Epsilons) > maxEpsilons:
		return refuse("epsilons", fmt.Sprintf("must be 1 to %d prices", maxEpsilons), len(o.Epsilons))
	case o.Repeats < 1 || o.Repeats > maxRepeats:
		return refuse("repeats", fmt.Sprintf("must be from 1 to %d", maxRepeats), o.Repeats)
	case !(o.HeldOut >= 0.01 && o.HeldOut <= 0.99):
		return refuse("held-out", "must be a share from 0.01 to 0.99", o.HeldOut)
	}
	for i, eps := range o.Epsilons {
		if eps <= 0 || i > 0 && eps <= o.Epsilons[i-1] {
			return refuse("epsilons", "must be > 0 and increasing", eps)
		}
	}
	for _, p := range o.listPoints() {
		if _, err := p.learner.Plan(p.Epsilon, s, 0); err != nil {
			return fmt.Errorf("compare: %s: %w", p.Learner, err)
		}
	}
	return o.tryCharts()
}

// tryCharts draws the charts with sample numbers, so that an error shows before hours of training.
func (o *Options) tryCharts() error {
	r := &Result{Options: o, Points: o.listPoints(), Train: 1, Test: 1}
	for _, p := range r.Points {
		half := 0.5
		for i := range o.Repeats {
			p.Accuracy[i], p.AUC[i] = half, &half
		}
	}
	return r.Chart(Accuracy).WriteText(io.Discard, 80, plot.Unicode)
}

// listPoints lists what each repeat measures: learners in order, ε ascending.
func (o *Options) listPoints() (out []*Point) {
	for i := range o.Learners {
		l := &o.Learners[i]
		epsilons := o.Epsilons
		if !l.Private {
			epsilons = []dp.Epsilon{0}
		}
		for _, eps := range epsilons {
			out = append(out, &Point{
				Learner: l.Name, Epsilon: eps, learner: l,
				Accuracy: make([]float64, o.Repeats), AUC: make([]*float64, o.Repeats),
			})
		}
	}
	return out
}
