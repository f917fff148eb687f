// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/accounting"
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
	// Listed makes exactly the releases of the bill, which another plan accounts jointly with its own.
	Listed bool
}

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
	rho     float64        // that (ε, δ) buys for all releases together; 0 if noise is not Gaussian
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
	price := learn.CheckPrice("additive", p.Epsilon, p.Delta, p.NotPrivate, p.Rows)
	if err := cmp.Or(checkSchema(s), price); err != nil {
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
	if !p.NotPrivate && !pl.protectsLabel() && !pl.rules.sharesAlone {
		pl.rules.calibrationShare = learn.CalibrationShare
		if pl.rules.hidesColumns() {
			pl.rules.calibrationShare = shareOfHidden
		}
	}
	if !pl.rules.gaussian {
		pl.spared, pl.Delta, rho = pl.Delta > 0, 0, 0
	}
	pl.rho = rho
	if pl.protectsLabel() {
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
	return pl.protectsRow() || pl.protectsLabel() && !pl.rules.gaussian
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

// Facts describes the plan in words and numbers, from public choices alone.
func (pl *Plan) Facts() []learn.Fact {
	var f learn.Facts
	r := &pl.rules
	f.AddScope(pl.schema, pl.Terms(), "")
	f.AddColumns(pl.schema, pl.protectsRow() && !pl.NotPrivate)
	if pl.schema.Person != nil {
		f.Add("person_rows", pl.most, "a person counts for at most %s: each of k rows weighs min(1, %d/k), so the "+
			"target is a mean over persons rather than rows", plaintext.Count(pl.most, "row"), pl.most)
	}
	f.AddRows(pl.schema, pl.rows, pl.assumed)
	if pl.isMulticlass() {
		f.Add("levels", pl.schema.Classes(), "%d classes of the label in one release: however many there are, "+
			"a row moves a column's cells by %g in total", pl.schema.Classes(), pl.cellMoves().L1)
	}
	if w := pl.schema.Label.RowWeights(); w != nil {
		f.Add("weights", w, "classes count by their weights, %.4g, which moves scores alone and no release", w)
	}
	units := "rows"
	if pl.schema.Person != nil {
		units = "persons"
	}
	enough := scalesForRound * guard.OneCell(pl.schema.Relation).L1 / float64(pl.unitRows())
	if !pl.assumed && !pl.NotPrivate && pl.Epsilon.Float() < enough { // the table is too short for one round
		f.Add("epsilon_needed", enough, "TOO FEW: with so few %s, nothing can be distinguished from noise below an epsilon of about %s",
			units, learn.Digits(enough, 2))
	}
	f.Add("rounds", r.rounds, "%s", pl.describeRounds())
	f.Add("bins", r.bins, "a %snumber has at most %d bins, cut by the schema", pl.columnKind(), r.bins)
	f.Add("pairs", pl.rules.pairs+len(pl.open), "%s", pl.describePairs())
	f.Add("bins_paid", len(pl.counts.asking), "%s", pl.describeCounts())
	f = slices.DeleteFunc(f, func(f learn.Fact) bool { return f.Text == "" })
	f.AddPrice(pl.Terms().Price, len(pl.bill), pl.spared)
	if pl.NotPrivate {
		return f
	}
	if pl.protectsLabel() && !r.picks {
		labels := math.Sqrt(pl.prices.labels.Variance(pl.labelMoves(len(pl.public))))
		words := "noise of the positive rows of public columns: a standard deviation of %s rows on each bin"
		if r.gaussian {
			words = "noise of the labels, given public columns: a standard deviation of %s in each direction; a row " +
				"adds a vector of length 1 that follows from its public cells"
		}
		f.Add("label_noise", labels, words, learn.Digits(labels, 4))
	}
	if r.rounds == 0 {
		return f
	}
	most := math.Sqrt(pl.prices.cells[r.rounds-1].Variance(pl.cellMoves()))
	f.Add("noise", most, "noise of the last round: a standard deviation of %s rows on each cell", learn.Digits(most, 4))
	return f
}

// describePairs describes how the declared pairs are used; "" if there are none.
func (pl *Plan) describePairs() string {
	var parts []string
	add := func(n int, words string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, words))
		}
	}
	add(pl.rules.pairs, "released after the columns, each at the price of one")
	why := ", since at this price rounds pick columns"
	if pl.rules.sharesAlone {
		why = " at this price"
	}
	add(pl.waiting, "left out"+why)
	add(len(pl.open), "of public columns, free")
	if parts == nil {
		return ""
	}
	return "declared pairs: " + strings.Join(parts, "; ")
}

// describeCounts describes how the counted bins are determined; "" if the schema has none.
func (pl *Plan) describeCounts() string {
	c := &pl.counts
	switch {
	case c.vain > 0:
		return fmt.Sprintf("%scolumns with bins: quantiles: %d; at this price counts of rows would be too "+
			"noisy, so their bins follow from the bounds", pl.columnKind(), c.vain)
	case len(c.asking) == 0:
		return ""
	case pl.NotPrivate:
		return fmt.Sprintf("%scolumns cut by counts of rows: %d", pl.columnKind(), len(c.asking))
	}
	return fmt.Sprintf("%scolumns cut by noisy counts of rows: %d, for %.1f %% of the price",
		pl.columnKind(), len(c.asking), 100*c.share)
}

// columnKind describes the columns of rounds: "private ", or "" if they are all columns or the public
// ones.
func (pl *Plan) columnKind() string {
	if pl.scope == dp.PrivateFeatures {
		return "private "
	}
	return ""
}

func (pl *Plan) describeRounds() string {
	r := &pl.rules
	words := fmt.Sprintf("%s, one for each %scolumn", plaintext.Count(r.rounds, "round"), pl.columnKind())
	switch {
	case r.sharesAlone:
		words = "no rounds: the shares of the classes take the whole price, and every row is answered with them"
	case pl.protectsLabel() && !r.picks:
		words = "no rounds: positive rows of all public columns leave at once"
	case r.picks && r.rounds == 1:
		words = fmt.Sprintf("1 round, which picks a column, for %.0f %% of its price", 100*pickShare)
	case r.picks:
		words = fmt.Sprintf("%d rounds, each picks a column, for %.0f %% of its price", r.rounds, 100*pickShare)
	case len(r.passes) > 1:
		words = fmt.Sprintf("%d rounds, %d for each %scolumn in turn", r.rounds, len(r.passes), pl.columnKind())
	}
	if pl.rules.pairs > 0 {
		words += ", then one for each pair"
	}
	if r.weightShare > 0 {
		words += fmt.Sprintf("; then how much each column counts, for %.0f %% of the price", 100*r.weightShare)
	}
	return words
}
