// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"strconv"

	"github.com/discreet-dp/discreet/internal/ground/yamltext"
)

// form is the kind of a node of a schema document.
type form yamltext.Kind

const (
	empty   = form(yamltext.Empty)  // nothing is written
	plain   = form(yamltext.Plain)  // a scalar without quotes: a word, a number, true, false
	quoted  = form(yamltext.Quoted) // a scalar in quotes, which is always text
	list    = form(yamltext.List)
	mapping = form(yamltext.Mapping)
)

// String names the kind of a node, without its content.
func (f form) String() string {
	return [...]string{"an empty value", "a text", "a text", "a list", "a mapping"}[f]
}

// node is a schema document in either notation: YAML, which people edit, and JSON, which model files
// embed. Scalars keep their spelling, so that a level spelled 010 or 1.50 stays that text.
type node struct {
	form  form
	line  int    // 1-based line in the YAML text; 0 if there is none
	text  string // for scalars
	items []*node
	pairs []pair
}

type pair struct {
	key   string
	line  int
	value *node
}

// addPair appends a pair to a mapping; a nil value means "not declared" and is omitted.
func (n *node) addPair(key string, value *node) {
	if value != nil {
		n.pairs = append(n.pairs, pair{key: key, value: value})
	}
}

// addFlag appends a pair to a mapping if the flag is set.
func (n *node) addFlag(key string, set bool) {
	if set {
		n.addPair(key, booleanNode(true))
	}
}

// addCount appends a pair to a mapping unless the number is 0.
func (n *node) addCount(key string, count int) {
	if count != 0 {
		n.addPair(key, &node{form: plain, text: strconv.Itoa(count)})
	}
}

// maxDepth exceeds the nesting of schemas (columns, column, category, levels, level, aliases). It
// bounds the recursion of readers.
const maxDepth = yamltext.MaxDepth
