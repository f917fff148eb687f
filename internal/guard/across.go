// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine"
)

// Remote measures sums over rows at several sites, each behind its own guard. It sees no row either,
// because its results contain the noise of the sites.
type Remote interface {
	// Honest returns the number of sites whose noise is sufficient.
	Honest() int
	// Asked returns the last question to the table.
	Asked() any
	// Add returns the sum of the sites' contributions to a measurement, and the number of sites in it.
	Add(label string, s Share, forms []Form, like Answers) (sums []mech.Whole, from int, err error)
}

// Answers are what the contributions to a measurement are like.
type Answers struct {
	Numbers int
	noise   mech.Shared
	moves   Moves
}

// mostUnits is more rows than all sites have, and noise adds less to a number at the smallest ε.
const mostUnits = 1 << 50

// Check refuses a contribution, or a sum of some, with numbers that no rows make.
func (a Answers) Check(sums []mech.Whole) error {
	if len(sums) != a.Numbers {
		return fmt.Errorf("guard: %d numbers must be answered (%d)", a.Numbers, len(sums))
	}
	for _, x := range a.noise.Floats(sums) {
		if !(math.Abs(x) <= mostUnits*a.moves.L1) {
			return fmt.Errorf("guard: the numbers of an answer must be in the range of sums over rows")
		}
	}
	return nil
}

// Form describes how a Sum is computed from the answer to a question, so that a site's guard can
// compute its own part.
type Form struct {
	Asked any // as stored by the Remote
	View  View
	Part  int   // for Part, Class and Rows
	Runs  []int // for AllClasses: the run of each bin
}

// View names a method that makes a Sum.
type View string

// The views.
const (
	CellsPart   View = "cells"
	ClassPart   View = "classes of a column"
	AllOfClass  View = "classes"
	OneClass    View = "class"
	ClassesOnce View = "rows whatever the class, and by runs"
	RowsPart    View = "rows whatever the class"
	SlopeView   View = "slope"
)

// OpenAcross returns a guard for a learner whose rows are at sites. Each site charges its own account
// for t; this guard enforces the same bill. tab answers no question about rows.
func OpenAcross(ctx context.Context, t Terms, tab engine.Table, r Remote) (*Guard, error) {
	if err := CheckAcross(t); err != nil {
		return nil, err
	}
	g, err := openGuard(t, tab, mech.NewExit(rng.System()), true, r)
	if err != nil {
		return nil, err
	}
	if err := CheckDelta(t.Op, t.Price.Delta, g.Units()); err != nil {
		return nil, err
	}
	g.until(ctx)
	return g, nil
}

// TrainAcross opens a guard for rows at sites and fits p, as Train does.
func TrainAcross[M interface{ Stated() dp.Statement }](ctx context.Context, p Plan[M], tab engine.Table, r Remote) (none M, err error) {
	g, err := OpenAcross(ctx, p.Terms(), tab, r)
	if err != nil {
		return none, err
	}
	return fit(p, g)
}

// CheckAcross refuses a training that sites cannot answer: they add up noisy numbers, select nothing
// and show nothing exactly.
func CheckAcross(t Terms) error {
	refuse := func(param, want string, got any) error {
		return &dp.ParamError{Op: t.Op, Param: param, Want: want, Got: got}
	}
	switch {
	case t.NotPrivate:
		return refuse("privacy", "must be given across sites", "none")
	case t.Scope != dp.WholeRow:
		return refuse("scope", "must be the whole row across sites: declare every column and the label private", string(t.Scope))
	}
	for _, e := range t.Bill {
		if e.Mechanism != (mech.Laplace{}).Name() && e.Mechanism != (mech.Gaussian{}).Name() {
			return refuse("release "+e.Release, "must be a sum with noise across sites, which cannot select", e.Mechanism)
		}
	}
	return nil
}

// formed records how s is computed from the last question.
func (s *Sum) formed(asked any, v View, part int, runs []int) *Sum {
	s.forms = []Form{{asked, v, part, runs}}
	return s
}

// asked returns the last question if rows are at sites.
func (g *core) asked() any {
	if g.remote == nil {
		return nil
	}
	return g.remote.Asked()
}

// refuseRemote refuses operations that sites do not support.
func (g *core) refuseRemote(what string) error {
	if g.remote == nil {
		return nil
	}
	return fmt.Errorf("guard: %s cannot be asked across sites", what)
}

// shared returns the noise that holders share for s.
func (s Share) shared(sum *Sum, honest int) (mech.Shared, error) {
	if s.Rho > 0 {
		return mech.SharedGaussian(s.Rho, sum.moves.L2, len(sum.values()), honest)
	}
	if s.Gamma {
		return mech.Shared{}, fmt.Errorf("guard: noise of this form cannot be shared")
	}
	return mech.SharedLaplace(s.Epsilon, sum.moves.L1, len(sum.values()), honest)
}

// measureAcross is Measure for rows at sites.
func (g *core) measureAcross(label string, share Share, s *Sum) (Noisy, error) {
	if len(s.forms) == 0 {
		return Noisy{}, g.refuseRemote(label)
	}
	honest := g.remote.Honest()
	m, err := share.shared(s, honest)
	if err != nil {
		return Noisy{}, err
	}
	if err := g.spend(label, m.Name(), share, func(*mech.Exit) {}); err != nil {
		return Noisy{}, err
	}
	like := Answers{len(s.values()), m, s.moves}
	sums, all, err := g.remote.Add(label, share, s.forms, like)
	if err == nil {
		err = like.Check(sums)
	}
	if err != nil {
		return Noisy{}, err
	}
	out := m.Floats(sums)
	if s.reversed {
		slices.Reverse(out)
	}
	return Noisy{out, share.Variance(s.moves) * (float64(all) / float64(honest)), share.Rho > 0}, nil
}

// Contribute is Measure for one of several sites: it returns s with a share of the noise, of which the
// shares of honest sites are sufficient. It may be released only as a part of the sites' sum
// (G-SITES-1).
func (i Inside) Contribute(label string, share Share, s *Sum, honest int) ([]mech.Whole, error) {
	g := i.g
	if s.of != g || !g.private {
		return nil, fmt.Errorf("guard: %s must be measured by the guard that summed it", label)
	}
	m, err := share.shared(s, honest)
	if err != nil {
		return nil, err
	}
	var out []mech.Whole
	err = g.spend(label, m.Name(), share, func(exit *mech.Exit) {
		out = exit.Share(label, m, s.values()...) // 2.2: rows meet noise
	})
	return out, err
}

// Forgo pays for a contribution that was made before this guard was opened.
func (i Inside) Forgo(label string, share Share) error {
	return i.g.spend(label, share.Line(label).Mechanism, share, func(*mech.Exit) {})
}
