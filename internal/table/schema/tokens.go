// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"fmt"

	"github.com/goccy/go-yaml/token"
)

// maxKeys is as many keys as a mapping of a schema may need: one per class.
const maxKeys = MaxClasses

// checkTokens runs before the parser, which recurses into nested values and
// takes quadratic time over the keys of a mapping and over documents: no text
// may make it do much of either.
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
			return fmt.Errorf(`schema line %d: a value may not begin with any of & * ! %% ? or be a merge key <<; put it in `+
				`double quotes if it is text`, line)
		case token.DocumentHeaderType, token.DocumentEndType:
			if began {
				return fmt.Errorf("schema line %d: a second YAML document begins; write one schema per file", line)
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
			return fmt.Errorf("schema line %d: nested more than %d deep", line, maxDepth)
		case keys > maxKeys:
			return fmt.Errorf("schema line %d: more than %d keys in one mapping", line, maxKeys)
		}
	}
	return nil
}
