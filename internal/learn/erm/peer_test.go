// SPDX-License-Identifier: Apache-2.0

//go:build unix

package erm_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn/erm"
	"github.com/discreet-dp/discreet/internal/model/metrics"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/sample"
)

// peerTable is one table in one encoding, what the other library needs to
// repeat our runs, and how erm did. Rows lie beside it as float32, features in
// [-1, 1] and then the label, 0 or 1; the rows of each split as int32.
type peerTable struct {
	Table, Encoding, File string
	Columns, Width        int     // features of a row; its length is at most √Columns
	First                 float64 // seconds of processor: of the first fit, which lays the rows out
	Splits                []peerSplit
}

type peerSplit struct {
	File    string // indices of the rows to train on, then of those to test on
	Train   int
	Results []peerResult
}

type peerResult struct {
	Epsilon       float64
	Accuracy, AUC float64
	// Of Plan and Fit, the fastest of some, in seconds: of processor, all
	// threads, and by the clock. 0 in splits that are not timed.
	Seconds, Wall float64
}

// TestDiffprivlibSplits writes what lab/peers/diffprivlib/compare.py reads, into
// the folder DISCREET_DIFFPRIVLIB. DISCREET_SPLITS is how many splits (100).
func TestDiffprivlibSplits(t *testing.T) {
	dir := os.Getenv("DISCREET_DIFFPRIVLIB")
	if dir == "" {
		t.Skip("set DISCREET_DIFFPRIVLIB to a folder (make -C lab/peers/diffprivlib check)")
	}
	splits := 100
	if text := os.Getenv("DISCREET_SPLITS"); text != "" {
		var err error
		if splits, err = strconv.Atoi(text); err != nil || splits < 1 {
			t.Fatalf("DISCREET_SPLITS must be a number from 1, not %q", text)
		}
	}
	var tables []peerTable
	for _, table := range []struct {
		name  string
		files []string
	}{
		{"adult", []string{"adult/adult.data.gz", "adult/adult.test.gz"}},
		{"credit", []string{"credit/UCI_Credit_Card.csv.gz"}},
		{"sepsis", []string{"sepsis/s41598-020-73558-3_sepsis_survival_primary_cohort.csv.gz"}},
		{"bank", []string{"bank/bank-full.csv.gz"}},
	} {
		all := learntest.ReadReal(t, table.name+".yaml", table.files...)
		for _, enc := range []feature.Encoding{feature.Ordinal, feature.OneHot} {
			p := peerTable{Table: table.name, Encoding: string(enc), File: fmt.Sprintf("%s-%s.f32", table.name, enc)}
			p.widen(t, all, filepath.Join(dir, p.File))
			for r := range splits {
				src := replay.Seeded(uint64(r), "diffprivlib "+table.name)
				train, test := sample.HoldOut(sample.Balance(all, src), 0.1, src)
				s := peerSplit{File: fmt.Sprintf("%s-%d.i32", table.name, r), Train: len(train)}
				rows := make([]int32, 0, len(train)+len(test))
				for _, i := range append(train, test...) {
					rows = append(rows, int32(i))
				}
				writeNumbers(t, filepath.Join(dir, s.File), rows)
				p.fit(t, &s, r, all.Subset(train), all.Subset(test))
				p.Splits = append(p.Splits, s)
			}
			tables = append(tables, p)
		}
	}
	text, err := json.Marshal(tables)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tables.json"), text, 0o666); err != nil {
		t.Fatal(err)
	}
}

func writeNumbers(t *testing.T, path string, numbers any) {
	var out bytes.Buffer
	if err := binary.Write(&out, binary.LittleEndian, numbers); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

func (p *peerTable) widen(t *testing.T, all *dataset.Table, path string) {
	sp, err := feature.NewSpace(all.Schema, feature.Encoding(p.Encoding), all.Schema.Features())
	if err != nil {
		t.Fatal(err)
	}
	p.Columns, p.Width = len(sp.Columns), sp.Width()
	wide := make([]float32, all.Rows*(p.Width+1))
	for i := range all.Rows {
		x := wide[i*(p.Width+1):][:p.Width+1]
		for k, j := range sp.Columns {
			c := &all.Cols[j]
			f, v := sp.Cell(k, c, int(c.Codes.At(i)))
			x[f] = float32(v)
		}
		if int(all.Labels[i]) == all.Schema.Label.Positive {
			x[p.Width] = 1
		}
	}
	writeNumbers(t, path, wide)
}

// timedSplits are the splits in which fits are timed, each the fastest of some.
const timedSplits, timedFits = 10, 7

func (p *peerTable) fit(t *testing.T, s *peerSplit, r int, train, test *dataset.Table) {
	tab, err := memory.New(train)
	if err != nil {
		t.Fatal(err)
	}
	var levels []string
	for _, l := range train.Schema.Label.Levels {
		levels = append(levels, l.Value)
	}
	for _, eps := range []float64{.01, .02, .04, .08, .16, .5, 1, 2, 4} {
		params := erm.Defaults()
		params.Encoding = feature.Encoding(p.Encoding)
		if params.Epsilon, err = dp.EpsilonOf(eps); err != nil {
			t.Fatal(err)
		}
		res := peerResult{Epsilon: eps}
		fits := 1
		if r < timedSplits {
			fits = timedFits
		}
		for k := range fits {
			start, clock := processor(t), time.Now()
			pl, err := params.Plan(train.Schema, train.Rows)
			if err != nil {
				t.Fatal(err)
			}
			m, err := guard.Train(context.Background(), pl, tab, guard.Uncounted{},
				mech.NewExit(replay.Seeded(uint64(r), fmt.Sprint("erm ", eps))))
			if err != nil {
				t.Fatal(err)
			}
			took, wall := processor(t)-start, time.Since(clock).Seconds()
			if len(p.Splits) == 0 && len(s.Results) == 0 && k == 0 {
				p.First = took
			}
			if r < timedSplits && (k == 0 || took < res.Seconds) {
				res.Seconds, res.Wall = took, wall
			}
			if k > 0 {
				continue
			}
			scores, err := m.Scores(test.Cols, test.Rows)
			if err != nil {
				t.Fatal(err)
			}
			rep, err := metrics.Evaluate(test.Labels, scores, levels, train.Schema.Label.Positive, 0.5)
			if err != nil {
				t.Fatal(err)
			}
			res.Accuracy, res.AUC = rep.Accuracy, *rep.AUC
		}
		s.Results = append(s.Results, res)
	}
}

// processor is the time this process has been on a processor, in seconds, which
// other programs on the machine do not lengthen.
func processor(t *testing.T) float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}
