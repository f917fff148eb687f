// SPDX-License-Identifier: Apache-2.0

package predict

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// What a worker says about rows is what Write adds to them.
func TestScorerSaysWhatWriteSays(t *testing.T) {
	m, _ := trained()
	files := streamFiles(t, 300)
	rows, err := os.ReadFile(files["t.parquet"])
	if err != nil {
		t.Fatal(err)
	}
	p := Params{Interval: true}
	sc := &scorer{p, m, 0.3}
	alone, err := sc.score(context.Background(), "rows", rows)
	if err != nil {
		t.Fatal(err)
	}
	if p.Threshold, err = ParseThreshold("0.3"); err != nil {
		t.Fatal(err)
	}
	whole, _, err := writeBy(p, 100, dataset.Parquet, files["t.parquet"])
	if err != nil {
		t.Fatal(err)
	}
	// Both have the added columns, whose labels stand under another name where the table has its own.
	s := &schema.Schema{Label: m.Schema.Label}
	label := schema.Column{Role: schema.Public, Kind: schema.Category}
	for _, l := range m.Schema.Label.Levels {
		label.Levels = append(label.Levels, schema.Level{Value: l.Value})
	}
	label.Name = "label"
	s.Columns = append(s.Columns, label)
	for _, name := range []string{"score", "score_low", "score_high"} {
		s.Columns = append(s.Columns, schema.Column{Name: name, Role: schema.Public, Kind: schema.Number, Upper: 1})
	}
	s.Label.Position = len(s.Columns)
	var tables [2]*dataset.Table
	for k, file := range [][]byte{alone, []byte(whole)} {
		path := filepath.Join(t.TempDir(), "t.parquet")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		opts := dataset.Options{Labels: dataset.LabelsIgnored, Extra: dataset.ExtraDropped}
		if tables[k], err = dataset.Read(context.Background(), s, opts, path); err != nil {
			t.Fatal(err)
		}
	}
	if tables[0].Rows != 300 || !reflect.DeepEqual(tables[0].Cols, tables[1].Cols) {
		t.Error("other columns")
	}
	if _, err := sc.score(context.Background(), "rows", bytes.ToUpper(rows)); !errors.As(err, new(*dataset.FaultError)) {
		t.Errorf("damaged rows: %v", err)
	}
}

func TestClusterRefuses(t *testing.T) {
	rate, err := ParseThreshold("rate=0.1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cl    Cluster
		p     Params
		out   string
		param string // "" for none
	}{
		{Cluster{}, Params{Threshold: rate}, "-", ""},
		{Cluster{Engine: EngineSpark, Master: "yarn"}, Params{}, "folder", ""},
		{Cluster{Engine: "flink"}, Params{}, "x", "engine"},
		{Cluster{Engine: EngineMemory, Submit: "s"}, Params{}, "x", "engine"},
		{Cluster{Engine: EngineSpark}, Params{}, "-", "out"},
		{Cluster{Engine: EngineSpark}, Params{}, "p.csv", "out"},
		{Cluster{Engine: EngineSpark}, Params{Threshold: rate}, "folder", "threshold"},
	} {
		err := c.cl.Check(c.p, c.out)
		var refused *dp.ParamError
		if errors.As(err, &refused) != (c.param != "") || refused != nil && refused.Param != c.param {
			t.Errorf("%+v to %s: %v, want a refusal of %q", c.cl, c.out, err, c.param)
		}
	}
}
