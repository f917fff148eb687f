// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// fromYAML reads one YAML document of mappings, lists and scalars. Anchors, aliases, tags, merge keys
// and directives are refused: the meaning of a line in a schema must not depend on another line.
func fromYAML(text []byte) (*node, error) {
	tokens := lexer.Tokenize(string(text))
	if err := checkTokens(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, describeSyntax(text, err)
	}
	var body ast.Node
	for _, doc := range file.Docs { // at most one, see checkTokens
		body = doc.Body
	}
	return fromAST(body)
}

// describeSyntax returns the fault of a text that is not valid YAML, with the place and the
// correction. It does not quote the text, which may be a table and not a schema.
func describeSyntax(text []byte, fault error) error {
	out := &dp.ParamError{Op: "schema", Param: "text", Want: "is not valid YAML", Got: "another form", Hint: "lines of one " +
		"mapping begin in one column, and a value that holds any of : # , [ ] { } or begins with @, `, > or | stands in " +
		"double quotes"}
	bad, ok := errors.AsType[*yaml.SyntaxError](fault)
	if !ok || bad.Token == nil || bad.Token.Position == nil {
		return out
	}
	at := bad.Token.Position
	out.Op = fmt.Sprintf("schema line %d column %d", at.Line, at.Column)
	if line := lineOfTab(text, at.Line); line > 0 {
		out.Op = fmt.Sprintf("schema line %d", line)
		out.Got, out.Hint = "a tab before the first word of a line", "indent with spaces, which are all that YAML takes there"
		return out
	}
	if hint, known := syntaxHints[bad.Message]; known {
		out.Got = bad.Message
		out.Hint = cmp.Or(hint, out.Hint)
	} else if strings.Contains(bad.Message, "already defined") {
		out.Got, out.Hint = "a key given twice", "a key must be given once; keep one of them"
	}
	return out
}

// lineOfTab returns the last line, from 1 to last, that is indented with a tab; 0 if none is.
func lineOfTab(text []byte, last int) int {
	lines := bytes.Split(text, []byte("\n"))
	for i := min(last, len(lines)) - 1; i >= 0; i-- {
		indent := lines[i][:len(lines[i])-len(bytes.TrimLeft(lines[i], " \t"))]
		if bytes.IndexByte(indent, '\t') >= 0 {
			return i + 1
		}
	}
	return 0
}

// syntaxHints are the parser's messages that are shown, each with a correction, "" for the usual one.
// Other messages quote the text and are not shown.
var syntaxHints = map[string]string{
	"',' or ']' must be specified":                                 "close each [ with one ]",
	"',' or '}' must be specified":                                 "close each { with one }",
	"sequence end token ']' not found":                             "close each [ with one ]",
	"could not find flow mapping end token '}'":                    "close each { with one }",
	"could not find end character of double-quoted text":           `close the quote; a quote inside it is written \", or '"'`,
	"could not find end character of single-quoted text":           "close the quote; an apostrophe inside it is written twice",
	"mapping value is not allowed in this context":                 "put a value that holds a colon in double quotes, and begin keys of one mapping in one column",
	"non-map value is specified":                                   "write a key, a colon and a space before each value",
	"unexpected key name":                                          "write a space after the colon of each key",
	"found a tab character where an indentation space is expected": "indent with spaces",
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
		return nil, refuseForm(out.line, "must hold mappings, lists and plain values only", "another form of YAML", "")
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

// bareWord matches text that every YAML reader of any version reads as text without quotes, unless it
// is one of the words of notText.
var bareWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9.-]*([ _][A-Za-z0-9.-]+)*$`)

var notText = map[string]bool{
	"true": true, "false": true, "null": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true,
}
