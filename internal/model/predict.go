// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Predictor is a model bound to the columns of one schema. It is read-only, so
// goroutines may share it.
type Predictor struct {
	m      *Model
	cols   []int // for each of the model's columns, its index in the bound schema; -1 for ignored ones
	spaces []*feature.Space
}

// Bind prepares prediction for tables read with s. Columns are found by name,
// whatever their order and however many more there are; one whose cells would
// mean something else than they did in training is refused by name, and so is a
// model that is not consistent.
func (m *Model) Bind(s *schema.Schema) (*Predictor, error) {
	if err := m.checkClassifier(); err != nil {
		return nil, err
	}
	p := &Predictor{m: m, cols: make([]int, len(m.Schema.Columns))}
	index := columnIndex(s)
	for j := range m.Schema.Columns {
		want := &m.Schema.Columns[j]
		if want.Role == schema.Ignored {
			p.cols[j] = -1
			continue
		}
		at, ok := index[want.Name]
		if !ok {
			return nil, fmt.Errorf("model: bind: column %q must be in the schema of the data and not ignored", want.Name)
		}
		what := different(want, &s.Columns[at])
		if what == "" && !slices.Equal(m.Schema.Sources(want), s.Sources(&s.Columns[at])) {
			what = "sources"
		}
		if what != "" {
			return nil, fmt.Errorf("model: bind: column %q must have the %s it had in training", want.Name, what)
		}
		p.cols[j] = at
	}
	if what := differentLabel(&m.Schema.Label, &s.Label); what != "" {
		return nil, fmt.Errorf("model: bind: label %q must have the %s it had in training", m.Schema.Label.Name, what)
	}
	for k := range m.Spaces {
		sp, err := m.space(k)
		if err != nil {
			return nil, err
		}
		p.spaces = append(p.spaces, sp)
	}
	return p, nil
}

// different says in what a and b code the same cell differently, "" if in
// nothing.
func different(a, b *schema.Column) string {
	switch {
	case a.Kind != b.Kind:
		return "kind"
	case a.Derived != b.Derived:
		return "derivation"
	case a.Kind == schema.Category && !sameValues(a.Levels, b.Levels):
		return "levels"
	case a.Kind == schema.Category && a.Missing != b.Missing:
		return `"missing" level`
	case a.Kind == schema.Number && (a.Lower != b.Lower || a.Upper != b.Upper):
		return "bounds"
	case a.Kind == schema.Number && a.Transform != b.Transform:
		return "transform"
	case a.Kind == schema.Number && ((a.Default == nil) != (b.Default == nil) || a.Default != nil && *a.Default != *b.Default):
		return "default"
	}
	return ""
}

func differentLabel(a, b *schema.Label) string {
	switch {
	case a.Name != b.Name:
		return "name"
	case !sameValues(a.Levels, b.Levels):
		return "levels"
	case a.Positive != b.Positive:
		return "positive level"
	}
	return ""
}

// sameValues compares levels by value. Aliases are how a cell was spelt, which
// no longer matters once it is coded.
func sameValues(a, b []schema.Level) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Value != b[i].Value {
			return false
		}
	}
	return true
}

// Scores predicts rows read with the model's own schema; see Predictor.Scores.
func (m *Model) Scores(cols []column.Column, rows int) ([]float64, error) {
	p, err := m.Bind(m.Schema)
	if err != nil {
		return nil, err
	}
	return p.Scores(cols, rows)
}

// Width is how many numbers Scores gives per row: 1 for a label of two levels,
// else one per level.
func (m *Model) Width() int {
	if levels := m.Schema.Classes(); levels > 2 {
		return levels
	}
	return 1
}

// Labels turns scores into label codes. Of two levels it is the positive one
// where the score is at least 1/2, the other elsewhere; of more, the first that
// scores highest.
func (m *Model) Labels(scores []float64) []uint8 {
	width := m.Width()
	out := make([]uint8, len(scores)/width)
	for i := range out {
		out[i] = m.Label(scores[i*width:][:width])
	}
	return out
}

// Label is Labels for the scores of one row.
func (m *Model) Label(scores []float64) uint8 {
	positive := uint8(m.Schema.Label.Positive)
	switch {
	case m.Width() > 1:
		return uint8(feature.ArgMax(scores))
	case scores[0] >= 0.5:
		return positive
	}
	return 1 - positive
}

// Scores returns numbers in [0, 1], shares of votes or probabilities. Of a label
// with two levels it returns one per row, larger where the positive level is
// likelier; of one with K > 2 levels it returns K per row, rows × K row-major in
// the order of the levels, each row adding up to 1 but for rounding. cols is
// parallel to the bound schema's Columns, each with rows cells. A row's scores
// depend on that row alone, to the last bit, whatever the number of rows or
// cores.
func (p *Predictor) Scores(cols []column.Column, rows int) ([]float64, error) {
	own := make([]column.Column, len(p.cols))
	for j, at := range p.cols {
		if at < 0 {
			continue
		}
		c := &p.m.Schema.Columns[j]
		if at >= len(cols) || cols[at].Codes.Len() != rows {
			return nil, fmt.Errorf("model: scores: column %q must have %d cells", c.Name, rows)
		}
		if rows > 0 && (cols[at].Values != nil) != (c.Kind == schema.Number) {
			return nil, fmt.Errorf("model: scores: column %q must hold cells of kind %s", c.Name, c.Kind)
		}
		own[j] = cols[at]
	}
	width := p.m.Width()
	out := make([]float64, rows*width)
	if rows == 0 {
		return out, nil
	}
	score := p.logistic
	switch {
	case p.m.Linear != nil:
		score = p.linked(p.linear, p.m.Linear.Link)
	case p.m.Ballots != nil:
		score = p.linked(p.ballots, p.m.Ballots.Link)
	case p.m.AdditiveLevels != nil:
		score = p.linked(p.additiveLevels, Softmax)
	case p.m.Votes != nil:
		score = p.votes
	case p.m.Additive != nil:
		score = p.additive
	}
	inChunks(out, width, score(own))
	return out, nil
}

// linked makes a function that scores rows of one that adds up K numbers for
// each.
func (p *Predictor) linked(adder func([]column.Column) func(from int, sums []float64), link Link) func([]column.Column) func(from int, out []float64) {
	levels, width := p.m.Schema.Classes(), p.m.Width()
	return func(cols []column.Column) func(from int, out []float64) {
		add := adder(cols)
		return func(from int, out []float64) {
			sums := out
			if width == 1 {
				sums = make([]float64, levels*len(out))
			}
			add(from, sums)
			for i := range len(sums) / levels {
				link.apply(sums[i*levels:][:levels])
				if width == 1 {
					out[i] = sums[i*levels+p.m.Schema.Label.Positive]
				}
			}
		}
	}
}

// votes returns a function that scores the rows from, from+1, ... into out.
func (p *Predictor) votes(cols []column.Column) func(from int, out []float64) {
	// A seat is where a member's answers are found and what they count.
	type seat struct {
		space, word int
		bit         uint
		vote        float64
	}
	var seats []seat
	all := 0.0
	held := make([][]feature.Threshold, len(p.spaces))
	for _, b := range p.m.Votes.Members {
		t := len(held[b.Space])
		held[b.Space] = append(held[b.Space], b.Threshold)
		seats = append(seats, seat{b.Space, t / 64, uint(t % 64), b.Vote})
		all += math.Abs(b.Vote)
	}
	bound := make([]*feature.Prepared, len(p.spaces))
	words := make([]int, len(p.spaces))
	for k, sp := range p.spaces {
		s := feature.NewScorer(sp, held[k])
		bound[k], words[k] = s.Bind(cols), s.Words()
	}
	return func(from int, out []float64) {
		answers := make([][]uint64, len(bound))
		for k := range bound {
			answers[k] = make([]uint64, len(out)*words[k])
			bound[k].Answers(from, answers[k])
		}
		for i := range out {
			sum := 0.0
			for _, s := range seats {
				if answers[s.space][i*words[s.space]+s.word]>>s.bit&1 == 1 {
					sum += s.vote
				} else {
					sum -= s.vote
				}
			}
			out[i] = share(sum, all)
		}
	}
}

// share is (1 + sum/all)/2, on the side of 1/2 where sum is of 0 even when the
// division rounds.
func share(sum, all float64) float64 {
	if all == 0 {
		return 0.5
	}
	s := (1 + sum/all) / 2
	if sum < 0 && s >= 0.5 {
		return math.Nextafter(0.5, 0)
	}
	return s
}

// logistic returns a function that scores the rows from, from+1, ... into out.
func (p *Predictor) logistic(cols []column.Column) func(from int, out []float64) {
	l := p.m.Logistic
	sp := p.spaces[l.Space]
	terms := make([][]float64, len(sp.Columns)) // by column of the space, then code
	for k, j := range sp.Columns {
		for code := range sp.Codes(k, &cols[j]) {
			f, v := sp.Cell(k, &cols[j], code)
			terms[k] = append(terms[k], float64(l.Coef[f]*v))
		}
	}
	shorten := shortener(sp, cols, l.Norm)
	return func(from int, out []float64) {
		codes := make([]uint32, len(out))
		for i := range out {
			out[i] = l.Bias
		}
		for k, j := range sp.Columns {
			cols[j].Codes.Read(from, codes)
			for i, c := range codes {
				out[i] += terms[k][c]
			}
		}
		if l.Norm > 0 {
			factor := make([]float64, len(out))
			shorten(from, factor)
			for i, t := range factor {
				out[i] *= t
			}
		}
		for i, z := range out {
			out[i] = 1 / (1 + math.Exp(-z))
		}
	}
}

// inChunks fills out, width numbers per row, on all cores. Rows are scored one
// by one, so where the chunks lie does not show.
func inChunks(out []float64, width int, score func(from int, out []float64)) {
	const chunk = 1 << 13
	rows := len(out) / width
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (rows+chunk-1)/chunk) {
		wg.Go(func() {
			for from := range next {
				score(from, out[from*width:min(from+chunk, rows)*width])
			}
		})
	}
	for from := 0; from < rows; from += chunk {
		next <- from
	}
	close(next)
	wg.Wait()
}
