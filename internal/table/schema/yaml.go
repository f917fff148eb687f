// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"bytes"
	"fmt"

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
	out := &node{form: form(n.Kind), line: n.Line, text: n.Text}
	for _, item := range n.Items {
		out.items = append(out.items, fromTree(item))
	}
	for _, p := range n.Pairs {
		out.pairs = append(out.pairs, pair{p.Key, p.Line, fromTree(p.Value)})
	}
	return out
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

func flowText(n *node) string { return yamltext.Flow(toTree(n)) }

// toTree is the inverse of fromTree.
func toTree(n *node) *yamltext.Node {
	out := &yamltext.Node{Kind: yamltext.Kind(n.form), Line: n.line, Text: n.text}
	for _, item := range n.items {
		out.Items = append(out.Items, toTree(item))
	}
	for _, p := range n.pairs {
		out.Pairs = append(out.Pairs, yamltext.Pair{Key: p.key, Line: p.line, Value: toTree(p.value)})
	}
	return out
}
