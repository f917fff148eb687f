// SPDX-License-Identifier: Apache-2.0

package grids

import (
	"math"
	"math/bits"
	"slices"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// cuttable is a column that grids may divide, by public facts alone.
type cuttable struct {
	column int
	edges  []float64    // for a number: possible cuts
	marks  feature.Bins // for a number: parts for its marks, without cuts
	groups []uint32     // for a category: the declared group of each code
	parts  int          // largest number of parts
}

// cuttables returns the columns that a grid may have: those that can distinguish two rows. The cuts of
// a number are chosen from the edges of the given number of bins.
func cuttables(s *schema.Schema, bins int) (out []cuttable) {
	for _, j := range s.Features() {
		c := &s.Columns[j]
		one := cuttable{column: j}
		switch {
		case c.Kind == schema.Category:
			one.groups, one.parts = c.Grouping()
		case len(c.Edges) > 0:
			one.edges = feature.Cuts(c, bins)
		default: // between whole numbers, too, some place does as well as another
			one.edges = feature.Finer(c, nil, bins)
		}
		if c.Kind == schema.Number {
			one.parts, one.marks = len(one.edges)+1, feature.NewBins(s, j, nil)
		}
		if one.parts > 1 {
			out = append(out, one)
		}
	}
	return out
}

// CountColumns counts the columns that a grid may have.
func CountColumns(s *schema.Schema) int { return len(cuttables(s, fewCuts)) }

// drawn is a grid with its columns, as indices into Plan.columns.
type drawn struct {
	grid   feature.Grid
	places []int
}

// draw draws a grid with at most the given number of cells, using coins and the grids chosen before.
// Its columns are new or, equally often, those of an earlier grid with possibly one less or one more.
// Columns that were chosen together are thus tried again with other cuts.
func (pl *Plan) draw(src guard.Coins, chosen []drawn) drawn {
	places := pl.pickAny(src)
	if len(chosen) > 0 && guard.Below(src, 2) == 0 {
		places = pl.vary(src, chosen[guard.Below(src, uint64(len(chosen)))].places)
	}
	room := pl.rules.cells
	places = places[:min(len(places), bits.Len(uint(room))-1)] // each is cut in two at least
	g := feature.Grid{}
	for k, i := range places {
		parts := int(math.Pow(float64(room), 1/float64(len(places)-k)) + 1e-9)
		c := &pl.columns[i]
		if k > 0 && room < 2+c.marks.Marks() {
			return drawn{g, places[:k]} // marks have taken the room
		}
		axis := c.cut(src, min(max(parts-c.marks.Marks(), 2), c.parts))
		room /= axis.Len()
		g.Axes = append(g.Axes, axis)
	}
	return drawn{g, places}
}

func (pl *Plan) pickAny(src guard.Coins) []int {
	order := make([]int, len(pl.columns))
	for i := range order {
		order[i] = i
	}
	shuffle(src, order)
	return order[:min(pl.rules.axes[guard.Below(src, uint64(len(pl.rules.axes)))], len(order))]
}

// vary returns columns that were chosen before, possibly without one of them and with another.
func (pl *Plan) vary(src guard.Coins, before []int) []int {
	places := slices.Clone(before)
	if len(places) > 1 && guard.Below(src, 2) == 0 {
		at := int(guard.Below(src, uint64(len(places))))
		places = slices.Delete(places, at, at+1)
	}
	if more := int(guard.Below(src, uint64(len(pl.columns)))); guard.Below(src, 4) == 0 && !slices.Contains(places, more) {
		places = append(places, more)
	}
	shuffle(src, places)
	return places
}

// DrawProducts draws n grids by coins alone, equally often of two columns and of three if there are
// enough. The grids of a group of columns share its cuts, so that one pass over the rows serves them
// all. CountColumns must be at least two.
func DrawProducts(s *schema.Schema, src guard.Coins, n int) (out []feature.Grid) {
	columns := cuttables(s, fewCuts)
	for len(out) < n {
		axes := drawGroup(columns, src)
		pairs, triples := choose(axes, 2, src), choose(axes, 3, src)
		for i, pair := range pairs {
			out = append(out, pair)
			if i < len(triples) {
				out = append(out, triples[i])
			}
		}
	}
	return out[:n]
}

// drawGroup draws columns without replacement and divides each in two, with an additional part for
// each of its marks. Cuts near the middle are more likely, because they separate most rows. There are
// at least two columns, and at most as many as divide rows into groupPieces.
func drawGroup(columns []cuttable, src guard.Coins) (axes []feature.Bins) {
	order := slices.Clone(columns)
	shuffle(src, order)
	pieces := 1
	for k := range order {
		c := &order[k]
		axis := c.marks
		if c.groups != nil {
			axis = c.cut(src, 2)
		} else {
			edges := uint64(len(c.edges))
			axis.Edges = []float64{c.edges[(guard.Below(src, edges)+guard.Below(src, edges))/2]}
		}
		if pieces *= axis.Len(); k > 1 && pieces > groupPieces {
			break
		}
		axes = append(axes, axis)
	}
	return axes
}

// choose lists the products of k, two or three, of the columns, in random order.
func choose(axes []feature.Bins, k int, src guard.Coins) (out []feature.Grid) {
	for i := range axes {
		for j := range i {
			if k == 2 {
				out = append(out, feature.Grid{Axes: []feature.Bins{axes[j], axes[i]}})
				continue
			}
			for h := range j {
				out = append(out, feature.Grid{Axes: []feature.Bins{axes[h], axes[j], axes[i]}})
			}
		}
	}
	shuffle(src, out)
	return out
}

func shuffle[T any](src guard.Coins, list []T) {
	guard.Shuffle(src, len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// cut divides a column into about the given number of parts, at least two, plus one for each of its marks.
func (c *cuttable) cut(src guard.Coins, parts int) feature.Bins {
	if c.groups != nil {
		return feature.NewGroups(c.column, c.deal(src, parts), parts)
	}
	n := uint64(len(c.edges) + 1) // bins between which to cut
	bins := c.marks
	if parts == 2 {
		bins.Edges = []float64{c.edges[guard.Below(src, n-1)]}
		return bins
	}
	// Equal steps, the first as long as a coin says: (k + ½ + coin)/parts of the way.
	const fine = 1 << 20
	from := guard.Below(src, fine)
	var edges []float64
	last := uint64(0)
	for k := range uint64(parts - 1) {
		at := ((2*k+1)*fine + 2*from) * n / (2 * uint64(parts) * fine)
		if at = min(max(at, 1), n-1); at > last {
			edges = append(edges, c.edges[at-1])
			last = at
		}
	}
	bins.Edges = edges
	return bins
}

// deal distributes the groups of a category over the given number of parts, about equally many to each.
func (c *cuttable) deal(src guard.Coins, parts int) []uint32 {
	part := make([]uint32, c.parts) // by group
	for g := range part {
		part[g] = uint32(g % parts)
	}
	if parts < c.parts {
		shuffle(src, part)
	}
	of := make([]uint32, len(c.groups))
	for code, g := range c.groups {
		of[code] = part[g]
	}
	return of
}
