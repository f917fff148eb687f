// SPDX-License-Identifier: Apache-2.0

package forecast

import (
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/coding"
	"github.com/discreet-dp/discreet/internal/table/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// law is how an invented table comes about. All columns are independent; a number is uniform
// within its bounds, after its transform, and a category over its levels. A class has the
// log-odds a + scale·Σ weight·(-(u-centre)²) over the columns, where u is a column's place
// from 0 to 1: linear functions of u but for what all classes share.
type law struct {
	s         *schema.Schema
	src       rng.Source
	columns   []int // those of the file that are used
	weights   []float64
	centres   [][]float64 // by place in columns, then class; nil where the weight is 0
	places    [][]float64 // likewise of a category: where each level lies
	scale     float64
	intercept float64 // of the positive class of two
	auc       float64 // of the law's own probabilities
}

const (
	settleRows = 2000 // on which a law's scale is settled
	bisections = 18
	widest     = 64
)

// signalColumns are the columns whose worth is in question: the private ones of the file, or the
// public ones where the label alone is protected.
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

// newLaw draws a law whose probabilities have the given AUC, as nearly as the columns allow, with
// weights by the columns' indices.
func newLaw(s *schema.Schema, weights map[int]float64, strength, positives float64, src rng.Source) *law {
	l := &law{s: s, src: src}
	for j, c := range s.FileColumns() {
		if c.Role == schema.Ignored {
			continue
		}
		var centres, places []float64
		if weights[j] > 0 {
			centres = l.drawPlaces(s.Classes())
			if c.Monotone != schema.Free && (centres[s.Label.Positive] > 0.5) != (c.Monotone == schema.Increasing) {
				slices.Reverse(centres)
			}
		}
		if c.Kind == schema.Category {
			places = l.drawPlaces(len(c.Levels))
		}
		l.columns, l.weights = append(l.columns, j), append(l.weights, weights[j])
		l.centres, l.places = append(l.centres, centres), append(l.places, places)
	}
	l.settle(strength, positives)
	return l
}

// drawPlaces are the middles of n equal parts of the unit interval in random order.
func (l *law) drawPlaces(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = (float64(i) + 0.5) / float64(n)
	}
	rng.Shuffle(l.src, n, func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// uniform draws from the unit interval.
func (l *law) uniform() float64 { return float64(l.src.Uint64()>>11) / (1 << 53) }

// drawCell draws a cell of the k-th column and its place.
func (l *law) drawCell(k int) (cell coding.Cell, u float64) {
	c := &l.s.Columns[l.columns[k]]
	if c.Kind == schema.Category {
		level := int(rng.Below(l.src, uint64(len(c.Levels))))
		return coding.TextCell(c.Levels[level].Value), l.places[k][level]
	}
	if c.Integer || c.Date != "" {
		n := c.Upper - c.Lower + 1
		i := float64(rng.Below(l.src, uint64(n)))
		return coding.NumberCell(c.Lower + i + float64(c.Since)), (i + 0.5) / n
	}
	u = l.uniform()
	if c.Transform == schema.Log1p {
		lower, upper := math.Log1p(c.Lower), math.Log1p(c.Upper)
		return coding.NumberCell(math.Expm1(lower + u*(upper-lower))), u
	}
	return coding.NumberCell(c.Lower + u*(c.Upper-c.Lower)), u
}

// sums adds to z, by class, what a column at place u says of each, before the scale.
func (l *law) sums(z []float64, k int, u float64) {
	for class, centre := range l.centres[k] {
		z[class] -= l.weights[k] * (u - centre) * (u - centre)
	}
}

// chances are the classes' probabilities.
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

// settle finds the scale at which the law has the strength, and of two classes the intercept.
func (l *law) settle(strength, positives float64) {
	rows := make([][]float64, settleRows)
	for i := range rows {
		rows[i] = make([]float64, l.s.Classes())
		for k := range l.columns {
			_, u := l.drawCell(k)
			l.sums(rows[i], k, u)
		}
	}
	positive := max(0, l.s.Label.Positive)
	balance := func() (chances [][]float64) {
		for low, high, step := -4.0*widest, 4.0*widest, 0; ; step++ {
			chances, l.intercept = chances[:0], (low+high)/2
			share := 0.0
			for _, z := range rows {
				p := l.chances(z)
				chances, share = append(chances, p), share+p[positive]/settleRows
			}
			if len(chances[0]) > 2 || step == bisections {
				return chances
			}
			if share > positives {
				high = l.intercept
			} else {
				low = l.intercept
			}
		}
	}
	for low, high, step := 0.0, float64(widest), 0; step < bisections; step++ {
		l.scale = (low + high) / 2
		chances := balance()
		if l.auc = meanAUC(chances, chances, positive); l.auc > strength {
			high = l.scale
		} else {
			low = l.scale
		}
	}
}

// invent draws a table of the schema s, which is the law's or has fewer columns, and the classes'
// probabilities of each row.
func (l *law) invent(ctx context.Context, s *schema.Schema, rows int) (t *dataset.Table, chances [][]float64,
	err error) {
	var names []string
	for _, j := range l.columns {
		if s.Columns[j].Role != schema.Ignored {
			names = append(names, s.Columns[j].Name)
		}
	}
	if s.Person != nil {
		names = append(names, s.Person.Column)
	}
	names = append(names, s.Label.Name)
	b, err := dataset.NewBuilder(ctx, s, names)
	if err != nil {
		return nil, nil, err
	}
	cells := make([]coding.Cell, 0, len(names))
	for i := range rows {
		cells = cells[:0]
		z := make([]float64, s.Classes())
		for k, j := range l.columns {
			cell, u := l.drawCell(k)
			l.sums(z, k, u)
			if s.Columns[j].Role != schema.Ignored {
				cells = append(cells, cell)
			}
		}
		if s.Person != nil {
			cells = append(cells, coding.TextCell(strconv.Itoa(i)))
		}
		p := l.chances(z)
		class, u := 0, l.uniform()
		for ; class < len(p)-1 && u >= p[class]; class++ {
			u -= p[class]
		}
		cells = append(cells, coding.TextCell(s.Label.Levels[class].Value))
		if err := b.Add(cells); err != nil {
			return nil, nil, err
		}
		chances = append(chances, p)
	}
	t, err = b.Table()
	return t, chances, err
}

// meanAUC is the AUC that scores have on average over labels that are drawn with the given
// probabilities: of two classes the positive one's, else the mean of each against the others.
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
