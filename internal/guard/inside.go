// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard/internal/inside"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Inside is a guard's table and exit, for measurements that are not bounded sums. The package that
// makes such a measurement must prove its sensitivity; the price is enforced here.
type Inside struct{ g *core }

// Inside panics without a pass, which only packages below this one can take.
func (g *Guard) Inside(p inside.Pass) Inside {
	if !p.Opens() {
		panic("guard: a pass must be taken where the compiler allows it")
	}
	return Inside{g.core}
}

// OneRow returns the table. It fails if a unit of privacy may have more than one row.
func (i Inside) OneRow() (engine.Table, error) {
	r := i.g.read()
	if r.table().Persons() != nil || r.weighed() {
		return nil, fmt.Errorf("guard: one row of each person must be drawn before rows are measured one by one")
	}
	return r.table(), nil
}

// Space returns the features of the same columns, with the bounds of the guard's own schema.
func (i Inside) Space(sp *feature.Space) (*feature.Space, error) {
	columns := slices.Clone(sp.Columns)
	if err := feature.CheckColumns(i.g.schema(), columns); err != nil {
		return nil, err
	}
	return feature.NewSpace(i.g.schema(), sp.Encoding, columns)
}

// Context ends when the training is to end. It must be the only context that code with rows asks.
func (i Inside) Context() context.Context { return i.g.context() }

// Until lets later questions end with ctx, instead of what they would have ended with before.
func (i Inside) Until(ctx context.Context) (stop context.CancelFunc) {
	return i.g.until(ctx)
}

// Schema is what was sealed when the guard was opened. It must not be changed or handed out.
func (i Inside) Schema() *schema.Schema { return i.g.schema() }

// Relation is that of the schema when the guard was opened.
func (i Inside) Relation() dp.Relation { return i.g.relation() }

// LabelProtected reports whether a neighbour may differ in the label of a row.
func (i Inside) LabelProtected() bool { return i.g.protects.label }

// Release releases values with the noise of m, for the price of m. Before any noise is drawn, it
// refuses a price that exceeds the purse or does not match the training. Without privacy only
// mech.NoNoise is allowed.
func (i Inside) Release(label string, m mech.Mechanism, values ...mech.Ratio) ([]float64, error) {
	s := Share{Epsilon: m.Loss()}
	if g, ok := m.(interface{ Rho() dp.Rho }); ok {
		s = Share{Rho: g.Rho()}
	}
	if err := i.checkNoise(label, m); err != nil {
		return nil, err
	}
	var out []float64
	err := i.g.spend(label, m.Name(), s, func(exit *mech.Exit) { out = exit.Release(label, m, values...) }) // rows meet noise
	return out, err
}

// Select releases the index of a high score, for the price of m, as Release does.
func (i Inside) Select(label string, m mech.Selector, scores []mech.Ratio) (int, error) {
	if len(scores) == 0 {
		return 0, fmt.Errorf("guard: %s must be selected among at least one candidate", label)
	}
	if err := i.checkNoise(label, m); err != nil {
		return 0, err
	}
	chosen := 0
	err := i.g.spend(label, m.Name(), Share{Epsilon: m.Loss()}, func(exit *mech.Exit) {
		chosen = exit.Select(label, m, scores) // rows meet noise
	})
	return chosen, err
}

func (i Inside) checkNoise(label string, m interface{ Name() string }) error {
	if _, exact := m.(mech.NoNoise); exact == i.g.private {
		return fmt.Errorf("guard: %s by %q must have noise with privacy, and none without", label, m.Name())
	}
	return nil
}

// SpendAll returns the exit itself, for inner trainings whose joint price is bounded by their own
// proof. It spends all that is left of the price.
func (i Inside) SpendAll() *mech.Exit {
	i.g.mu.Lock()
	defer i.g.mu.Unlock()
	i.g.purse = &listPurse{whole: whole{i.g.terms.Op}}
	return i.g.exit()
}
