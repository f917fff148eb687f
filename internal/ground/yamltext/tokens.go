// SPDX-License-Identifier: Apache-2.0

package yamltext

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml/token"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// maxWork bounds the sum, over all mappings, of 1 + 2 + ... + keys: the parser takes time and memory in
// proportion to it. It allows one mapping of MaxKeys and many small ones.
const maxWork = MaxKeys * MaxKeys

// checkTokens runs before the parser, which recurses into nested values and takes quadratic time in
// the number of keys of a mapping and of documents. It refuses texts that would take too much of
// either.
func checkTokens(op string, tokens token.Tokens) error {
	type block struct{ column, keys int }
	var blocks []block // the open block mappings and lists, outermost first
	var flows []int    // the keys so far of each open flow mapping or list
	began, work := false, 0
	for _, t := range tokens {
		line := 0
		if t.Position != nil {
			line = t.Position.Line
		}
		keys := 0
		switch t.Type {
		case token.AnchorType, token.AliasType, token.TagType, token.MergeKeyType, token.DirectiveType, token.MappingKeyType:
			return refuse(op, line, "may not begin a value with any of & * ! % ? or hold a merge key <<", "one of them",
				"put the value in double quotes if it is text")
		case token.DocumentHeaderType, token.DocumentEndType:
			if began {
				return refuse(op, line, "must be one YAML document", "a second one", "write one document per file")
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
		work += keys
		switch {
		case len(flows) > MaxDepth || len(blocks) > MaxDepth:
			return refuse(op, line, fmt.Sprintf("must not be nested more than %d deep", MaxDepth), "more", "")
		case keys > MaxKeys:
			return refuse(op, line, fmt.Sprintf("must not have more than %d keys in one mapping", MaxKeys), "more", "")
		case work > maxWork:
			return refuse(op, line, "must have fewer keys in each of its mappings", "many", "")
		}
	}
	return nil
}

// fault is a fault of a text's form on a line; 0 if the line is unknown.
type fault struct {
	*dp.ParamError
	line int
}

func (f *fault) Unwrap() error { return f.ParamError }

// LineOf returns the line of a fault that Parse or Decode found; 1 if it is unknown.
func LineOf(err error) int {
	if f, ok := errors.AsType[*fault](err); ok && f.line > 0 {
		return f.line
	}
	return 1
}

func refuse(op string, line int, want, got, hint string) error {
	if line > 0 {
		op = fmt.Sprintf("%s line %d", op, line)
	}
	return &fault{&dp.ParamError{Op: op, Param: "text", Want: want, Got: got, Hint: hint}, line}
}
