// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"cmp"

	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/accounting"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Params are the public choices behind one fit.
type Params struct {
	Epsilon    dp.Epsilon // ε of the whole fit; no default
	Delta      dp.Delta   // δ of the whole fit; 0 for a pure guarantee. It is spent only if that reduces the noise
	NotPrivate bool       // without noise, for comparison; Epsilon must then be 0
	// Rows is the number of rows that the rules assume; 0 if not given. Then it is the table's own
	// number under replace-one, which is public, and assumedRows if the number is private. It does not
	// affect the noise scale, so that a wrong number reduces accuracy and never privacy.
	Rows int
	// TakeAll uses every column, even if each then has little signal, so that nothing is selected. It
	// is for rows at several sites.
	TakeAll bool
}

// assumedRows is the number of rows if none is given.
const assumedRows = 10_000

// Plan is a checked Params with the bill, for a label of any number of classes. It holds no data.
type Plan struct {
	Params
	schema  *schema.Schema
	rows    int // number assumed by the rules; persons if the schema declares them
	most    int // contribution bound of a person in rows; 1 if each row is a unit
	assumed bool
	spared  bool // a δ was given and would not help
	scope   dp.Scope
	public  []int          // columns of the public part, which is free; none under dp.WholeRow
	private []feature.Bins // columns, then pairs, that may be released, with bins by the schema
	columns int            // number of columns among them
	open    []feature.Bins // pairs of the public part
	waiting int            // pairs that are not released at this price
	rules   rules
	counts  counting // the counts that determine bins
	prices  prices
	bill    []dp.Event
}

// Plan checks p against the public schema and prices one fit. rows is the number of rows if it is
// public or declared, otherwise 0.
func (p Params) Plan(s *schema.Schema, rows int) (*Plan, error) {
	if err := checkSchema(s); err != nil {
		return nil, err
	}
	if err := learn.CheckPrice("additive", p.Epsilon, p.Delta, p.NotPrivate, p.Rows); err != nil {
		return nil, err
	}
	pl := &Plan{Params: p, schema: s, most: 1}
	if s.Person != nil {
		pl.most, rows = max(1, s.Person.Rows), cmp.Or(rows, s.Person.Persons)
	}
	pl.rows, pl.assumed = cmp.Or(p.Rows, rows, assumedRows), p.Rows == 0 && rows == 0
	private := s.ByRole(schema.Private)
	switch pl.scope = pl.settleScope(); pl.scope {
	case dp.WholeRow, dp.FeaturesAndLabel: // beside a private label public columns cost what others do
		private = s.Features()
	default:
		pl.public = s.ByRole(schema.Public)
	}
	if err := learn.CheckDefaults("additive", s, pl.scope, p.NotPrivate); err != nil {
		return nil, err
	}
	if len(private) == 0 && !pl.protectsLabel() {
		return nil, refuseParam("schema", "must have at least one private column, or a private label and a column", nil,
			"without any, use a learner without noise such as logistic")
	}
	rho := 0.0 // that (ε, δ) buys for all releases together
	if p.Delta > 0 {
		bought, err := accounting.GaussianRho(p.Epsilon.Float(), p.Delta.Float())
		if err != nil {
			return nil, err
		}
		rho = bought.Float()
	}
	pairs := pl.splitPairs()
	if pl.protectsLabel() {
		pl.rules = pl.settleLabel(len(pl.public), rho)
	} else if pl.isMulticlass() {
		pl.rules = settleMulticlass(p, s.Relation, pl.unitRows(), len(private), rho)
	} else {
		pl.rules = settleWithPairs(len(pairs), p, s.Relation, pl.unitRows(), len(private), rho, len(pl.public) > 0)
	}
	signal, joint := countScales(p, s.Relation, pl.unitRows(), 1, rho)
	if pl.countsClasses() && !p.NotPrivate {
		scales := pl.classScales()
		if pl.rules.gaussian {
			scales = joint
		}
		pl.rules.classesShare = settleClassesShare(scales, s.Classes())
	}
	pl.settleSharesAlone(signal)
	if !pl.isMulticlass() && !p.NotPrivate && !pl.protectsLabel() && !pl.rules.sharesAlone {
		pl.rules.calibrationShare = calibrationShare
	}
	if !pl.rules.gaussian {
		pl.spared, pl.Delta, rho = pl.Delta > 0, 0, 0
	}
	if pl.protectsLabel() && pl.rules.picks {
		private = pl.public
	}
	if err := pl.cutColumns(private); err != nil {
		return nil, err
	}
	pl.settleCounts(rho)
	if pl.waiting = len(pairs) - pl.rules.pairs; pl.waiting == 0 {
		for _, p := range pairs {
			pl.private = append(pl.private, pl.cutPair(p, nil))
		}
	}
	return pl, pl.writeBill()
}

// unitRows is the number of rows divided by a person's contribution bound, because the noise is larger
// by that factor.
func (pl *Plan) unitRows() int { return max(1, pl.rows/pl.most) }

// protectsRow reports whether every column and the label are protected.
func (pl *Plan) protectsRow() bool {
	return pl.scope == dp.WholeRow || pl.scope == dp.FeaturesAndLabel
}

// countsClasses reports whether the number of rows by class is a separate release.
func (pl *Plan) countsClasses() bool {
	return pl.protectsRow() || pl.protectsLabel() && pl.rules.picks
}

// settleScope returns what is protected if rows are replaced and each is a unit.
func (pl *Plan) settleScope() dp.Scope {
	s := pl.schema
	public := s.ByRole(schema.Public)
	switch {
	case s.Relation != dp.ReplaceOne, pl.NotPrivate && !pl.isMulticlass():
		return dp.WholeRow
	case s.Label.Role != schema.Private:
		return dp.PrivateFeatures
	case len(public) == 0 || pl.isMulticlass() || s.Person != nil:
		return dp.WholeRow
	case len(s.ByRole(schema.Private)) == 0 && len(s.Pairs) == 0:
		return dp.LabelOnly
	}
	return dp.FeaturesAndLabel
}

// isMulticlass reports whether the label has more than two classes.
func (pl *Plan) isMulticlass() bool { return pl.schema.Classes() > 2 }

func refuseParam(param, want string, got any, hint string) error {
	return &dp.ParamError{Op: "additive", Param: param, Want: want, Got: got, Hint: hint}
}

// checkSchema refuses declarations that would be ignored.
func checkSchema(s *schema.Schema) error {
	if s.Classes() < 2 {
		return refuseParam("label", "must have at least 2 classes", s.Classes(), "")
	}
	if s.Classes() == 2 {
		return nil
	}
	if len(s.Pairs) > 0 {
		return refuseParam("pairs", "must be left out if the label has more than 2 classes", len(s.Pairs),
			"declare a column that crosses the two instead")
	}
	for _, c := range s.Columns {
		if c.Role != schema.Ignored && c.Monotone != schema.Free {
			return refuseParam("monotone", "must be left out of column "+c.Name+
				" if the label has more than 2 classes: up for one is down for another", string(c.Monotone), "")
		}
	}
	return nil
}
