// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"fmt"

	"github.com/goccy/go-yaml/token"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// maxKeys is the largest number of keys in a mapping of a schema: one per class.
const maxKeys = MaxClasses

// checkTokens runs before the parser, which recurses into nested values and takes quadratic time in
// the number of keys of a mapping and of documents. It refuses texts that would take too much of
// either.
func checkTokens(tokens token.Tokens) error {
	type block struct{ column, keys int }
	var blocks []block // the open block mappings and lists, outermost first
	var flows []int    // the keys so far of each open flow mapping or list
	began := false
	for _, t := range tokens {
		line := 0
		if t.Position != nil {
			line = t.Position.Line
		}
		keys := 0
		switch t.Type {
		case token.AnchorType, token.AliasType, token.TagType, token.MergeKeyType, token.DirectiveType, token.MappingKeyType:
			return refuseForm(line, "may not begin a value with any of & * ! % ? or hold a merge key <<", "one of them",
				"put the value in double quotes if it is text")
		case token.DocumentHeaderType, token.DocumentEndType:
			if began {
				return refuseForm(line, "must be one YAML document", "a second one", "write one schema per file")
			}
		case token.SequenceStartType, token.MappingStartType:
			flows = append(flows, 0)
		case token.SequenceEndType, token.MappingEndType:
			flows = flows[:max(len(flows)-1, 0)]
		case token.SequenceEntryType, token.MappingValueType:
			if len(flows) > 0 {
				flows[len(flows)-1]++
				keys = flows[len(flows)-1]
				break
			}
			at := t
			if t.Type == token.MappingValueType && t.Prev != nil {
				at = t.Prev // the key
			}
			column := 0
			if at.Position != nil {
				column = at.Position.Column
			}
			for len(blocks) > 0 && blocks[len(blocks)-1].column > column {
				blocks = blocks[:len(blocks)-1]
			}
			if len(blocks) == 0 || blocks[len(blocks)-1].column < column {
				blocks = append(blocks, block{column, 0})
			}
			if t.Type == token.MappingValueType {
				blocks[len(blocks)-1].keys++
				keys = blocks[len(blocks)-1].keys
			}
		}
		if t.Type != token.CommentType {
			began = true
		}
		switch {
		case len(flows) > maxDepth || len(blocks) > maxDepth:
			return refuseForm(line, fmt.Sprintf("must not be nested more than %d deep", maxDepth), "more", "")
		case keys > maxKeys:
			return refuseForm(line, fmt.Sprintf("must not have more than %d keys in one mapping", maxKeys), "more", "")
		}
	}
	return nil
}

// refuseForm returns the fault of a text's form on a line; 0 if the line is unknown.
func refuseForm(line int, want, got, hint string) error {
	op := "schema"
	if line > 0 {
		op = fmt.Sprintf("schema line %d", line)
	}
	return &dp.ParamError{Op: op, Param: "text", Want: want, Got: got, Hint: hint}
}
