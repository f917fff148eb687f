// SPDX-License-Identifier: Apache-2.0

package train

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/engine/blocks"
	"github.com/discreet-dp/discreet/internal/table/engine/question"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// censusFile writes rows of the census, and its schema's text.
func censusFile(t *testing.T, rows int) (path string, text []byte) {
	t.Helper()
	b := censustest.Parquet(5, rows)
	path = filepath.Join(t.TempDir(), "census.parquet")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := census.Schema().YAML()
	if err != nil {
		t.Fatal(err)
	}
	return path, text
}

func requestOf(t *testing.T, learner, epsilon string) *Request {
	t.Helper()
	choice := Choice{Learner: learner, Price: PriceText{Epsilon: epsilon}}
	if epsilon == "inf" {
		choice.Price.NotPrivate = true
	}
	req, err := choice.Request("train")
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// With a memory limit a table is trained on from disk, to the same model.
func TestRowsOnDiskMakeTheSameModel(t *testing.T) {
	path, text := censusFile(t, 3000)
	for _, learner := range []string{"additive", "erm", "logistic"} { // which draw nothing without privacy
		var files [][]byte
		for _, limit := range []int64{0, 1000} {
			run := &Training{Op: "train", Request: requestOf(t, learner, "inf"), Schema: census.Schema(), SchemaText: text}
			source := &RowSource{Memory: limit, Files: []string{path}}
			if rows, err := source.open(t.Context(), run); err != nil {
				t.Fatal(err)
			} else if _, onDisk := rows.Table.(*question.Table); onDisk != (limit > 0) {
				t.Errorf("limit %d: on disk %v", limit, onDisk)
			} else if err := rows.close(); err != nil {
				t.Error(err)
			}
			run.Rows = source
			m, err := run.Run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, learntest.Bytes(t, m))
		}
		if !bytes.Equal(files[0], files[1]) {
			t.Errorf("%s: another model", learner)
		}
	}
}

// Rows of persons go to disk as others do, and every learner that adds up integers makes the model
// of memory.
func TestPersonsOnDiskMakeTheSameModel(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("equal bytes are promised to equal machines: evidence/decisions/0006-floats.md")
	}
	table := censustest.CSV(5, 900)
	lines := strings.Split(strings.TrimSpace(string(table)), "\n")
	for i := range lines {
		id := fmt.Sprintf("p%d", i*i%230)
		if i == 0 {
			id = "pid"
		}
		lines[i] = id + "," + lines[i]
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for rows, learners := range map[int][]string{
		1: {"additive", "grids", "brc", "erm", "labeldp"}, 3: {"additive", "brc"}, 0: {"additive"},
	} {
		s := *census.Schema()
		s.Columns = append([]schema.Column{{Name: "pid", Role: schema.Ignored, Kind: schema.Category}}, s.Columns...)
		s.Person, s.Label.Position = &schema.Person{Column: "pid", Rows: rows}, s.Label.Position+1
		tab, err := dataset.Read(t.Context(), &s, dataset.Options{}, path)
		if err != nil {
			t.Fatal(err)
		}
		st, err := blocks.NewStore(&s, []byte("schema"), t.TempDir(), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		if _, err := dataset.ReadBlocks(t.Context(), &s, dataset.Options{}, 70, st.Put, path); err != nil {
			t.Fatal(err)
		}
		for _, learner := range learners {
			pl, err := requestOf(t, learner, "1").Plan(&s, guard.PublicUnits(st.Table()))
			if err != nil {
				t.Errorf("%s: %v", learner, err)
				continue
			}
			got := learntest.FitFrom(t, pl, st.Table(), nil, 3)
			want := learntest.FitFrom(t, pl, learntest.Engine(t, learntest.OwnTable(tab)), nil, 3)
			if !bytes.Equal(learntest.Bytes(t, got), learntest.Bytes(t, want)) {
				t.Errorf("%s, %d rows of a person: another model than in memory", learner, rows)
			}
		}
	}
}

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "512MiB": 512 << 20, " 4 GiB": 4 << 30, "3KiB": 3 << 10,
		"0": 0, "": 0, "-1": 0, "4GB": 0, "99999999999GiB": 0} {
		got, err := ParseBytes("train", "memory-limit", text)
		if got != want || (err != nil) != (want == 0) {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}

// Noise that is sized by one schema's bounds does not cover cells that were held to another's.
func TestTablesOfAnotherSchemaAreRefused(t *testing.T) {
	tab := censustest.Table(3, 100)
	narrow := *census.Schema()
	narrow.Columns = slices.Clone(narrow.Columns)
	j := slices.IndexFunc(narrow.Columns, func(c schema.Column) bool { return c.Kind == schema.Number })
	narrow.Columns[j].Upper /= 2
	for s, refused := range map[*schema.Schema]bool{census.Schema(): false, &narrow: true} {
		var paid spent
		run := &Training{Op: "train", Request: requestOf(t, "erm", "1"), Schema: s, Account: &paid,
			Read: func(context.Context) (*dataset.Table, error) { return tab, nil }}
		if _, err := run.Run(context.Background()); (err != nil) != refused || bool(paid) == refused {
			t.Errorf("refused %v, charged %v: error %v", refused, paid, err)
		}
	}
}

// spent is whether anything was charged.
type spent bool

func (s *spent) Charge(context.Context, dp.Price, []dp.Event) error { *s = true; return nil }
func (s *spent) Counted() bool                                      { return true }

// What a training says does not depend on how large a table is, whatever limit an analyst chose:
// one row more, or a longer private cell, does not show.
func TestWordsDoNotTellSizes(t *testing.T) {
	for _, limit := range []int64{0, 1, 1000, 2999, 3000, 1 << 20} {
		if few, more := wordsAbout(t, 2999, limit), wordsAbout(t, 3000, limit); few != more {
			t.Errorf("limit %d: one row more says\n%s\nand not\n%s", limit, more, few)
		}
	}
}

// wordsAbout is what a training on rows of the census says where their number is private.
func wordsAbout(t *testing.T, rows int, limit int64) string {
	t.Helper()
	path, _ := censusFile(t, rows)
	s := *census.Schema()
	s.Relation = dp.AddRemove // the number of rows is private
	text, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	run := &Training{Op: "train", Request: requestOf(t, "additive", "1"), Schema: &s, SchemaText: text,
		Rows: &RowSource{Memory: limit, Files: []string{path}},
		Say:  func(format string, args ...any) { fmt.Fprintf(&said, format+"\n", args...) }}
	if _, err := run.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return said.String()
}

// Spark runs where a program hands a cluster in, and a cluster is for Spark alone.
func TestEnginesThatAreRefused(t *testing.T) {
	handed := struct{ Cluster }{}
	for _, c := range []struct {
		engine string
		cl     Cluster
		want   string // "" for none
	}{
		{EngineSpark, nil, "Spark is not part of this program"},
		{EngineMemory, handed, "must be spark if a cluster is given"},
		{EngineAuto, handed, "must be spark if a cluster is given"},
		{"flink", nil, "must be auto, memory, disk or spark"},
		{EngineDisk, nil, ""},
		{"", nil, ""},
	} {
		err := (&RowSource{Engine: c.engine, Cluster: c.cl}).check("train")
		if got := fmt.Sprint(err); !strings.Contains(got, c.want) || (err != nil) != (c.want != "") {
			t.Errorf("engine %q, cluster %v: %v, want %q", c.engine, c.cl != nil, err, c.want)
		}
		if c.engine == EngineMemory || c.engine == EngineSpark {
			if err := Examine(t.Context(), c.engine, c.cl, nil); !strings.Contains(fmt.Sprint(err), c.want) {
				t.Errorf("doctor, engine %q: %v, want %q", c.engine, err, c.want)
			}
		}
	}
}
