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
	firstShare = 0.05 // of ε, for the first fit
	smallShare = 0.01 // the same below leastSignal, where a first fit can learn little
	leadShare  = 0.03 // of ε, for the largest lead of a product
	// leastSignal is the smallest rows times ε for which the question is asked with Laplace noise. Under
	// replace-one, where leads have twice the sensitivity, it is doubled.
	leastSignal = 20_000
	// gaussianSignal is the same with Gaussian noise, under either relation; and the smallest for which
	// both are fitted without a test if the label has several classes and the columns are mostly numbers.
	gaussianSignal = 2_000
	// enough rows per row, and scales of the noise, are what the largest lead must exceed for grids.
	// evidence/decisions/0014-default.md gives the leads on tables.
	enough       = 0.025
	scales       = 4.5
	mostProducts = 2000
	fewProducts  = 300
	mostVisits   = 400_000_000 // rows visited by all products
)

// Plan is a checked Params with the bill of a fit that tests for interactions. It holds no data.
type Plan struct {
	Params
	s        *schema.Schema
	rows     int // number assumed by the rules
	scope    dp.Scope
	first    *additive.Plan
	lead     guard.Share
	enough   float64 // rows by which a product must lead
	products int     // to choose from
	gaussian bool    // grids has Gaussian noise
	early    float64 // share of ε for the first fit
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
	why := pl.refuseGrids()
	if why == "" {
		g, err := p.planGrids(s, rows, p.Epsilon)
		if err != nil {
			return nil, err
		}
		pl.gaussian = g.Delta > 0
		if p.NotPrivate {
			return &given{g, learn.Fact{Key: "interactions", Value: "taken for granted",
				Text: "grids: interactions of columns are assumed, because nothing is private"}}, nil
		}
		why = pl.refuseToAsk()
	}
	if why != "" {
		return &given{alone, learn.Fact{Key: "interactions", Value: "not asked",
			Text: "additive: interactions of columns are not tested, because " + why}}, nil
	}
	if s.Relation == dp.ReplaceOne && s.Label.Role != schema.Private {
		pl.scope = dp.PrivateFeatures
	}
	if pl.gaussian && pl.signal() >= float64(bothSignal(s)) {
		if b, err := pl.planBoth(rows); b != nil || err != nil {
			return b, err
		}
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

// refuseGrids returns the reason why grids cannot be trained under this schema; "" if it can.
func (pl *Plan) refuseGrids() string {
	s := pl.s
	following := func(c schema.Column) bool { return c.Role != schema.Ignored && c.Monotone != schema.Free }
	switch {
	case s.Person != nil:
		return "the schema declares persons"
	case len(s.Pairs) > 0:
		return "the schema declares pairs"
	case s.Label.RowWeights() != nil:
		return "the schema declares weights"
	case slices.ContainsFunc(s.Columns, following):
		return "the schema declares monotone columns"
	case grids.CountColumns(s) < 2:
		return "fewer than two columns can be cut"
	case s.Relation == dp.ReplaceOne && s.Label.Role == schema.Private && len(s.ByRole(schema.Public)) > 0 && !pl.NotPrivate:
		return "the label is private beside public columns"
	}
	return ""
}

// refuseToAsk returns the reason, from public numbers alone, why no test is made; "" if one is.
func (pl *Plan) refuseToAsk() string {
	need := leastSignalOf(pl.s)
	if pl.gaussian {
		need = gaussianSignal
	}
	switch {
	case pl.rows == 0:
		return "no number of rows was given"
	case pl.signal() < float64(need):
		return fmt.Sprintf("%d rows times ε = %s is below %d", pl.rows, pl.Epsilon, need)
	}
	return ""
}

// leastSignalOf is leastSignal under the schema's relation.
func leastSignalOf(s *schema.Schema) int {
	if s.Relation == dp.ReplaceOne {
		return 2 * leastSignal
	}
	return leastSignal
}

// divide divides the price. Only the chosen fit spends a δ (1.4).
func (pl *Plan) divide(rows int) (err error) {
	pl.products = min(max(fewProducts, mostVisits/pl.rows), mostProducts)
	pl.early = firstShare
	if pl.signal() < float64(leastSignalOf(pl.s)) {
		pl.early = smallShare
	}
	share := dp.Epsilon(pl.early * float64(pl.Epsilon))
	pl.lead.Epsilon = dp.Epsilon(leadShare * float64(pl.Epsilon))
	pl.enough = pl.leadEnough()
	rest := pl.Epsilon - share - pl.lead.Epsilon
	first := Params{Rows: pl.Rows} // without a δ
	if pl.first, err = first.planAdditive(pl.s, rows, share); err != nil {
		return err
	}
	if pl.additive, err = pl.planAdditive(pl.s, rows, rest); err != nil {
		return err
	}
	if pl.grids, err = pl.planGrids(pl.s, rows, rest); err != nil {
		return err
	}
	pl.Delta = max(pl.additive.Delta, pl.grids.Delta)
	line := dp.Event{Release: lastLabel, Mechanism: "additive or grids", Epsilon: rest, Delta: pl.Delta}
	pl.bill = append(pl.first.Terms().Bill,
		pl.lead.Line(leadLabel), line)
	return nil
}

// leadEnough is how many rows a product must lead by for grids to be chosen, by public numbers alone:
// what columns without interactions reach, and what noise alone does.
func (pl *Plan) leadEnough() float64 {
	return enough*float64(pl.rows) + scales*guard.LengthSpread(pl.s.Relation, most)/pl.lead.Epsilon.Float()
}

// Labels of lines of the bill.
const (
	leadLabel = "largest lead of a product"
	lastLabel = "the fit that was chosen"
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
	f.Add("interactions", "asked", "tests whether columns interact: %.0f %% of ε for a first fit of additive, %.0f %% to measure "+
		"by how many rows the best of %d products of two or three columns leads; trains grids if by more than %.0f, else "+
		"additive", 100*pl.early, 100*leadShare, pl.products, pl.enough)
	f.Add("epsilon", pl.Epsilon.Float(), "price ε = %s in total", pl.Epsilon)
	if pl.Delta > 0 {
		f.Add("delta", json.Number(pl.Delta.String()), "and δ = %s, of the fit that is chosen alone", pl.Delta)
	}
	f = append(f, within("additive", pl.additive)...)
	return append(f, within("grids", pl.grids)...)
}

// within returns the facts of one of two fits, without those that the whole plan has.
func within(name string, pl learn.Plan, has ...string) (out []learn.Fact) {
	for _, f := range pl.Facts() {
		if f.Key != "protects" && f.Key != "columns" && f.Key != "rows" && !slices.Contains(has, f.Key) {
			out = append(out, learn.Fact{Key: name + "_" + f.Key, Value: f.Value, Text: name + ": " + f.Text, Next: f.Next})
		}
	}
	return out
}
