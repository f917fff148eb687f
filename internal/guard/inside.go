// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/guard/internal/inside"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Inside is a guard's table and door of noise, for measurements that are no bounded sum. How far a
// neighbour moves a value is the claim of the package that has one; what it pays is kept here.
type Inside struct{ g *Guard }

// Inside panics without a pass, which packages below this one alone can take.
func (g *Guard) Inside(p inside.Pass) Inside {
	if !p.Opens() {
		panic("guard: a pass must be taken where the compiler allows it")
	}
	return Inside{g}
}

// OneRow is the table, in which a unit of privacy must have one row at most.
func (i Inside) OneRow() (engine.Table, error) {
	if i.g.table().Persons() != nil || i.g.most != 1 {
		return nil, fmt.Errorf("guard: one row of each person must be drawn before rows are measured one by one")
	}
	return i.g.table(), nil
}

// Space is the features of the same columns, as the guard's own schema bounds them.
func (i Inside) Space(sp *feature.Space) (*feature.Space, error) {
	for _, j := range sp.Columns {
		if err := i.g.checkColumn(j); err != nil {
			return nil, err
		}
	}
	return feature.NewSpace(i.g.Schema(), sp.Encoding, slices.Clone(sp.Columns))
}

// Relation is that of the schema when the guard was opened.
func (i Inside) Relation() dp.Relation { return i.g.relation }

// LabelProtected reports whether a neighbour may differ in the label of a row.
func (i Inside) LabelProtected() bool { return i.g.protects.label }

// Release lets values out with the noise of m, for the price of m. It refuses, before any noise is
// drawn, what the purse does not hold, and a price that is not that of the training: without privacy
// mech.NoNoise is let through alone.
func (i Inside) Release(label string, m mech.Mechanism, values ...mech.Ratio) ([]float64, error) {
	s := Share{Epsilon: m.Loss()}
	if g, ok := m.(interface{ Rho() dp.Rho }); ok {
		s = Share{Rho: g.Rho()}
	}
	_, exact := m.(mech.NoNoise)
	if err := i.pay(label, m.Name(), s, exact); err != nil {
		return nil, err
	}
	return i.g.exit().Release(label, m, values...), nil // rows meet noise
}

// Select lets the index of a high score out, for the price of m, as Release does.
func (i Inside) Select(label string, m mech.Selector, scores []mech.Ratio) (int, error) {
	if len(scores) == 0 {
		return 0, fmt.Errorf("guard: %s must be selected among at least one candidate", label)
	}
	_, exact := m.(mech.NoNoise)
	if err := i.pay(label, m.Name(), Share{Epsilon: m.Loss()}, exact); err != nil {
		return 0, err
	}
	return i.g.exit().Select(label, m, scores), nil // rows meet noise
}

func (i Inside) pay(label, mechanism string, s Share, exact bool) error {
	if exact == i.g.private {
		return fmt.Errorf("guard: %s by %q must have noise with privacy, and none without", label, mechanism)
	}
	return i.g.purse.take(label, mechanism, s)
}

// SpendAll is the door itself, for trainings inside whose joint price a proof of their own bounds. All
// that is left of the price is spent by it.
func (i Inside) SpendAll() *mech.Exit {
	i.g.purse = &listPurse{whole: whole{i.g.terms.Op}}
	return i.g.exit()
}
