// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/guard/internal/inside"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine"
)

// Remote answers measurements of sums over rows that lie at several sites, each behind a guard of its
// own. It sees no row either: what it returns has the noise of the sites.
type Remote interface {
	// Honest is the number of sites whose noise is enough, of so many.
	Honest() (enough, of int)
	// Asked is the question that the table was asked last.
	Asked() any
	// Add is the sum of what the sites contribute to a measurement.
	Add(label string, s Share, forms []Form) ([]mech.Whole, error)
}

// Form is how a Sum follows from the answer to a question: a site's guard forms its own by it.
type Form struct {
	Asked any // as the Remote remembers it
	View  View
	Part  int   // of Part, Class and Rows
	Runs  []int // of AllClasses: the run of each bin
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

// OpenAcross returns a guard of a learner whose rows lie at sites. Each site charges its own account
// for t; this guard keeps to what they will answer. tab answers no question about rows.
func OpenAcross(t Terms, tab engine.Table, r Remote) (*Guard, error) {
	g := newGuard(t, tab, inside.Seal(mech.NewExit(rng.System())))
	g.counted, g.remote = true, r
	if err := CheckAcross(t); err != nil {
		return nil, err
	}
	if err := g.setPurse(t); err != nil {
		return nil, err
	}
	return g, CheckDelta(t.Op, t.Price.Delta, g.Units())
}

// TrainAcross opens a guard of rows at sites for p, and fits it, as Train does.
func TrainAcross[M interface{ Stated() dp.Statement }](ctx context.Context, p Plan[M], tab engine.Table, r Remote) (none M, err error) {
	g, err := OpenAcross(p.Terms(), tab, r)
	if err != nil {
		return none, err
	}
	return fit(ctx, p, g)
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

// formed notes how s follows from the question that was asked last.
func (s *Sum) formed(asked any, v View, part int, runs []int) *Sum {
	s.forms = []Form{{asked, v, part, runs}}
	return s
}

// asked is the last question, if rows lie at sites.
func (g *Guard) asked() any {
	if g.remote == nil {
		return nil
	}
	return g.remote.Asked()
}

// refuseRemote refuses what sites do not answer.
func (g *Guard) refuseRemote(what string) error {
	if g.remote == nil {
		return nil
	}
	return fmt.Errorf("guard: %s cannot be asked across sites", what)
}

// shared is the noise that holders share for s.
func (s Share) shared(sum *Sum, honest int) (mech.Shared, error) {
	if s.Rho > 0 {
		return mech.SharedGaussian(s.Rho, sum.moves.L2, len(sum.values()), honest)
	}
	if s.Gamma {
		return mech.Shared{}, fmt.Errorf("guard: noise of this form cannot be shared")
	}
	return mech.SharedLaplace(s.Epsilon, sum.moves.L1, len(sum.values()), honest)
}

// measureAcross is Measure if rows lie at sites.
func (g *Guard) measureAcross(label string, share Share, s *Sum) (Noisy, error) {
	if len(s.forms) == 0 {
		return Noisy{}, g.refuseRemote(label)
	}
	honest, all := g.remote.Honest()
	m, err := share.shared(s, honest)
	if err != nil {
		return Noisy{}, err
	}
	if err := g.purse.take(label, m.Name(), share); err != nil {
		return Noisy{}, err
	}
	sums, err := g.remote.Add(label, share, s.forms)
	if err != nil {
		return Noisy{}, err
	}
	if len(sums) != len(s.values()) {
		return Noisy{}, fmt.Errorf("guard: the sites must add up %d numbers for %s (%d)", len(s.values()), label, len(sums))
	}
	out := m.Floats(sums)
	if s.reversed {
		slices.Reverse(out)
	}
	return Noisy{out, share.Variance(s.moves) * (float64(all) / float64(honest)), share.Rho > 0}, nil
}

// Contribute is Measure for one site of several: s with a share of the noise, of which honest are
// enough. It may leave as a part of the sites' sum only (G-SITES-1).
func (i Inside) Contribute(label string, share Share, s *Sum, honest int) ([]mech.Whole, error) {
	g := i.g
	if s.of != g || !g.private {
		return nil, fmt.Errorf("guard: %s must be measured by the guard that summed it", label)
	}
	m, err := share.shared(s, honest)
	if err != nil {
		return nil, err
	}
	if err := g.purse.take(label, m.Name(), share); err != nil {
		return nil, err
	}
	return g.exit().Share(label, m, s.values()...), nil // 2.2: rows meet noise
}

// Forgo pays for a contribution that was made before this guard was opened.
func (i Inside) Forgo(label string, share Share) error {
	return i.g.purse.take(label, share.Line(label).Mechanism, share)
}
