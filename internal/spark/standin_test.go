// SPDX-License-Identifier: Apache-2.0

package spark

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Variables of the stand-in's processes: what goes wrong, where what is printed goes, and the
// folder of what workers are told.
const (
	standInFaults = "DISCREET_TEST_FAULTS"
	standInSaid   = "DISCREET_TEST_SAID"
	standInTold   = "DISCREET_TEST_TOLD"
)

// Executors run the file that asks, which here is the test's.
func TestMain(m *testing.M) {
	if len(os.Args) != 2 || os.Args[1] != "worker" {
		os.Exit(m.Run())
	}
	in := io.Reader(os.Stdin)
	if folder := os.Getenv(standInTold); folder != "" {
		told, err := os.CreateTemp(folder, "worker")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		in = io.TeeReader(in, told)
	}
	if err := ServeWorker(context.Background(), in, os.Stdout, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// standIn is a session in Python with workers of its own, as in a cluster, without Spark.
type standIn struct {
	said, told, local string
	o                 Options
}

func newStandIn(t *testing.T, faults, data string) *standIn {
	t.Helper()
	size.OnlyLong(t, "needs python3")
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs python3")
	}
	submit, err := filepath.Abs(filepath.Join("testdata", "standin", "submit.py"))
	if err != nil {
		t.Fatal(err)
	}
	short, err := os.MkdirTemp("", "s") // the path of a socket is limited to about 100 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(short) })
	c := &standIn{said: filepath.Join(t.TempDir(), "said"), told: t.TempDir(), local: t.TempDir(),
		o: Options{Submit: "python3 " + submit, Data: []string{data}, BlockRows: 300}}
	for name, value := range map[string]string{standInFaults: faults, standInSaid: c.said, standInTold: c.told,
		"TMPDIR": short, "SPARK_LOCAL_DIRS": c.local} {
		t.Setenv(name, value)
	}
	return c
}

// start starts a session.
func (c *standIn) start(t *testing.T, s *schema.Schema) *Session {
	t.Helper()
	text, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	sn, err := Start(t.Context(), s, text, c.o)
	if err != nil {
		said, _ := os.ReadFile(c.said)
		t.Fatalf("%v\n%s", err, said)
	}
	return sn
}

// left checks that the session and its workers have printed nothing and left no file.
func (c *standIn) left(t *testing.T) {
	t.Helper()
	if said, err := os.ReadFile(c.said); err != nil || len(said) > 0 {
		t.Errorf("the session or its executors print %q, %v", said, err)
	}
	for _, folder := range []string{c.local, os.Getenv("TMPDIR")} {
		names, err := os.ReadDir(folder)
		if err != nil || len(names) > 0 {
			t.Errorf("files are left: %v, %v", names, err)
		}
	}
}

// secrets are the distinct secrets and lots that the workers were told.
func (c *standIn) secrets(t *testing.T) (keys, lots map[string]bool) {
	t.Helper()
	keys, lots = map[string]bool{}, map[string]bool{}
	files, err := filepath.Glob(filepath.Join(c.told, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no worker was told anything: %v", err)
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for r := bytes.NewReader(b); ; {
			h, _, err := receive(r)
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // a worker that was killed
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if h.Op == "begin" {
				keys[h.Secret] = true
			}
			if h.Lots != "" {
				lots[h.Lots] = true
			}
		}
	}
	return keys, lots
}

// faultsOfClusters are what a cluster may do to a job that ends well.
var faultsOfClusters = []string{"", "retry", "retry+kill", "kill+forget"}

// A table in a cluster answers as in memory, whatever tasks are lost, run twice or begun again in
// another process, and the processes there print nothing and keep no file.
func TestLostTasksCountOnce(t *testing.T) {
	const rows = 2500
	folder := writeFolder(t, rows, "a.parquet", "b.parquet", "c.parquet")
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	plain := *personSchema()
	plain.Person = nil
	for _, s := range []*schema.Schema{&plain, personSchema()} {
		tab, err := dataset.Read(t.Context(), s, dataset.Options{}, files...)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := memory.New(tab)
		if err != nil {
			t.Fatal(err)
		}
		for _, faults := range faultsOfClusters {
			t.Run(fmt.Sprintf("%s persons %v", faults, s.Person != nil), func(t *testing.T) {
				c := newStandIn(t, faults, folder)
				sn := c.start(t, s)
				defer sn.Close()
				if sn.Table().Rows() != tab.Rows {
					t.Errorf("%d rows, want %d", sn.Table().Rows(), tab.Rows)
				}
				compareTables(t, s, sn.Table(), whole)
				if err := sn.Close(); err != nil {
					t.Error(err)
				}
				c.left(t)
			})
		}
	}
}

// Of a part or of cohorts a cluster keeps their rows alone, also where a block has none.
func TestSelectedRowsAreKept(t *testing.T) {
	folder := writeFolder(t, 2500, "a.parquet", "b.parquet")
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	plain := *personSchema()
	plain.Person = nil
	for _, s := range []*schema.Schema{&plain, personSchema()} {
		tab, err := dataset.Read(t.Context(), s, dataset.Options{}, files...)
		if err != nil {
			t.Fatal(err)
		}
		region := s.Columns[2]
		for _, keep := range []*dataset.Selection{
			{Column: region.Name, Names: []string{region.Levels[1].Value}},
			{Column: region.Name, Names: []string{region.Levels[0].Value, region.Levels[3].Value}},
		} {
			t.Run(fmt.Sprintf("%d persons %v", len(keep.Names), s.Person != nil), func(t *testing.T) {
				kept := keep.Of(tab)
				whole, err := memory.New(kept)
				if err != nil || kept.Rows == 0 || kept.Rows == tab.Rows {
					t.Fatalf("%d of %d rows, %v", kept.Rows, tab.Rows, err)
				}
				c := newStandIn(t, "retry", folder)
				c.o.Rows, c.o.BlockRows = keep, 20
				sn := c.start(t, s)
				if sn.Table().Rows() != kept.Rows {
					t.Errorf("%d rows, want %d", sn.Table().Rows(), kept.Rows)
				}
				compareTables(t, s, sn.Table(), whole)
				if err := sn.Close(); err != nil {
					t.Error(err)
				}
				c.left(t)
				if s.Person == nil { // and rows that Spark passes on
					part := censustest.Table(1, 2500)
					w, all := playWorker(t), keep.Of(part)
					w.begin(keep)
					coded, _ := w.call(header{Op: "code", Name: "0-0"}, readFile(t, files[0]))
					if coded.Error != "" || coded.Rows != all.Rows {
						t.Errorf("a block of %d rows (%s), want %d", coded.Rows, coded.Error, all.Rows)
					}
				}
			})
		}
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// compareTables asks both tables the same, twice.
func compareTables(t *testing.T, s *schema.Schema, got, want engine.Table) {
	t.Helper()
	bins := []feature.Bins{feature.NewBins(s, 2, []float64{3}), feature.NewBins(s, 1, nil)}
	pairs := map[string][2]engine.Table{"rows": {got, want}}
	if s.Person != nil {
		p, q := got.Persons(), want.Persons()
		if p.Count() != q.Count() {
			t.Errorf("%d persons, want %d", p.Count(), q.Count())
		}
		below := func(n uint64) uint64 { return n / 3 }
		pairs = map[string][2]engine.Table{"weighed": {p.Weigh(2), q.Weigh(2)}, "drawn": {p.Draw(1, false, below),
			q.Draw(1, false, below)}, "filled": {p.Draw(40, true, below), q.Draw(40, true, below)}, "ignored": {p.Ignore(),
			q.Ignore()}}
	}
	for name, pair := range pairs {
		if pair[0].Rows() != pair[1].Rows() {
			t.Errorf("%s: %d rows, want %d", name, pair[0].Rows(), pair[1].Rows())
		}
		for range 2 {
			a, err1 := statistic.ClassCells{Bins: bins}.Of(t.Context(), pair[0])
			b, err2 := statistic.ClassCells{Bins: bins}.Of(t.Context(), pair[1])
			if err1 != nil || err2 != nil || !reflect.DeepEqual(a, b) {
				t.Errorf("%s: another answer than in memory, %v, %v", name, err1, err2)
			}
		}
	}
}

// The secret by which persons are told apart, and the lots by which their rows are drawn, are drawn
// again: no two sessions have one, and all processes of a session have the same.
func TestSecretsOfSessionsAreDrawn(t *testing.T) {
	s := personSchema()
	folder := writeFolder(t, 400, "a.parquet", "b.parquet")
	seen := map[string]bool{strings.Repeat("0", 64): true}
	for range 2 {
		c := newStandIn(t, "retry", folder)
		sn := c.start(t, s)
		state := uint64(0)
		for range 2 {
			sn.Table().Persons().Draw(1, false, func(n uint64) uint64 { state++; return state * 7919 % n })
		}
		if err := sn.Close(); err != nil {
			t.Error(err)
		}
		keys, lots := c.secrets(t)
		if len(keys) != 1 || len(lots) != 2 {
			t.Errorf("a session has %d secrets and %d lots, want 1 and 2", len(keys), len(lots))
		}
		for key := range keys {
			if seen[key] || len(key) != 64 || strings.Count(key, key[:1]) > 32 {
				t.Errorf("the secret %s is not drawn", key)
			}
			seen[key] = true
		}
	}
}
