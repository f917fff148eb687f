// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"fmt"
	"strconv"
	"strings"
)

// readBins reads how to divide a number into bins.
func (r *reader) readBins(f fields, c *Column) {
	const hint = "write bins: quantiles for bins with about the same number of rows each, at a price if the column is " +
		"protected; or remove the line"
	switch text := f.choice("bins", "must be quantiles", hint, "quantiles"); {
	case text == "":
	case f.has("edges"):
		f.refuse("bins", "must not be combined with edges", "both", "declared edges are free: remove one of the two")
	default:
		c.Quantiles = true
	}
}

// readGroups reads the groups of levels that share a bin.
func (r *reader) readGroups(f fields, c *Column) {
	const hint = "write groups: {NAME: [LEVEL, ...], ...} from common knowledge, not from the data; or remove the line"
	n := f.requireNode("groups", hint)
	switch {
	case n == nil:
		return
	case n.form != mapping || len(n.pairs) == 0:
		f.refuse("groups", "must be a mapping from names to levels", describeNode(n), hint)
		return
	case len(n.pairs) > MaxGroups:
		f.refuse("groups", fmt.Sprintf("must be at most %d", MaxGroups), len(n.pairs), "")
		return
	}
	names, taken := map[string]bool{}, map[int]bool{}
	for _, p := range n.pairs {
		if p.key == "" || p.key != strings.TrimSpace(p.key) || strings.ContainsFunc(p.key, isHidden) ||
			len(p.key) > maxGroupName || names[p.key] {
			r.refuse(p.line, f.where+"groups", fmt.Sprintf("must have names that differ, of at most %d printable characters",
				maxGroupName), strconv.Quote(p.key), hint)
			continue
		}
		names[p.key] = true
		c.Groups = append(c.Groups, Group{Name: p.key, Levels: r.readGroup(f, p, c.Levels, taken, hint)})
	}
}

// maxGroupName is far below the largest length of a YAML key.
const maxGroupName = 200

// readGroup reads the levels of one group; taken holds the levels of all groups before it.
func (r *reader) readGroup(f fields, p pair, levels []Level, taken map[int]bool, hint string) (codes []int) {
	if p.value.form != list || len(p.value.items) == 0 {
		r.refuse(p.line, f.where+"groups "+p.key, "must list at least one level", describeNode(p.value), hint)
		return nil
	}
	index := make(map[string]int, len(levels))
	for code, l := range levels {
		index[l.Value] = code
	}
	for _, n := range p.value.items {
		value, ok := r.scalarText(n, f.where+"groups "+p.key, hint)
		if !ok || levels == nil { // reported already
			continue
		}
		code, known := index[value]
		switch {
		case !known:
			r.refuse(n.line, f.where+"groups "+p.key, "must list declared levels", strconv.Quote(value),
				"write it exactly as in levels; an alias does not do")
		case taken[code]:
			r.refuse(n.line, f.where+"groups "+p.key, "must not list a level that is in a group already", strconv.Quote(value),
				"remove one of the two")
		default:
			taken[code] = true
			codes = append(codes, code)
		}
	}
	return codes
}

// Grouping returns the group of each of a category's codes, and the number of groups. Declared groups
// are first, in their order. Every other code has its own group.
func (c *Column) Grouping() (of []uint32, groups int) {
	const alone = ^uint32(0)
	of = make([]uint32, c.Codes())
	for code := range of {
		of[code] = alone
	}
	for g, group := range c.Groups {
		for _, code := range group.Levels {
			of[code] = uint32(g)
		}
	}
	groups = len(c.Groups)
	for code := range of {
		if of[code] == alone {
			of[code] = uint32(groups)
			groups++
		}
	}
	return of, groups
}
