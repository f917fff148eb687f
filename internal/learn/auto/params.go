// SPDX-License-Identifier: Apache-2.0

package auto

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/additive"
	"github.com/discreet-dp/discreet/internal/learn/grids"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Params are the public choices behind one fit.
type Params struct {
	Epsilon    dp.Epsilon // ε of the whole fit; no default
	Delta      dp.Delta   // δ likewise; 0 for a pure guarantee
	NotPrivate bool       // no noise at all, for comparison; Epsilon must then be 0
	// Rows is the number of rows that the rules reckon with, as additive's and grids'. It
	// moves no noise scale, so a wrong number costs accuracy and never privacy.
	Rows int
}

const (
	firstShare  = 0.05 // of ε, for the first fit
	choiceShare = 0.05 // of ε, for the choice
	// leastSignal is how many rows times ε the question needs; under replace-one, where
	// scores move twice as far, twice as many.
	leastSignal  = 20_000
	mostProducts = 2000
	fewProducts  = 300
	mostVisits   = 400_000_000 // of rows, by all products
	// From gridSignal rows times ε on grids is taken unasked if a label of several
	// classes is told by numbers, under add-remove with a δ.
	gridSignal = 2_000
)

// Plan is a checked Params with the bill of a fit that asks. It holds no data.
type Plan struct {
	Params
	s        *schema.Schema
	rows     int // what the rules reckon with
	scope    dp.Scope
	first    *additive.Plan
	choice   dp.Epsilon
	products int // to choose from
	additive *additive.Plan
	grids    *grids.Plan
	bill     []dp.Event
}

// additivePlan is the plan of a fit that does not ask.
type additivePlan struct {
	*additive.Plan
	why string
}

// gridsPlan is the plan of a fit of grids that does not ask either.
type gridsPlan struct{ *grids.Plan }

// Plan checks p against the public schema and prices one fit. rows is the number of
// rows if that is public or declared, else 0.
func (p Params) Plan(s *schema.Schema, rows int) (learn.Plan, error) {
	alone, err := p.planAdditive(s, rows, p.Epsilon)
	if err != nil {
		return nil, err
	}
	pl := &Plan{Params: p, s: s, rows: cmp.Or(p.Rows, rows), scope: dp.WholeRow}
	if pl.takesGrids() {
		g, err := p.planGrids(s, rows, p.Epsilon)
		if err != nil || g.Delta > 0 || p.NotPrivate {
			return &gridsPlan{g}, err
		} // else Laplace noise is the quieter, and the rule is for Gaussian noise
	}
	if why := pl.refuseToAsk(); why != "" {
		return &additivePlan{alone, why}, nil
	}
	if s.Relation == dp.ReplaceOne && s.Label.Role != schema.Private {
		pl.scope = dp.PrivateFeatures
	}
	if err := pl.divide(rows); err != nil {
		return nil, err
	}
	return pl, nil
}

func (p Params) planAdditive(s *schema.Schema, rows int, eps dp.Epsilon) (*additive.Plan, error) {
	return additive.Params{Epsilon: eps, Delta: p.Delta, NotPrivate: p.NotPrivate, Rows: p.Rows}.Plan(s, rows)
}

func (p Params) planGrids(s *schema.Schema, rows int, eps dp.Epsilon) (*grids.Plan, error) {
	return grids.Params{Epsilon: eps, Delta: p.Delta, NotPrivate: p.NotPrivate, Rows: p.Rows}.Plan(s, rows)
}

// takesGrids reports whether grids is taken unasked, by public things alone: without privacy, and for
// tables of the kinds on which evidence/decisions/0008-auto.md has it ahead.
func (pl *Plan) takesGrids() bool {
	if pl.declares() != "" || grids.CountColumns(pl.s) < 2 {
		return false
	}
	return pl.NotPrivate || pl.Delta > 0 && pl.s.Classes() > 2 && pl.s.Relation == dp.AddRemove &&
		mostlyNumbers(pl.s) && pl.signal() >= gridSignal
}

// mostlyNumbers reports whether two columns or more, and at least half of them, are numbers.
func mostlyNumbers(s *schema.Schema) bool {
	numbers := 0
	for _, j := range s.Features() {
		if s.Columns[j].Kind == schema.Number {
			numbers++
		}
	}
	return numbers > 1 && 2*numbers >= len(s.Features())
}

// signal is how many rows times ε there are.
func (pl *Plan) signal() float64 { return float64(pl.rows) * pl.Epsilon.Float() }

// declares is what the schema declares that grids refuses; "" for nothing.
func (pl *Plan) declares() string {
	s := pl.s
	following := func(c schema.Column) bool { return c.Role != schema.Ignored && c.Monotone != schema.Free }
	switch {
	case s.Person != nil:
		return "persons"
	case len(s.Pairs) > 0:
		return "pairs"
	case s.Label.RowWeights() != nil:
		return "weights"
	case slices.ContainsFunc(s.Columns, following):
		return "monotone columns"
	}
	return ""
}

// refuseToAsk says, by public things alone, why the question is not asked; "" if it
// is.
func (pl *Plan) refuseToAsk() string {
	s := pl.s
	need := leastSignal
	if s.Relation == dp.ReplaceOne {
		need *= 2
	}
	switch why := pl.declares(); {
	case why != "":
		return "the schema declares " + why
	case grids.CountColumns(s) < 2:
		return "fewer than two columns can be cut"
	case s.Relation == dp.ReplaceOne && s.Label.Role == schema.Private && len(s.ByRole(schema.Public)) > 0:
		return "the label is private beside public columns"
	case pl.rows == 0:
		return "no number of rows was given"
	case pl.signal() < float64(need):
		return fmt.Sprintf("%d rows times ε = %s is below %d", pl.rows, pl.Epsilon, need)
	}
	return ""
}

// divide splits the price. A δ is spent by the fit that is chosen alone (1.4).
func (pl *Plan) divide(rows int) (err error) {
	pl.products = min(max(fewProducts, mostVisits/pl.rows), mostProducts)
	share := dp.Epsilon(firstShare * float64(pl.Epsilon))
	pl.choice = dp.Epsilon(choiceShare * float64(pl.Epsilon))
	rest := pl.Epsilon - share - pl.choice
	first := Params{Rows: pl.Rows} // without a δ
	if pl.first, err = first.planAdditive(pl.s, rows, share); err != nil {
		return err
	}
	// Its rounds, passes and bins are those of the whole price: no one loses a pass to the
	// question. What the rules reckon with moves no noise scale.
	last := pl.Params
	last.Rows = int(float64(pl.rows) * float64(pl.Epsilon) / float64(rest))
	if pl.additive, err = last.planAdditive(pl.s, rows, rest); err != nil {
		return err
	}
	if pl.grids, err = pl.planGrids(pl.s, rows, rest); err != nil {
		return err
	}
	pl.Delta = max(pl.additive.Delta, pl.grids.Delta)
	line := dp.Event{Release: lastLabel, Mechanism: "additive or grids", Epsilon: rest, Delta: pl.Delta}
	pl.bill = append(pl.first.Terms().Bill,
		guard.Share{Epsilon: pl.choice}.ChoiceLine(choiceLabel), line)
	return nil
}

// Labels of lines of the bill.
const (
	choiceLabel = "additive, or columns that interact"
	lastLabel   = "the fit that was chosen"
)

// Terms are what one Fit pays. The last line of the bill is the price of the fit that was chosen,
// whatever that measures.
func (pl *Plan) Terms() guard.Terms {
	return guard.Terms{Op: "auto", Scope: pl.scope, Price: dp.Price{Epsilon: pl.Epsilon, Delta: pl.Delta},
		Bill: slices.Clone(pl.bill)}
}
