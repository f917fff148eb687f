// SPDX-License-Identifier: Apache-2.0

package schema

// form is the kind of a node of a schema document.
type form int

const (
	empty  form = iota // nothing was written
	plain              // a scalar without quotes: a word, a number, true, false
	quoted             // a scalar in quotes: always text
	list
	mapping
)

// String says what a node is, and nothing of what it holds.
func (f form) String() string {
	return [...]string{"an empty value", "a text", "a text", "a list", "a mapping"}[f]
}

// node is a schema document as both notations write it: YAML, which people
// edit, and JSON, which model files embed. Scalars keep the spelling they were
// written with, so a level spelled 010 or 1.50 stays that text.
type node struct {
	form  form
	line  int    // 1-based line in the YAML text; 0 when there is none
	text  string // scalars
	items []*node
	pairs []pair
}

type pair struct {
	key   string
	line  int
	value *node
}

// addPair appends a pair to a mapping; a nil value stands for "not declared" and
// is left out.
func (n *node) addPair(key string, value *node) {
	if value != nil {
		n.pairs = append(n.pairs, pair{key: key, value: value})
	}
}

// maxDepth is more nesting than a schema has (columns, column, category,
// levels, level, aliases). It keeps the recursive readers shallow.
const maxDepth = 8
