// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func readKit(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile("../check/testkit/model/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// vectors are the models there are of each version.
var vectors = map[string][]string{"v1": {"votes", "logistic"},
	"v3": {"softmax", "one-vs-rest", "ballots", "log-odds", "norm", "norm-levels"}, "v5": {"derived"}}

// Files of every version there has been are read, and predict what an
// independent program (internal/check/testkit/model/make.py) predicts from them.
func TestOldVersionsStayReadable(t *testing.T) {
	for v, names := range vectors {
		var kit struct {
			Columns []string
			Rows    [][]any
		}
		var want map[string][]float64
		readKit(t, v+"-rows.json", &kit)
		readKit(t, v+"-scores.json", &want)
		for _, name := range names {
			m, err := Load("../check/testkit/model/" + v + "-" + name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.Scores(coded(m.Schema, kit.Columns, kit.Rows), len(kit.Rows))
			if err != nil {
				t.Fatal(err)
			}
			if len(got) == 0 || len(got) != len(want[name]) {
				t.Fatalf("%s-%s: %d scores, want %d", v, name, len(got), len(want[name]))
			}
			for i := range got {
				if !(math.Abs(got[i]-want[name][i]) <= 1e-12) {
					t.Errorf("%s-%s: score of row %d is %.17g, want %.17g", v, name, i, got[i], want[name][i])
				}
			}
		}
	}
}

// The files are what Marshal writes today, to the byte.
func TestVectorsAreCanonical(t *testing.T) {
	var paths []string
	for v, names := range vectors {
		for _, name := range names {
			paths = append(paths, "../check/testkit/model/"+v+"-"+name+".json")
		}
	}
	for _, path := range paths {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if again := mustMarshal(t, m); string(again) != string(file) {
			t.Errorf("%s is written otherwise today: bytes differ from %d on", path, firstDifference(again, file))
		}
	}
}

// coded turns the rows of a kit into columns.
func coded(s *schema.Schema, names []string, rows [][]any) []column.Column {
	cols := make([]column.Column, len(s.Columns))
	for j := range s.FileColumns() {
		c := &s.Columns[j]
		at := slices.Index(names, c.Name)
		codes := make([]uint32, len(rows))
		for i, row := range rows {
			switch cell := row[at].(type) {
			case float64:
				codes[i] = uint32(len(cols[j].Values))
				cols[j].Values = append(cols[j].Values, cell)
			case nil:
				codes[i] = uint32(c.MissingCode())
			case string:
				codes[i] = uint32(c.OtherCode())
				if k := slices.IndexFunc(c.Levels, func(l schema.Level) bool { return l.Value == cell }); k >= 0 {
					codes[i] = uint32(k)
				}
			}
		}
		cols[j].Codes = column.Narrow(codes, max(c.Codes(), len(rows)))
	}
	t := dataset.Table{Schema: s, Rows: len(rows), Cols: cols}
	t.Derive()
	return cols
}
