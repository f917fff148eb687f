// SPDX-License-Identifier: Apache-2.0

package export

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// program is a model split into the parts that each format writes in its own way.
type program struct {
	m       *model.Model
	columns []*inColumn      // parallel to the schema's; nil if not read
	spaces  []*feature.Space // parallel to the model's

	// Exactly one is set.
	sum     *tableSum
	linear  *linear
	votes   *model.Votes
	ballots *model.Ballots
}

// inColumn is a column in use.
type inColumn struct {
	*schema.Column
	coder *coding.Coder // nil if the column is derived
}

// tableSum is a sum of tables over a few columns each: log-odds, or one score for
// each of several classes.
type tableSum struct {
	start  []float64 // by score, nats
	tables []stepTable
}

// stepTable holds the contributions of the cells of some columns.
type stepTable struct {
	name  string // of the contribution; "" if it is not an output
	axes  []axis
	steps [][]float64 // by cell, then score: nats, rounded as in scores
}

// axis divides one column into parts; cell = Σ part·stride over the axes.
type axis struct {
	column int
	edges  []float64 // of a number
	parts  []int     // of a category, by code; nil: the code itself
	marked bool      // missing and special cells of a number have parts of their own, after those of the edges
	stride int
}

// linear is one linear function, or one per class, of the features of a space.
type linear struct {
	space int
	coef  [][]float64 // by function, then feature
	bias  []float64
	norm  float64
	link  model.Link // "" for a single function, whose logistic function is the score
}

// takeApart checks the model and splits it.
func takeApart(m *model.Model) (*program, error) {
	if _, err := m.RowPredictor(); err != nil { // checks all of it
		return nil, err
	}
	p := &program{m: m, columns: make([]*inColumn, len(m.Schema.Columns))}
	for j := range m.Schema.Columns {
		c := &m.Schema.Columns[j]
		if c.Role == schema.Ignored {
			continue
		}
		if c.Buckets > 0 {
			return nil, fmt.Errorf("export: column %q: buckets are told by a hash that the other systems do not have", c.Name)
		}
		if c.Kind != schema.Number && c.Kind != schema.Category {
			return nil, fmt.Errorf("export: column %q: cells of kind %s have no form in other systems yet", c.Name, c.Kind)
		}
		p.columns[j] = &inColumn{Column: c}
		if c.Derived == schema.InFile {
			coder, err := coding.New(c, &m.Schema.Dialect)
			if err != nil {
				return nil, err
			}
			p.columns[j].coder = coder
		}
	}
	for _, spec := range m.Spaces {
		var cols []int
		for _, name := range spec.Columns {
			cols = append(cols, p.columnOf(name))
		}
		sp, err := feature.NewSpace(m.Schema, spec.Encoding, cols)
		if err != nil {
			return nil, err
		}
		p.spaces = append(p.spaces, sp)
	}
	switch c := m.Classifier.(type) {
	case *model.Additive:
		p.sum = p.additive(c)
	case *model.MulticlassAdditive:
		p.sum = p.multiclass(c)
	case *model.Grids:
		p.sum = p.grids(c)
	case *model.Logistic:
		p.linear = &linear{space: c.Space, coef: [][]float64{c.Coef}, bias: []float64{c.Bias}, norm: c.Norm}
	case *model.Linear:
		p.linear = &linear{space: c.Space, coef: c.Coef, bias: c.Bias, norm: c.Norm, link: c.Link}
	case *model.Votes:
		p.votes = c
	case *model.Ballots:
		p.ballots = c
	default:
		return nil, fmt.Errorf("export: learner %s: its model, %s, has no form that other systems run", m.Learner,
			m.Classifier.Describe())
	}
	return p, nil
}

// refuseDates is for formats in which days have no common form.
func (p *program) refuseDates() error {
	for _, c := range p.columns {
		if c != nil && c.Date != "" {
			return fmt.Errorf("export: column %q: dates have a form in onnx only", c.Name)
		}
	}
	return nil
}

func (p *program) columnOf(name string) int {
	return p.m.Schema.Find(name)
}

// axisOf divides a column.
func (p *program) axisOf(name string, edges []float64, parts []int) (a axis, count int) {
	j := p.columnOf(name)
	marks := p.m.Schema.Columns[j].Marks()
	count = len(edges) + 1 + marks
	if c := p.columns[j]; c.Kind == schema.Category {
		count = c.Codes()
		if parts != nil {
			count = slices.Max(parts) + 1
		}
	}
	return axis{column: j, edges: edges, parts: parts, marked: marks > 0, stride: 1}, count
}

func (p *program) additive(a *model.Additive) *tableSum {
	s := &tableSum{start: []float64{roundToScore(a.Intercept)}}
	for k := range a.Shapes {
		sh := &a.Shapes[k]
		at, _ := p.axisOf(sh.Column, sh.Edges, nil)
		s.add(sh.Column+"_log_odds", []axis{at}, sh.LogOdds)
	}
	for k := range a.Pairs {
		sh := &a.Pairs[k]
		first, _ := p.axisOf(sh.Columns[0], sh.Edges[0], nil)
		second, count := p.axisOf(sh.Columns[1], sh.Edges[1], nil)
		// Marked cells have no bins in a pair: they are where the default is.
		if second.marked {
			count -= p.m.Schema.Columns[second.column].Marks()
		}
		first.marked, second.marked = false, false
		first.stride = count
		s.add(schema.PairName(sh.Columns[0], sh.Columns[1])+"_log_odds", []axis{first, second}, sh.LogOdds)
	}
	return s
}

func (p *program) multiclass(a *model.MulticlassAdditive) *tableSum {
	s := &tableSum{}
	for _, x := range a.Intercepts {
		s.start = append(s.start, roundToScore(x))
	}
	for k := range a.Shapes {
		sh := &a.Shapes[k]
		at, _ := p.axisOf(sh.Column, sh.Edges, nil)
		s.add(sh.Column+"_log_share", []axis{at}, sh.LogShares...)
	}
	return s
}

func (p *program) grids(g *model.Grids) *tableSum {
	s := &tableSum{}
	for _, x := range g.Intercepts {
		s.start = append(s.start, roundToScore(x))
	}
	for k := range g.Grids {
		var axes []axis
		stride := 1
		for _, a := range g.Grids[k].Axes {
			at, count := p.axisOf(a.Column, a.Edges, a.Parts)
			at.stride = stride
			stride *= count
			axes = append(axes, at)
		}
		s.add("", axes, g.Grids[k].Steps...)
	}
	return s
}

// add adds a table with the given steps, by score, then cell.
func (s *tableSum) add(name string, axes []axis, steps ...[]float64) {
	t := stepTable{name: name, axes: axes}
	for cell := range steps[0] {
		row := make([]float64, len(steps))
		for k := range steps {
			row[k] = roundToScore(steps[k][cell])
		}
		t.steps = append(t.steps, row)
	}
	s.tables = append(s.tables, t)
}

// prefixPattern matches every text with this prefix, in systems that search for a pattern within a
// text and in systems that match the whole text.
func prefixPattern(prefix string) string { return "^" + regexp.QuoteMeta(prefix) + `[\s\S]*$` }

// nameNumbers names the features of the numbers of all spaces by feature. It returns the names by space,
// then column of the space; "" for a category.
func (p *program) nameNumbers(feature func(c *inColumn, j int) string) (names [][]string) {
	for _, sp := range p.spaces {
		of := make([]string, len(sp.Columns))
		for k, j := range sp.Columns {
			if c := p.columns[j]; c.Kind == schema.Number {
				of[k] = feature(c, j)
			}
		}
		names = append(names, of)
	}
	return names
}

// byCode returns value for each code of the k-th column of a space, a category: of the feature of the code
// and that feature's value.
func (p *program) byCode(space, k int, value func(at int, v float64) float64) (out []float64) {
	sp := p.spaces[space]
	for code := range p.columns[sp.Columns[k]].Codes() {
		out = append(out, value(sp.Code(k, code)))
	}
	return out
}

// fixedTerms returns the terms that the codes of the k-th category of a space add to the sum of a
// threshold classifier, in steps of its grid; nil if all are 0.
func (p *program) fixedTerms(space, k int, coef []float64) []float64 {
	terms := p.byCode(space, k, func(at int, v float64) float64 { return float64(p.spaces[space].Fixed(coef[at], v)) })
	if !slices.ContainsFunc(terms, func(x float64) bool { return x != 0 }) {
		return nil
	}
	return terms
}

// roundToScore rounds a step as scores do, so that sums are exact.
func roundToScore(step float64) float64 { return float64(feature.Units(step)) / feature.ScoreOne }
