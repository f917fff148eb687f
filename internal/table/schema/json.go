// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/internal/ground/yamltext"
)

// MarshalJSON writes the document of YAML in JSON.
func (s *Schema) MarshalJSON() ([]byte, error) {
	root, err := s.schemaTree()
	if err != nil {
		return nil, err
	}
	return toJSON(nil, root), nil
}

// UnmarshalJSON reads a document of MarshalJSON. It refuses everything that Parse refuses: unknown and
// duplicate keys, missing facts, sizes above the limits.
func (s *Schema) UnmarshalJSON(text []byte) error {
	if err := yamltext.CheckText("schema", text); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // keep each number's spelling
	root, err := fromJSON(d, 0)
	if err == errDeep {
		return fmt.Errorf("schema: not valid JSON: %w", err)
	}
	if err != nil {
		return fmt.Errorf("schema: not valid JSON at byte %d", d.InputOffset()) // err quotes the text, which may be anyone's
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("schema: not valid JSON: something follows the schema")
	}
	read, err := readSchema(root, "")
	if err != nil {
		return err
	}
	*s = *read
	return nil
}

var errDeep = fmt.Errorf("nested more than %d deep", maxDepth)

func fromJSON(d *json.Decoder, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, errDeep
	}
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case string:
		return &node{form: quoted, text: t}, nil
	case json.Number:
		return &node{form: plain, text: t.String()}, nil
	case bool:
		return booleanNode(t), nil
	case nil:
		return &node{form: empty}, nil
	}
	out := &node{form: list}
	if t == json.Delim('{') {
		out.form = mapping
	}
	for d.More() {
		key := ""
		if out.form == mapping {
			t, err := d.Token()
			if err != nil {
				return nil, err
			}
			key = t.(string) // the decoder refuses any other key
		}
		value, err := fromJSON(d, depth+1)
		if err != nil {
			return nil, err
		}
		if out.form == mapping {
			out.pairs = append(out.pairs, pair{key: key, value: value})
		} else {
			out.items = append(out.items, value)
		}
	}
	_, err = d.Token() // the closing bracket
	return out, err
}

func toJSON(b []byte, n *node) []byte {
	switch n.form {
	case list:
		b = append(b, '[')
		for i, item := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = toJSON(b, item)
		}
		return append(b, ']')
	case mapping:
		b = append(b, '{')
		for i, p := range n.pairs {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, yamltext.Quote(p.key)...)
			b = append(b, ':')
			b = toJSON(b, p.value)
		}
		return append(b, '}')
	case quoted:
		return append(b, yamltext.Quote(n.text)...)
	}
	return append(b, n.text...)
}
