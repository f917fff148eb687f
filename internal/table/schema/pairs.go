// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"fmt"
	"strconv"
)

// readPairs reads the declared pairs, after the columns.
func (r *reader) readPairs(f fields, s *Schema) {
	const hint = "write pairs of columns whose two cells together say more than each does, e.g. pairs: [[month, day]], " +
		"from common knowledge, not from the data; or remove the line"
	seen := map[[2]int]bool{}
	for _, n := range f.items("pairs", hint, MaxPairs) {
		pair, ok := r.readPair(n, s, hint)
		if !ok {
			continue
		}
		if either := [2]int{min(pair[0], pair[1]), max(pair[0], pair[1])}; seen[either] {
			r.refuse(n.line, "pairs", "must list each pair once", pairNames(s, pair),
				"remove one of the two; their order makes no difference")
		} else {
			seen[either] = true
			s.Pairs = append(s.Pairs, pair)
		}
	}
}

// readPair reads two names; ok is false after a report.
func (r *reader) readPair(n *node, s *Schema, hint string) (pair [2]int, ok bool) {
	if n.form != list || len(n.items) != 2 {
		r.refuse(n.line, "pairs", "must each be a list of two columns", describeNode(n), hint)
		return pair, false
	}
	for k, item := range n.items {
		name, ok := r.scalarText(item, "pairs", hint)
		if !ok {
			return pair, false
		}
		i := s.Find(name)
		switch {
		case i < 0:
			r.refuse(item.line, "pairs", "must name columns other than the label", strconv.Quote(name), hint)
		case s.Columns[i].Role == Ignored:
			r.refuse(item.line, "pairs", "must name columns that are not ignored", strconv.Quote(name), hint)
		case s.Columns[i].Monotone != Free:
			r.refuse(item.line, "pairs", "must not name a monotone column: what a pair adds follows neither of its columns",
				strconv.Quote(name), "remove the pair, or monotone: of the column")
		default:
			pair[k] = i
			continue
		}
		return pair, false
	}
	cells := 1
	for _, j := range pair {
		cells *= s.Columns[j].pairBins()
	}
	switch {
	case pair[0] == pair[1]:
		r.refuse(n.line, "pairs", "must be of two different columns", pairNames(s, pair), hint)
	case cells > MaxPairCells:
		r.refuse(n.line, "pairs", fmt.Sprintf("must have at most %d cells", MaxPairCells),
			fmt.Sprintf("%s with %d", pairNames(s, pair), cells), "each cell has its own noise: pair columns of fewer levels")
	default:
		return pair, true
	}
	return pair, false
}

// pairBins is the largest number of bins that the column has in a pair.
func (c *Column) pairBins() int {
	if c.Kind == Category {
		return c.Codes()
	}
	return PairBins
}

// PairName returns the name of a pair of columns: both names with a cross between them.
func PairName(first, second string) string { return first + " × " + second }

func pairNames(s *Schema, pair [2]int) string {
	return PairName(s.Columns[pair[0]].Name, s.Columns[pair[1]].Name)
}
