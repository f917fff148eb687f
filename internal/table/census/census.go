// SPDX-License-Identifier: Apache-2.0

// Package census holds the table of the demo: a census of invented people, in which nobody is real. The
// laboratory's generator wrote both files (make census).
package census

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"sync"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

//go:embed census.yaml
var schemaText []byte

//go:embed people.csv.gz
var packed []byte

// People is the number of people.
const People = 20_000

// SchemaYAML returns the text of the schema: 14 features, the first five of them public, and a public label.
func SchemaYAML() []byte { return bytes.Clone(schemaText) }

// Schema returns a new schema.
func Schema() *schema.Schema {
	s, err := schema.Parse(schemaText)
	if err != nil {
		panic(err)
	}
	return s
}

// lines holds the header and one line per person, each with its end.
var lines = sync.OnceValue(func() [][]byte {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	return bytes.SplitAfter(text, []byte("\n"))
})

// CSV returns the people from..to-1 as a file: a header, then one line per person, with the label last. It
// panics if there are no such people.
func CSV(from, to int) []byte {
	all := lines()
	return bytes.Join(append([][]byte{all[0]}, all[1+from:1+to]...), nil)
}
