// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/yamltext"
)

// fromYAML reads one YAML document of mappings, lists and scalars.
func fromYAML(text []byte) (*node, error) {
	root, err := yamltext.Parse("schema", text)
	if err != nil {
		return nil, err
	}
	return fromTree(root), nil
}

func fromTree(n *yamltext.Node) *node {
	out := &node{form: formOf[n.Kind], line: n.Line, text: n.Text}
	for _, item := range n.Items {
		out.items = append(out.items, fromTree(item))
	}
	for _, p := range n.Pairs {
		out.pairs = append(out.pairs, pair{p.Key, p.Line, fromTree(p.Value)})
	}
	return out
}

var formOf = map[yamltext.Kind]form{yamltext.Empty: empty, yamltext.Plain: plain, yamltext.Quoted: quoted,
	yamltext.List: list, yamltext.Mapping: mapping}

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
