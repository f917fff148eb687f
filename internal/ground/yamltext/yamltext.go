// SPDX-License-Identifier: Apache-2.0

// Package yamltext reads YAML in bounded time and memory, and writes it on one line. Every YAML text that a program reads passes
// through it: no other package may import a YAML library.
package yamltext

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
)

// Bounds of a text.
const (
	MaxBytes = 2 << 20
	MaxDepth = 8    // of nested values
	MaxKeys  = 4096 // of one mapping
	// maxTokens is the most entries, keys, values and signs together. Each takes a thousand bytes of memory. It
	// allows two categories of 65,536 levels, one on each line.
	maxTokens = 1<<18 + 1<<10
)

// Kind is the kind of a node.
type Kind int

// The kinds of nodes.
const (
	Empty  Kind = iota // nothing is written
	Plain              // a scalar without quotes
	Quoted             // a scalar in quotes, which is always text
	List
	Mapping
)

// Node is a value of a YAML document. Scalars keep their spelling.
type Node struct {
	Kind  Kind
	Line  int    // from 1; 0 if unknown
	Text  string // of a scalar
	Items []*Node
	Pairs []Pair
}

// Find returns the value of a key of a mapping, or an empty node.
func (n *Node) Find(key string) *Node {
	for i := range n.Pairs {
		if n.Pairs[i].Key == key {
			return n.Pairs[i].Value
		}
	}
	return &Node{}
}

// Pair is an entry of a mapping.
type Pair struct {
	Key   string
	Line  int
	Value *Node
}

// Parse reads one YAML document of mappings, lists and scalars. Anchors, aliases, tags, merge keys and
// directives are refused, so that the meaning of a line does not depend on another line. A fault is a
// *dp.ParamError of op. It quotes nothing of the text.
func Parse(op string, text []byte) (*Node, error) {
	body, err := parse(op, text)
	if err != nil {
		return nil, err
	}
	return fromAST(op, body)
}

// Decode reads one YAML document, as Parse does, into the value that v points to. It refuses keys that
// a struct lacks, and texts that plaintext.Is refuses. An empty document changes nothing.
func Decode(op string, text []byte, v any) error { return decode(op, text, v, "") }

// DecodeLines is Decode for texts that may have line breaks and tabs.
func DecodeLines(op string, text []byte, v any) error { return decode(op, text, v, "\n\t") }

func decode(op string, text []byte, v any, pass string) error {
	body, err := parse(op, text)
	if err != nil || body == nil {
		return err
	}
	root, err := fromAST(op, body)
	if err != nil {
		return err
	}
	if line := root.findHidden(pass); line > 0 {
		return refuse(op, line, "must not hold line breaks within texts, control characters or characters that reorder text", "one", "")
	}
	return yaml.NodeToValue(body, v, yaml.Strict())
}

// findHidden returns the line of a text with a character that is neither graphic nor in pass; 0 if
// there is none.
func (n *Node) findHidden(pass string) int {
	hidden := func(text string) bool {
		return !plaintext.Is(strings.Map(func(c rune) rune {
			if strings.ContainsRune(pass, c) {
				return -1
			}
			return c
		}, text))
	}
	if hidden(n.Text) {
		return max(n.Line, 1)
	}
	for _, item := range n.Items {
		if line := item.findHidden(pass); line > 0 {
			return line
		}
	}
	for _, p := range n.Pairs {
		if hidden(p.Key) {
			return max(p.Line, 1)
		}
		if line := p.Value.findHidden(pass); line > 0 {
			return line
		}
	}
	return 0
}

// Encode writes a value as YAML.
func Encode(v any) ([]byte, error) {
	return yaml.MarshalWithOptions(v, yaml.UseLiteralStyleIfMultiline(true))
}

// parse returns the body of a document within the bounds; nil if it is empty.
func parse(op string, text []byte) (ast.Node, error) {
	if err := CheckText(op, text); err != nil {
		return nil, err
	}
	text = TrimMark(text)
	tokens, err := scan(op, string(text))
	if err != nil {
		return nil, err
	}
	if err := checkTokens(op, tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, describeSyntax(op, text, err)
	}
	for _, doc := range file.Docs { // at most one, see checkTokens
		return doc.Body, nil
	}
	return nil, nil
}

// scan splits a text into its tokens, and stops at more than a text may have.
func scan(op, text string) (tokens token.Tokens, err error) {
	var s scanner.Scanner
	s.Init(text)
	for {
		some, err := s.Scan()
		if errors.Is(err, io.EOF) {
			return tokens, nil
		}
		if tokens.Add(some...); len(tokens) > maxTokens { // other errors are tokens, which the parser refuses
			return nil, refuse(op, 0, fmt.Sprintf("must have at most %d entries, keys, values and signs", maxTokens), "more", "")
		}
	}
}

// TrimMark removes a byte-order mark, which some editors write.
func TrimMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }

// CheckText refuses a text that is too long or is not plain UTF-8.
func CheckText(op string, text []byte) error {
	switch {
	case len(text) > MaxBytes:
		return refuse(op, 0, fmt.Sprintf("must not be longer than %d bytes", MaxBytes), "more", "")
	case !utf8.Valid(text):
		return refuse(op, 0, "must be UTF-8", "another encoding", "save the file as UTF-8; a file in Latin-1 or Windows-1252 "+
			"is converted by iconv -f WINDOWS-1252 -t UTF-8, one in UTF-16 by iconv -f UTF-16 -t UTF-8")
	case bytes.IndexByte(text, 0) >= 0:
		return refuse(op, 0, "must not hold a NUL byte", "one", "save the file as plain UTF-8 text")
	}
	return nil
}

// describeSyntax returns the fault of a text that is not valid YAML, with the place and the
// correction. It does not quote the text, which may be a table.
func describeSyntax(op string, text []byte, err error) error {
	out := &fault{ParamError: &dp.ParamError{Op: op, Param: "text", Want: "is not valid YAML", Got: "another form", Hint: "lines of one " +
		"mapping begin in one column, and a value that holds any of : # , [ ] { } or begins with @, `, > or | stands in " +
		"double quotes"}}
	bad, ok := errors.AsType[*yaml.SyntaxError](err)
	if !ok || bad.Token == nil || bad.Token.Position == nil {
		return out
	}
	at := bad.Token.Position
	out.line = at.Line
	out.Op = fmt.Sprintf("%s line %d column %d", op, at.Line, at.Column)
	if line := lineOfTab(text, at.Line); line > 0 {
		out.line = line
		out.Op = fmt.Sprintf("%s line %d", op, line)
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

// syntaxHints lists the parser's messages that may be shown, with a correction for each ("" stands for
// the usual correction). Other messages quote the text, so they are not shown.
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

func fromAST(op string, n ast.Node) (*Node, error) {
	out := &Node{Line: lineOf(n)}
	switch n := n.(type) {
	case nil, *ast.NullNode:
		out.Kind = Empty
	case *ast.StringNode:
		out.Kind, out.Text = Plain, n.Value
		if t := n.Token.Type; t == token.DoubleQuoteType || t == token.SingleQuoteType {
			out.Kind = Quoted
		}
	case *ast.LiteralNode:
		out.Kind, out.Text = Quoted, n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		out.Kind, out.Text = Plain, n.GetToken().Value
	case *ast.SequenceNode:
		out.Kind = List
		for _, v := range n.Values {
			item, err := fromAST(op, v)
			if err != nil {
				return nil, err
			}
			out.Items = append(out.Items, item)
		}
	case *ast.MappingNode:
		out.Kind = Mapping
		for _, v := range n.Values {
			if err := out.addAST(op, v); err != nil {
				return nil, err
			}
		}
	case *ast.MappingValueNode:
		out.Kind = Mapping
		if err := out.addAST(op, n); err != nil {
			return nil, err
		}
	default:
		return nil, refuse(op, out.Line, "must hold mappings, lists and plain values only", "another form of YAML", "")
	}
	return out, nil
}

func (n *Node) addAST(op string, v *ast.MappingValueNode) error {
	key, err := fromAST(op, v.Key)
	if err != nil {
		return err
	}
	value, err := fromAST(op, v.Value)
	if err != nil {
		return err
	}
	n.Pairs = append(n.Pairs, Pair{key.Text, key.Line, value})
	return nil
}

func lineOf(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 0
	}
	return n.GetToken().Position.Line
}
