// SPDX-License-Identifier: Apache-2.0

package export

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/realdata"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// TestPeers writes, for every shipped schema and learner, a trained model in every
// format with the scores of 10,000 rows, for lab/peers/export to run elsewhere.
func TestPeers(t *testing.T) {
	dir := os.Getenv("DISCREET_EXPORT")
	if dir == "" {
		t.Skip("needs DISCREET_EXPORT, a folder to write to: make peers PEERS=export")
	}
	paths, err := filepath.Glob(filepath.Join(realdata.Root(), "examples", "*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no shipped schemas: %v", err)
	}
	for _, path := range paths {
		for _, learner := range train.LearnerNames() {
			t.Run(filepath.Base(path)+"/"+learner, func(t *testing.T) {
				s, err := schema.Load(path)
				if err != nil {
					t.Fatal(err)
				}
				m, err := trainRandom(t, learner, s)
				var refused *dp.ParamError
				if errors.As(err, &refused) {
					t.Skipf("refused: %v", err)
				}
				if err != nil {
					t.Fatal(err)
				}
				writeKit(t, filepath.Join(dir, filepath.Base(path)+"-"+learner), m, 10_000)
			})
		}
	}
	t.Run("kinds", func(t *testing.T) {
		for name, m := range cases(t) {
			writeKit(t, filepath.Join(dir, "kind "+name), m, 10_000)
		}
	})
}

// trainRandom trains on random rows with labels that follow a random column.
func trainRandom(t *testing.T, learner string, s *schema.Schema) (*model.Model, error) {
	for j := range s.Columns {
		if c := &s.Columns[j]; c.Kind == schema.Number && c.Derived == schema.InFile && c.Default == nil {
			c.Default = &c.Lower
		}
	}
	s.Label.Default, s.MaxEpsilon, s.MaxDelta = 0, 0, 0
	choice := train.Choice{Learner: learner, Price: train.PriceText{Epsilon: "5"}}
	switch learner {
	case "labeldp":
		s.Label.Role = schema.Private
	case "logistic":
		choice.Price = train.PriceText{Epsilon: "inf", NotPrivate: true}
	}
	coder, err := coding.NewRowCoder(s)
	if err != nil {
		t.Fatal(err)
	}
	names := append(coder.Names(), s.Label.Name)
	if s.Person != nil {
		names = append(names, s.Person.Column)
	}
	b, err := dataset.NewBuilder(t.Context(), s, names)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(5, 6))
	for at, row := range sample(&model.Model{Schema: s}, 3000) {
		var cells []coding.Cell
		class := r.IntN(s.Classes())
		for _, v := range row {
			cells = append(cells, cellOf(v))
			if x, ok := v.(float64); ok && x > 1 && r.IntN(2) == 0 {
				class = 1
			}
		}
		cells = append(cells, coding.TextCell(s.Label.Levels[class].Value))
		if s.Person != nil {
			cells = append(cells, coding.TextCell(strconv.Itoa(at/2)))
		}
		if err := b.Add(cells); err != nil {
			t.Fatal(err)
		}
	}
	table, err := b.Table()
	if err != nil {
		t.Fatal(err)
	}
	req, err := choice.Request("train")
	if err != nil {
		return nil, err
	}
	run := &train.Training{Op: "train", Request: req, Schema: s, Account: guard.Uncounted{},
		Read: func(context.Context) (*dataset.Table, error) { return table, nil }}
	return run.Run(t.Context())
}

func cellOf(v any) coding.Cell {
	switch v := v.(type) {
	case float64:
		return coding.NumberCell(v)
	case string:
		if v != MissingText {
			return coding.TextCell(v)
		}
	}
	return coding.Cell{}
}

// writeKit writes one model and what it says of some rows. Numbers are texts, so that
// NaN and infinities pass through JSON.
func writeKit(t *testing.T, dir string, m *model.Model, rows int) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var out struct {
		Names   []string
		Numbers []bool
		Cells   [][]string // by column
		Scores  [][]string // by row; none if the row is refused
		Labels  []string
	}
	coder, err := coding.NewRowCoder(m.Schema)
	if err != nil {
		t.Fatal(err)
	}
	out.Names = coder.Names()
	out.Cells = make([][]string, len(out.Names))
	for _, name := range out.Names {
		j := slices.IndexFunc(m.Schema.Columns, func(c schema.Column) bool { return c.Name == name })
		out.Numbers = append(out.Numbers, m.Schema.Columns[j].Kind == schema.Number)
	}
	for _, row := range sample(m, rows) {
		for i, v := range row {
			text, ok := v.(string)
			if !ok {
				text = strconv.FormatFloat(v.(float64), 'g', -1, 64)
			}
			out.Cells[i] = append(out.Cells[i], text)
		}
		scores, ok := scoreRow(t, m, row)
		texts, label := []string{}, ""
		for _, x := range scores {
			texts = append(texts, strconv.FormatFloat(x, 'g', -1, 64))
		}
		if ok {
			label = m.Schema.Label.Levels[m.Label(scores)].Value
		}
		out.Scores, out.Labels = append(out.Scores, texts), append(out.Labels, label)
	}
	text, err := json.Marshal(&out)
	if err != nil {
		t.Fatal(err)
	}
	file, err := ONNX(m)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"rows.json": text, "model.onnx": file}
	if files["model.pmml"], err = PMML(m); err != nil {
		t.Fatal(err)
	}
	if files["model.sql"], err = SQL(m); err != nil {
		t.Logf("%s: no SQL: %v", dir, err)
		delete(files, "model.sql")
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
