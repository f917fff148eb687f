// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// fromYAML reads one YAML document of mappings, lists and scalars. Anchors,
// aliases, tags, merge keys and directives are refused: what a line of a
// schema says must not depend on another line.
func fromYAML(text []byte) (*node, error) {
	tokens := lexer.Tokenize(string(text))
	if err := checkTokens(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		if bad, ok := errors.AsType[*yaml.SyntaxError](err); ok && bad.Token != nil && bad.Token.Position != nil {
			at := bad.Token.Position
			why := ""
			switch {
			case slices.Contains(syntaxFaults, bad.Message):
				why = ": " + bad.Message
			case strings.HasSuffix(bad.Message, " already defined") || strings.Contains(bad.Message, "already defined at"):
				why = ": a key must be given once"
			}
			return nil, fmt.Errorf("schema line %d column %d: not valid YAML%s", at.Line, at.Column, why)
		}
		return nil, errors.New("schema: not valid YAML")
	}
	var body ast.Node
	for _, doc := range file.Docs { // at most one, see checkTokens
		body = doc.Body
	}
	return fromAST(body)
}

// syntaxFaults are the parser's messages that are passed on. Others quote the text,
// which need not be a schema's: it may be somebody's table.
var syntaxFaults = []string{
	"',' or ']' must be specified", "',' or '}' must be specified",
	"sequence end token ']' not found", "could not find flow mapping end token '}'",
	"could not find end character of double-quoted text", "could not find end character of single-quoted text",
	"found a tab character where an indentation space is expected",
	"mapping value is not allowed in this context", "non-map value is specified", "unexpected key name",
}

func fromAST(n ast.Node) (*node, error) {
	out := &node{line: lineOf(n)}
	switch n := n.(type) {
	case nil, *ast.NullNode:
		out.form = empty
	case *ast.StringNode:
		out.form, out.text = plain, n.Value
		if t := n.Token.Type; t == token.DoubleQuoteType || t == token.SingleQuoteType {
			out.form = quoted
		}
	case *ast.LiteralNode:
		out.form, out.text = quoted, n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		out.form, out.text = plain, n.GetToken().Value
	case *ast.SequenceNode:
		out.form = list
		for _, v := range n.Values {
			item, err := fromAST(v)
			if err != nil {
				return nil, err
			}
			out.items = append(out.items, item)
		}
	case *ast.MappingNode:
		out.form = mapping
		for _, v := range n.Values {
			if err := out.addAST(v); err != nil {
				return nil, err
			}
		}
	case *ast.MappingValueNode:
		out.form = mapping
		if err := out.addAST(n); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("schema line %d: only mappings, lists and plain values belong in a schema", out.line)
	}
	return out, nil
}

func (n *node) addAST(v *ast.MappingValueNode) error {
	key, err := fromAST(v.Key)
	if err != nil {
		return err
	}
	value, err := fromAST(v.Value)
	if err != nil {
		return err
	}
	n.pairs = append(n.pairs, pair{key.text, key.line, value})
	return nil
}

func lineOf(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 0
	}
	return n.GetToken().Position.Line
}

// toYAML writes one line per key and one line per column.
func toYAML(n *node) []byte {
	var b bytes.Buffer
	for _, p := range n.pairs {
		if p.value.form != list {
			fmt.Fprintf(&b, "%s: %s\n", p.key, flowText(p.value))
			continue
		}
		fmt.Fprintf(&b, "%s:\n", p.key)
		for _, item := range p.value.items {
			fmt.Fprintf(&b, "  - %s\n", flowText(item))
		}
	}
	return b.Bytes()
}

func flowText(n *node) string {
	var parts []string
	switch n.form {
	case list:
		for _, item := range n.items {
			parts = append(parts, flowText(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case mapping:
		for _, p := range n.pairs {
			parts = append(parts, flowText(textNode(p.key))+": "+flowText(p.value)) // a key may be a level
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case quoted:
		if bareWord.MatchString(n.text) && !notText[strings.ToLower(n.text)] {
			return n.text
		}
		return quoteText(n.text)
	}
	return n.text
}

// bareWord is text that every YAML reader takes as text without quotes, unless
// it is one of the words of notText, in any YAML version.
var bareWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9.-]*([ _][A-Za-z0-9.-]+)*$`)

var notText = map[string]bool{
	"true": true, "false": true, "null": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true,
}
