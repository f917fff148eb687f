// SPDX-License-Identifier: Apache-2.0

package evaluation

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/accounting"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

const op = "evaluate"

// label is the name of the measurement on a bill.
const label = "rows by score and label"

// Params are the public choices behind one evaluation.
type Params struct {
	Epsilon dp.Epsilon
	Delta   dp.Delta // 0 for a pure guarantee
	// Models holds the model, or two models to compare on the same rows.
	Models []*model.Model
	// Threshold is the score in (0, 1) from which on rows are predicted positive.
	Threshold float64
	// By names a category of the schema whose levels are groups of rows; "" for none.
	By string
}

// Plan is a checked Params with the bill. It holds no data.
type Plan struct {
	Params
	schema *schema.Schema
	scope  dp.Scope
	grid   grid
	parts  []part
	by     int      // the column of groups
	groups []string // their names; nil for none
	share  guard.Share
	terms  guard.Terms
}

// part is one partition of the rows into cells.
type part struct {
	name  string
	cells int
}

// Plan checks p for held-out rows of schema s, and prices it. rows is the number of rows, or of
// persons, if it is public; otherwise 0.
func (p Params) Plan(s *schema.Schema, rows int) (*Plan, error) {
	refuse := func(param, want string, got any) (*Plan, error) {
		return nil, &dp.ParamError{Op: op, Param: param, Want: want, Got: got}
	}
	switch { // written so that NaN fails
	case len(p.Models) < 1 || len(p.Models) > 2:
		return refuse("models", "must be one, or two to compare", len(p.Models))
	case p.Epsilon < 1 || p.Epsilon > dp.MaxEpsilon:
		return refuse("epsilon", fmt.Sprintf("must be > 0 and at most %s", dp.MaxEpsilon), p.Epsilon)
	case p.Delta < 0 || p.Delta > dp.MaxDelta:
		return refuse("delta", "must be at least 0 and < 1", p.Delta)
	case !(p.Threshold > 0 && p.Threshold < 1):
		return refuse("threshold", "must be a score above 0 and below 1", p.Threshold)
	case len(p.Models) == 2 && s.Classes() > 2:
		return refuse("compare", "must not be given if the label has more than two classes", s.Classes())
	}
	for _, m := range p.Models {
		if _, err := m.Bind(s); err != nil {
			return nil, err
		}
	}
	if err := guard.CheckDelta(op, p.Delta, rows); err != nil {
		return nil, err
	}
	pl := &Plan{Params: p, schema: s, scope: scopeOf(s)}
	if err := pl.findGroups(); err != nil {
		return nil, err
	}
	pl.cutCells(rows)
	return pl, pl.price()
}

// scopeOf returns what the schema protects.
func scopeOf(s *schema.Schema) dp.Scope {
	private, public := len(s.ByRole(schema.Private)), len(s.ByRole(schema.Public))
	switch {
	case s.Relation == dp.AddRemove, public == 0:
		return dp.WholeRow
	case s.Label.Role != schema.Private:
		return dp.PrivateFeatures
	case private == 0:
		return dp.LabelOnly
	}
	return dp.FeaturesAndLabel
}

// mostGroups bounds the number of groups, so that their cells are few beside the rows of a table.
const mostGroups = 64

// findGroups finds the column of groups, and names them: its levels, "other", and "missing" if that is declared.
func (pl *Plan) findGroups() error {
	if pl.By == "" {
		return nil
	}
	refuse := func(want string, got any) error {
		return &dp.ParamError{Op: op, Param: "by", Want: want, Got: got}
	}
	if len(pl.Models) > 1 || pl.schema.Classes() > 2 {
		return refuse("must not be given with two models or more than two classes", pl.By)
	}
	pl.by = pl.schema.Find(pl.By)
	if pl.by < 0 || pl.schema.Columns[pl.by].Kind != schema.Category || pl.schema.Columns[pl.by].Role == schema.Ignored {
		return refuse("must name a category of the held-out rows' schema that is not ignored", pl.By)
	}
	c := &pl.schema.Columns[pl.by]
	if c.Codes() > mostGroups {
		return refuse(fmt.Sprintf("must name a column of at most %d groups", mostGroups), c.Codes())
	}
	pl.groups = append(schema.Values(c.Levels), "other")
	if c.Missing {
		pl.groups = append(pl.groups, "missing")
	}
	return nil
}

// nominalRows is the number of rows for which cells are chosen if the true number is private.
const nominalRows = 10000

// Bounds of the number of cells of a score.
const (
	minCells     = 8
	maxCells     = 64
	maxPairCells = 16 // for each of two models
)

// cutCells chooses the number of cells from public numbers alone (1.3): it grows if the noise is small
// compared with the number of rows. The width of cells causes an error of order cells^-2, and noise
// one of order cells^0.5/(rows·ε).
func (pl *Plan) cutCells(rows int) {
	if rows < 1 {
		rows = nominalRows
	}
	vectors := 1
	if k := pl.schema.Classes(); k > 2 {
		vectors = k + 1
	}
	strength := float64(rows) * pl.Epsilon.Float() / float64(vectors*max(1, len(pl.groups)))
	cells, most := 2*int(math.Round(math.Pow(strength, 0.4)/2)), maxCells
	if len(pl.Models) == 2 {
		cells, most = 2*int(math.Round(math.Pow(strength, 1./3)/2)), maxPairCells
	}
	cells = max(minCells, min(most, cells))
	pl.grid = newGrid(cells, pl.Threshold, slices.ContainsFunc(pl.Models, votes))
	if points := pl.Models[0].ListScores(2 * cells); points != nil && len(pl.Models) == 1 {
		pl.grid = newPointGrid(points, pl.Threshold)
	}
	cells = pl.grid.cells()
	if len(pl.Models) == 2 {
		pl.parts = []part{{"scores and label", 2 * cells * cells}}
		return
	}
	if vectors == 1 {
		pl.parts = []part{{"score and label", 2 * cells * max(1, len(pl.groups))}}
		return
	}
	for _, level := range pl.schema.Label.Levels {
		pl.parts = append(pl.parts, part{"score of " + level.Value, 2 * cells})
	}
	pl.parts = append(pl.parts, part{"right predictions", 2})
}

// votes reports whether a model's scores are shares of votes, which may be 0 or 1.
func votes(m *model.Model) bool {
	switch m.Classifier.(type) {
	case *model.Votes, *model.Ballots:
		return true
	}
	return false
}

// byLabel reports whether only the label is measured, within public cells of scores.
func (pl *Plan) byLabel() bool { return pl.scope == dp.LabelOnly && pl.schema.Classes() == 2 }

// moves bounds the difference between the counts of two neighbours.
func (pl *Plan) moves() guard.Moves {
	if pl.byLabel() {
		return guard.Toggled(1, 1)
	}
	return guard.OneCellOfEach(pl.schema.Relation, len(pl.parts))
}

// price chooses the noise: Laplace noise, or with a δ Gaussian noise if its variance is smaller.
func (pl *Plan) price() error {
	pl.share = guard.Share{Epsilon: pl.Epsilon}
	price := dp.Price{Epsilon: pl.Epsilon}
	if pl.Delta > 0 {
		asked := dp.Price{Epsilon: pl.Epsilon, Delta: pl.Delta}
		rho, err := accounting.Afford(asked, dp.MaxRho, func(rho dp.Rho) []dp.Event {
			return []dp.Event{guard.Share{Rho: rho}.Line(label)}
		})
		if err != nil {
			return err
		}
		if gauss := (guard.Share{Rho: rho}); gauss.Variance(pl.moves()) < pl.share.Variance(pl.moves()) {
			pl.share, price = gauss, asked
		}
	}
	pl.terms = guard.Terms{Op: op, Scope: pl.scope, Price: price, Bill: []dp.Event{pl.share.Line(label)}}
	return pl.share.Check(pl.moves(), pl.values())
}

// values counts the numbers that are measured.
func (pl *Plan) values() (n int) {
	if pl.byLabel() {
		return pl.parts[0].cells / 2
	}
	for _, p := range pl.parts {
		n += p.cells
	}
	return n
}

// Terms implements guard.Plan.
func (pl *Plan) Terms() guard.Terms { return pl.terms }

// Fit implements guard.Plan: it measures a table of cells that Cut made.
func (pl *Plan) Fit(ctx context.Context, g *guard.Guard) (*Release, error) {
	if err := g.WeighPersons(1); err != nil {
		return nil, err
	}
	r := pl.newRelease(g)
	if pl.byLabel() {
		return r, pl.measureLabels(g, r)
	}
	bins := make([]feature.Bins, len(pl.parts))
	for k, p := range pl.parts {
		bins[k] = allCodes(k, p.cells)
	}
	counts, err := g.ClassCells(bins)
	if err != nil {
		return nil, err
	}
	sums := make([]*guard.Sum, len(bins))
	for k := range bins {
		sums[k] = counts.Rows(k)
	}
	all, err := g.Join(sums...)
	if err != nil {
		return nil, err
	}
	noisy, err := g.Measure(label, pl.share, all)
	if err != nil {
		return nil, err
	}
	r.Variance = noisy.Variance
	for _, p := range pl.parts {
		r.Cells, noisy.Values = append(r.Cells, noisy.Values[:p.cells:p.cells]), noisy.Values[p.cells:]
	}
	if pl.scope == dp.PrivateFeatures { // the label is public, and so are its counts
		if r.Classes, err = g.Exact(counts.Classes()); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// allCodes makes one bin for each of a category's declared levels, 0 to n-1.
func allCodes(col, n int) feature.Bins {
	of := make([]uint32, n+1) // the last is "other", which no row has
	for i := range n {
		of[i] = uint32(i)
	}
	return feature.NewGroups(col, of, n)
}

// measureLabels measures the positive rows of each public cell. The number of its other rows is the
// remainder of its public number of rows.
func (pl *Plan) measureLabels(g *guard.Guard, r *Release) error {
	groups, err := g.Groups([]int{0})
	if err != nil {
		return err
	}
	cells := pl.parts[0].cells / 2
	of, rows := make([]uint32, groups.Len), make([]float64, cells)
	groups.Cols[0].Codes.Read(0, of)
	for i, k := range of {
		rows[k] += groups.Rows[i]
	}
	noisy, err := g.Measure(label, pl.share, groups.ClassBins(pl.schema.Label.Positive, [][]uint32{of}, []int{cells}))
	if err != nil {
		return err
	}
	// Of a pair x + e, t - x - e each has the variance of noise with twice that on both, held to a sum of t.
	r.Variance, r.Bins = 2*noisy.Variance, rows
	counts := make([]float64, 0, 2*cells)
	for k, x := range noisy.Values {
		counts = append(counts, rows[k]-x, x)
	}
	r.Cells = [][]float64{counts}
	return nil
}

func (pl *Plan) newRelease(g *guard.Guard) *Release {
	l, t := &pl.schema.Label, g.Terms()
	r := &Release{Label: l.Name, Levels: schema.Values(l.Levels), Models: len(pl.Models), Threshold: pl.Threshold,
		Cuts: slices.Clone(pl.grid.cuts), Scores: slices.Clone(pl.grid.points),
		Scope: t.Scope, Relation: pl.schema.Relation, Unit: pl.schema.Unit, Persons: pl.schema.Person != nil,
		Epsilon: t.Price.Epsilon, Delta: t.Price.Delta, Bill: t.Bill,
		By: pl.By, Groups: slices.Clone(pl.groups),
		Counted: g.Counted(), Seeded: g.Seeded(), Units: g.Units()}
	if len(r.Levels) == 2 {
		r.Positive = l.Positive
	}
	return r
}

// Cuts returns the scores at the borders between cells.
func (pl *Plan) Cuts() []float64 { return slices.Clone(pl.grid.cuts) }

// Sizes returns the number of counts that a release has for each partition.
func (pl *Plan) Sizes() (out []int) {
	for _, p := range pl.parts {
		out = append(out, p.cells)
	}
	return out
}
