// SPDX-License-Identifier: Apache-2.0

package auto

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/additive"
	"github.com/discreet-dp/discreet/internal/learn/grids"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Params are the public choices behind one fit.
type Params struct {
	Epsilon    dp.Epsilon // ε of the whole fit; no default
	Delta      dp.Delta   // δ of the whole fit; 0 for a pure guarantee
	NotPrivate bool       // without noise, for comparison; Epsilon must then be 0
	// Rows is the number of rows that the rules assume, as in additive and grids. It does not affect
	// the noise scale, so that a wrong number reduces accuracy and never privacy.
	Rows int
}

const (
	firstShare  = 0.05 // of ε, for the first fit
	choiceShare = 0.05 // of ε, for the choice
	// leastSignal is the smallest rows times ε for which the choice is made. Under replace-one, where
	// scores have twice the sensitivity, it is doubled.
	leastSignal  = 20_000
	mostProducts = 2000
	fewProducts  = 300
	mostVisits   = 400_000_000 // rows visited by all products
	// gridSignal is the rows times ε from which on grids is chosen without a test, if the label has
	// several classes and the columns are mostly numbers, under add-remove with a δ.
	gridSignal = 2_000
)

// Plan is a checked Params with the bill of a fit that tests for interactions. It holds no data.
type Plan struct {
	Params
	s        *schema.Schema
	rows     int // number assumed by the rules
	scope    dp.Scope
	first    *additive.Plan
	choice   dp.Epsilon
	products int // to choose from
	additive *additive.Plan
	grids    *grids.Plan
	bill     []dp.Event
}

// given is the plan of a learner that is trained without a test.
type given struct {
	learn.Plan
	why learn.Fact
}

// Plan checks p against the public schema and prices one fit. rows is the number of rows if it is
// public or declared, otherwise 0.
func (p Params) Plan(s *schema.Schema, rows int) (learn.Plan, error) {
	alone, err := p.planAdditive(s, rows, p.Epsilon)
	if err != nil {
		return nil, err
	}
	pl := &Plan{Params: p, s: s, rows: cmp.Or(p.Rows, rows), scope: dp.WholeRow}
	if pl.takesGrids() {
		g, err := p.planGrids(s, rows, p.Epsilon)
		if err != nil || g.Delta > 0 || p.NotPrivate {
			return &given{g, pl.sayGrids()}, err
		} // else Laplace noise is the quieter, and the rule is for Gaussian noise
	}
	if why := pl.refuseToAsk(); why != "" {
		return &given{alone, learn.Fact{Key: "interactions", Value: "not asked",
			Text: "additive: interactions of columns are not tested, because " + why}}, nil
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

// takesGrids reports whether grids is chosen without a test, by public facts alone: without privacy,
// and for the kinds of tables on which it is better in evidence/decisions/0008-auto.md.
func (pl *Plan) takesGrids() bool {
	if pl.declares() != "" || grids.CountColumns(pl.s) < 2 {
		return false
	}
	return pl.NotPrivate || pl.Delta > 0 && pl.s.Classes() > 2 && pl.s.Relation == dp.AddRemove &&
		mostlyNumbers(pl.s) && pl.signal() >= gridSignal
}

// sayGrids says why grids was chosen without a test.
func (pl *Plan) sayGrids() learn.Fact {
	why := "nothing is private"
	if !pl.NotPrivate {
		why = fmt.Sprintf("the label has more than two classes, rows are added or removed, a δ is given, numbers are at "+
			"least half of the columns and rows times ε are at least %d", gridSignal)
	}
	return learn.Fact{Key: "interactions", Value: "taken for granted",
		Text: "grids: interactions of columns are assumed, because " + why}
}

// mostlyNumbers reports whether at least two columns, and at least half of them, are numbers.
func mostlyNumbers(s *schema.Schema) bool {
	numbers := 0
	for _, j := range s.Features() {
		if s.Columns[j].Kind == schema.Number {
			numbers++
		}
	}
	return numbers > 1 && 2*numbers >= len(s.Features())
}

// signal is rows times ε.
func (pl *Plan) signal() float64 { return float64(pl.rows) * pl.Epsilon.Float() }

// declares returns a declaration of the schema that grids refuses; "" if there is none.
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

// refuseToAsk returns the reason, from public facts alone, why no test is made; "" if one is.
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

// divide divides the price. Only the chosen fit spends a δ (1.4).
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

// Terms returns the bill of one Fit. Its last line is the price of the chosen fit.
func (pl *Plan) Terms() guard.Terms {
	return guard.Terms{Op: "auto", Scope: pl.scope, Price: dp.Price{Epsilon: pl.Epsilon, Delta: pl.Delta},
		Bill: slices.Clone(pl.bill)}
}

// Facts returns those of the learner, and why it was chosen.
func (pl *given) Facts() []learn.Fact { return append(pl.Plan.Facts(), pl.why) }

// Facts describes the plan in words and numbers, from public choices alone.
func (pl *Plan) Facts() []learn.Fact {
	var f learn.Facts
	f.AddScope(pl.s, pl.Terms(), "")
	f.AddColumns(pl.s, pl.scope == dp.WholeRow)
	f.AddRows(pl.s, pl.rows, false)
	f.Add("interactions", "asked", "tests whether columns interact, among %d products of two or three: %.0f %% of ε for a "+
		"first fit of additive, %.0f %% for the choice; then trains grids if they do, else additive", pl.products,
		100*firstShare, 100*choiceShare)
	f.Add("epsilon", pl.Epsilon.Float(), "price ε = %s in total", pl.Epsilon)
	if pl.Delta > 0 {
		f.Add("delta", json.Number(pl.Delta.String()), "and δ = %s, of the fit that is chosen alone", pl.Delta)
	}
	f = append(f, within("additive", pl.additive)...)
	return append(f, within("grids", pl.grids)...)
}

// within returns the facts of one of two possible fits, without those that the whole plan has.
func within(name string, pl learn.Plan) (out []learn.Fact) {
	for _, f := range pl.Facts() {
		if f.Key != "protects" && f.Key != "columns" && f.Key != "rows" {
			out = append(out, learn.Fact{Key: name + "_" + f.Key, Value: f.Value, Text: name + ": " + f.Text, Next: f.Next})
		}
	}
	return out
}
