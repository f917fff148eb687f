// SPDX-License-Identifier: Apache-2.0

package network

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/net/federated/sites"
	"github.com/discreet-dp/discreet/internal/net/mapped"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// The same files with another map are other rows: a training that has begun with the first is refused.
func TestMapIsInTheDigestOfRows(t *testing.T) {
	s, err := schema.Parse([]byte(`name: t
unit: one row
relation: add-remove
file: {delimiter: ",", quote: "", header: true, missing: []}
columns:
  - {name: x, role: private, number: {lower: 0, upper: 10, default: 5}}
  - {name: y, role: private, label: {levels: [a, b], positive: a, default: a}}
`))
	if err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	data := put("t.csv", "x,y\n1,a\n2,b\n")
	read := func(text string) sites.Digest {
		serve := &siteServe{voter: voter{app: &app{&commands.App{App: &cli.App{Stderr: io.Discard}}}}}
		var own *mapped.Map
		if text != "" {
			serve.mapFile = put("map.yaml", text)
			if own, err = mapped.Load(serve.mapFile, s); err != nil {
				t.Fatal(err)
			}
		}
		_, rows, err := serve.readRows(t.Context(), s, own, []string{data})
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	none, one, two := read(""), read("columns: {y: {levels: {a: b, b: a}}}\n"), read("columns: {x: {divide: 2}}\n")
	if none == one || one == two || none == two {
		t.Errorf("rows by other maps have one digest: %s %s %s", none, one, two)
	}
	if read("columns: {x: {divide: 2}}\n") != two {
		t.Error("the same rows have two digests")
	}
}
