// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
	"github.com/discreet-dp/discreet/internal/train/predict"
)

// What a worker says about rows is what Write adds to them.
func TestScorerSaysWhatWriteSays(t *testing.T) {
	_, files := writeRows(t, 300)
	s := census.Schema()
	run := &train.Training{Op: "train", Request: requestOf(t, "additive", "1"), Schema: s, SchemaText: censusText(t, s),
		Rows: &train.RowSource{Files: files}}
	m, err := run.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	p := predict.Params{Interval: true}
	sc := &scorer{p, m, 0.3}
	alone, err := sc.score(context.Background(), "rows", rows)
	if err != nil {
		t.Fatal(err)
	}
	if p.Threshold, err = predict.ParseThreshold("0.3"); err != nil {
		t.Fatal(err)
	}
	var whole bytes.Buffer
	src := &predict.Source{Paths: files[:1], Options: dataset.Options{Labels: dataset.LabelsIgnored}, BlockRows: 10}
	if _, err := p.Write(t.Context(), m, src, &whole, dataset.Parquet); err != nil {
		t.Fatal(err)
	}
	// Both have the added columns, whose labels stand under another name where the table has its own.
	s = &schema.Schema{Label: m.Schema.Label}
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
	for k, file := range [][]byte{alone, whole.Bytes()} {
		path := filepath.Join(t.TempDir(), "t.parquet")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		opts := dataset.Options{Labels: dataset.LabelsIgnored, Extra: dataset.ExtraDropped}
		if tables[k], err = dataset.Read(context.Background(), s, opts, path); err != nil {
			t.Fatal(err)
		}
	}
	if tables[0].Rows != 75 || !reflect.DeepEqual(tables[0].Cols, tables[1].Cols) {
		t.Error("other columns")
	}
	if _, err := sc.score(context.Background(), "rows", bytes.ToUpper(rows)); !errors.As(err, new(*dataset.FaultError)) {
		t.Errorf("damaged rows: %v", err)
	}
}

func TestClusterRefuses(t *testing.T) {
	rate, err := predict.ParseThreshold("rate=0.1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at    Place
		p     predict.Params
		out   string
		param string // "" for none
	}{
		{Place{}, predict.Params{Threshold: rate}, "-", ""},
		{Place{Engine: EngineSpark, Master: "yarn"}, predict.Params{}, "folder", ""},
		{Place{Engine: "flink"}, predict.Params{}, "x", "engine"},
		{Place{Engine: EngineMemory, Submit: "s"}, predict.Params{}, "x", "engine"},
		{Place{Engine: EngineSpark}, predict.Params{}, "-", "out"},
		{Place{Engine: EngineSpark}, predict.Params{}, "p.csv", "out"},
		{Place{Engine: EngineSpark}, predict.Params{Threshold: rate}, "folder", "threshold"},
	} {
		err := c.at.Check(c.p, c.out)
		var refused *dp.ParamError
		if errors.As(err, &refused) != (c.param != "") || refused != nil && refused.Param != c.param {
			t.Errorf("%+v to %s: %v, want a refusal of %q", c.at, c.out, err, c.param)
		}
	}
}
