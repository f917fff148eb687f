// SPDX-License-Identifier: Apache-2.0

package forecast

import (
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// people are rows without labels, which a law assigns. All columns are independent. A number is
// uniform within its bounds after its transform, and a category uniform over its levels.
type people struct {
	table  *dataset.Table
	places [][]float64 // position from 0 to 1, by column of the file, then code
}

// law determines how labels depend on columns. A class has the log-odds a + scale·Σ
// weight·(-(u-centre)²) over the columns, where u is the position of a column's value from 0 to 1.
// Apart from terms that all classes share, these are linear functions of u.
type law struct {
	s         *schema.Schema
	weights   map[int]float64   // by column
	centres   map[int][]float64 // by column, then class
	scale     float64
	intercept float64 // of the positive class, if there are two
	auc       float64 // of the law's own probabilities
}

const (
	settleRows = 2000 // maximum number of rows used to find a law's scale
	bisections = 18
	widest     = 64
	fineness   = 4096 // distinct values of a number: more than a fit distinguishes
)

// signalColumns returns the columns whose influence is tested: the private ones of the file, or the
// public ones if only the label is protected.
func signalColumns(r *train.Request, s *schema.Schema) (private []int, role schema.Role) {
	var public []int
	for j, c := range s.FileColumns() {
		switch c.Role {
		case schema.Public:
			public = append(public, j)
		case schema.Private:
			private = append(private, j)
		}
	}
	if private == nil || r.PublicOnly {
		return public, schema.Public
	}
	return private, schema.Private
}

// newLaw draws a law whose probabilities have the given AUC on these people, as closely as the columns
// allow. weights maps column indices to weights.
func newLaw(s *schema.Schema, weights map[int]float64, strength, positives float64, on *people, src rng.Source) *law {
	l := &law{s: s, weights: weights, centres: map[int][]float64{}}
	for j, c := range s.FileColumns() {
		if weights[j] > 0 {
			l.centres[j] = drawPlaces(s.Classes(), src)
			if c.Monotone != schema.Free && (l.centres[j][s.Label.Positive] > 0.5) != (c.Monotone == schema.Increasing) {
				slices.Reverse(l.centres[j])
			}
		}
	}
	l.settle(l.sums(on, min(settleRows, on.table.Rows)), strength, positives)
	return l
}

// drawPlaces returns the midpoints of n equal parts of the unit interval in random order.
func drawPlaces(n int, src rng.Source) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = (float64(i) + 0.5) / float64(n)
	}
	rng.Shuffle(src, n, func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// drawCell draws a cell of a column.
func drawCell(c *schema.Column, src rng.Source) coding.Cell {
	if c.Kind == schema.Category {
		return coding.TextCell(c.Levels[rng.Below(src, uint64(len(c.Levels)))].Value)
	}
	if c.Integer || c.Date != "" {
		return coding.NumberCell(c.Lower + float64(rng.Below(src, uint64(c.Upper-c.Lower+1))) + float64(c.Since))
	}
	u := (float64(rng.Below(src, fineness)) + 0.5) / fineness
	if c.Transform == schema.Log1p {
		lower, upper := math.Log1p(c.Lower), math.Log1p(c.Upper)
		return coding.NumberCell(math.Expm1(lower + u*(upper-lower)))
	}
	return coding.NumberCell(c.Lower + u*(c.Upper-c.Lower))
}

// placeNumber returns the position of a number between a column's bounds, from 0 to 1.
func placeNumber(c *schema.Column, x float64) float64 {
	switch {
	case c.Integer || c.Date != "":
		return (x - c.Lower + 0.5) / (c.Upper - c.Lower + 1)
	case c.Transform == schema.Log1p:
		lower := math.Log1p(c.Lower)
		return (math.Log1p(x) - lower) / (math.Log1p(c.Upper) - lower)
	}
	return (x - c.Lower) / (c.Upper - c.Lower)
}

// sums returns the columns' contributions to each class before scaling, by row, then class.
func (l *law) sums(p *people, rows int) [][]float64 {
	out := make([][]float64, rows)
	for i := range out {
		out[i] = make([]float64, l.s.Classes())
	}
	for j := range l.s.FileColumns() { // in order: sums are the same bits each time
		says := make([][]float64, len(p.places[j]))
		for code, u := range p.places[j] {
			for _, centre := range l.centres[j] {
				says[code] = append(says[code], -l.weights[j]*(u-centre)*(u-centre))
			}
		}
		if l.centres[j] == nil {
			continue
		}
		for i, z := range out {
			for class, x := range says[p.table.Cols[j].Codes.At(i)] {
				z[class] += x
			}
		}
	}
	return out
}

// chances converts log-odds to the classes' probabilities.
func (l *law) chances(z []float64) []float64 {
	out, most := make([]float64, len(z)), math.Inf(-1)
	for k := range z {
		out[k] = l.scale * z[k]
		if len(z) == 2 && k == l.s.Label.Positive {
			out[k] += l.intercept
		}
		most = max(most, out[k])
	}
	all := 0.0
	for k := range out {
		out[k] = math.Exp(out[k] - most)
		all += out[k]
	}
	for k := range out {
		out[k] /= all
	}
	return out
}

// settle finds the scale at which the law has the given strength and, for two classes, the intercept.
func (l *law) settle(rows [][]float64, strength, positives float64) {
	positive, chances := max(0, l.s.Label.Positive), make([][]float64, len(rows))
	for low, high, step := 0.0, float64(widest), 0; step < bisections; step++ {
		l.scale = (low + high) / 2
		if l.s.Classes() == 2 {
			l.balance(rows, positive, positives)
		}
		for i, z := range rows {
			chances[i] = l.chances(z)
		}
		if l.auc = meanAUC(chances, chances, positive); l.auc > strength {
			high = l.scale
		} else {
			low = l.scale
		}
	}
}

// balance finds the intercept at which the given share of rows is positive.
func (l *law) balance(rows [][]float64, positive int, positives float64) {
	for low, high, step := -4.0*widest, 4.0*widest, 0; step < bisections; step++ {
		l.intercept = (low + high) / 2
		share := 0.0
		for _, z := range rows {
			share += 1 / (1 + math.Exp(-l.scale*(z[positive]-z[1-positive])-l.intercept)) / float64(len(rows))
		}
		if share > positives {
			high = l.intercept
		} else {
			low = l.intercept
		}
	}
}

// deal draws labels for people, and returns the table and each row's class probabilities.
func (l *law) deal(p *people, src rng.Source) (t *dataset.Table, chances [][]float64) {
	out := *p.table
	out.Labels, chances = make([]uint8, out.Rows), l.sums(p, out.Rows)
	for i, z := range chances {
		chances[i] = l.chances(z)
		u := float64(src.Uint64()>>11) / (1 << 53)
		for class := 0; class < len(z)-1 && u >= chances[i][class]; class++ {
			u -= chances[i][class]
			out.Labels[i]++
		}
	}
	return &out, chances
}

// inventPeople draws tables of the schema with the given numbers of rows.
func inventPeople(ctx context.Context, s *schema.Schema, src rng.Source, rows ...int) (out []*people, err error) {
	var names []string
	places := make([][]float64, len(s.FileColumns()))
	for j, c := range s.FileColumns() {
		if c.Role != schema.Ignored {
			names = append(names, c.Name)
			places[j] = drawPlaces(len(c.Levels), src)
		}
	}
	if s.Person != nil {
		names = append(names, s.Person.Column)
	}
	names = append(names, s.Label.Name)
	for _, n := range rows {
		b, err := dataset.NewBuilder(ctx, s, names)
		if err != nil {
			return nil, err
		}
		cells := make([]coding.Cell, 0, len(names))
		for i := range n {
			cells = cells[:0]
			for j := range s.FileColumns() {
				if c := &s.Columns[j]; c.Role != schema.Ignored {
					cells = append(cells, drawCell(c, src))
				}
			}
			if s.Person != nil {
				cells = append(cells, coding.TextCell(strconv.Itoa(i)))
			}
			cells = append(cells, coding.TextCell(s.Label.Levels[0].Value))
			if err := b.Add(cells); err != nil {
				return nil, err
			}
		}
		p := &people{places: slices.Clone(places)}
		if p.table, err = b.Table(); err != nil {
			return nil, err
		}
		for j, c := range s.FileColumns() {
			for _, x := range p.table.Cols[j].Values {
				p.places[j] = append(p.places[j], placeNumber(&c, x))
			}
		}
		out = append(out, p)
	}
	return out, nil
}

// meanAUC is the expected AUC of scores if labels are drawn with the given probabilities: the AUC of
// the positive class of two, or else the mean over the classes, each against the others.
func meanAUC(chances, scores [][]float64, positive int) float64 {
	if len(chances[0]) == 2 {
		return expectedAUC(chances, scores, positive)
	}
	sum := 0.0
	for k := range chances[0] {
		sum += expectedAUC(chances, scores, k)
	}
	return sum / float64(len(chances[0]))
}

func expectedAUC(chances, scores [][]float64, class int) float64 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch x, y := scores[a][class], scores[b][class]; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	var below, positives, ahead float64 // negatives below, positives, pairs in the right order
	for i := 0; i < len(order); {
		p, n := 0.0, 0.0
		for at := scores[order[i]][class]; i < len(order) && scores[order[i]][class] == at; i++ {
			p, n = p+chances[order[i]][class], n+1-chances[order[i]][class]
		}
		ahead += p * (below + n/2)
		below, positives = below+n, positives+p
	}
	return ahead / (below * positives)
}
