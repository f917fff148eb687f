// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/census"
	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// What the commands print about a table that they protect, and how they end, is the same
// whatever its private cells hold: readable ones, or none that can be read.
func TestPrivateCellsDoNotShowInWords(t *testing.T) {
	dir := sampleFolder(t, 60)
	text, err := os.ReadFile(filepath.Join(dir, "census.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	s := census.Schema()
	for i, line := range lines[1:] {
		cells := strings.Split(line, ",")
		for j, c := range s.Columns {
			if c.Role == schema.Private {
				cells[j] = []string{"", "?", "nowhere", "1e999"}[(i+j)%4]
			}
		}
		lines[i+1] = strings.Join(cells, ",")
	}
	other := t.TempDir()
	spoilt := []byte(strings.Join(lines, "\n") + "\n")
	for name, b := range map[string][]byte{"census.csv": spoilt, "census.yaml": census.SchemaYAML()} {
		if err := os.WriteFile(filepath.Join(other, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range []string{
		"train --data census.csv --schema census.yaml --epsilon 1 --model m.json",
		"train --data census.csv --schema census.yaml --epsilon 1 --learner brc --model m.json",
		"train --data census.csv --schema census.yaml --epsilon 1 --learner people --model m.json",
		"train --data census.csv --schema census.yaml --epsilon 1 --learner pate --model m.json",
	} {
		var said [2]string
		for k, folder := range []string{dir, other} {
			words := strings.Fields(args)
			for i, w := range words {
				if strings.HasPrefix(w, "census.") || w == "m.json" {
					words[i] = filepath.Join(folder, w)
				}
			}
			var out, talk bytes.Buffer
			code := cli.Run(t.Context(), newRoot, words, nil, strings.NewReader(""), &out, &talk)
			if code == cli.ExitUsage {
				t.Fatalf("%s: %s", args, &talk)
			}
			said[k] = strings.ReplaceAll(out.String()+"\n"+talk.String(), folder, "FOLDER")
			if code != cli.ExitOK {
				said[k] += "\nit fails"
			}
		}
		if said[0] != said[1] {
			t.Errorf("%s says, by private cells,\n%s\nor\n%s", args, said[0], said[1])
		}
	}
}
