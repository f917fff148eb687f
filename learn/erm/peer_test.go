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
	"syscall"
	"testing"

	"github.com/discreet-dp/discreet/dataset"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/engine/memory"
	"github.com/discreet-dp/discreet/experiment/frame"
	"github.com/discreet-dp/discreet/feature"
	"github.com/discreet-dp/discreet/learn/erm"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/metrics"
	"github.com/discreet-dp/discreet/rng/replay"
)

type free struct{}

func (free) Charge(dp.Price, []dp.Event) error { return nil }
func (free) Counted() bool                     { return false }

// peerRun is one split of one table in one encoding: what the other library
// needs to repeat it, and how erm did. Rows lie beside it as float32, features
// in [-1, 1] and then the label, 0 or 1.
type peerRun struct {
	Table, Encoding, File string
	Repeat                int
	Columns, Width        int // features of a row; its length is at most √Columns
	Train, Test           int
	Results               []peerResult
}

type peerResult struct {
	Epsilon       float64
	Accuracy, AUC float64
	Seconds       float64 // of processor, all threads: of Plan and Fit, the fastest of some
	First         float64 // the same of the table's first fit, which lays the rows out; 0 elsewhere
}

// TestDiffprivlibSplits writes what peers/diffprivlib/compare.py reads, into
// the folder DISCREET_DIFFPRIVLIB.
func TestDiffprivlibSplits(t *testing.T) {
	dir := os.Getenv("DISCREET_DIFFPRIVLIB")
	if dir == "" {
		t.Skip("set DISCREET_DIFFPRIVLIB to a folder (make -C peers/diffprivlib check)")
	}
	datasets := os.Getenv("DISCREET_DATASETS")
	if datasets == "" {
		datasets = filepath.Join("..", "..", "..", "shared", "datasets")
	}
	if _, err := os.Stat(datasets); err != nil {
		t.Skip("no data sets: set DISCREET_DATASETS")
	}
	const repeats = 10
	world := frame.NewWorld(datasets)
	var runs []peerRun
	for _, table := range []struct {
		name  string
		files []string
	}{
		{"adult", []string{"adult/adult.data.gz", "adult/adult.test.gz"}},
		{"credit", []string{"credit/UCI_Credit_Card.csv.gz"}},
		{"sepsis", []string{"sepsis/s41598-020-73558-3_sepsis_survival_primary_cohort.csv.gz"}},
		{"bank", []string{"bank/bank-full.csv.gz"}},
	} {
		all, err := world.Read(context.Background(), table.name+".yaml", table.files...)
		if err != nil {
			t.Fatal(err)
		}
		for r := range repeats {
			src := replay.Seeded(uint64(r), "diffprivlib "+table.name)
			train, test := frame.HoldOut(frame.Balance(all, src), 0.1, src)
			for _, enc := range []feature.Encoding{feature.Ordinal, feature.OneHot} {
				run := peerRun{Table: table.name, Encoding: string(enc), Repeat: r, Train: len(train), Test: len(test)}
				run.File = fmt.Sprintf("%s-%s-%d.f32", table.name, enc, r)
				run.widen(t, all, append(train, test...), filepath.Join(dir, run.File))
				run.fit(t, all.Subset(train), all.Subset(test))
				runs = append(runs, run)
			}
		}
	}
	text, err := json.Marshal(runs)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "runs.json"), text, 0o666); err != nil {
		t.Fatal(err)
	}
}

func (p *peerRun) widen(t *testing.T, all *dataset.Table, rows []int, path string) {
	sp, err := feature.NewSpace(all.Schema, feature.Encoding(p.Encoding), all.Schema.Features())
	if err != nil {
		t.Fatal(err)
	}
	p.Columns, p.Width = len(sp.Columns), sp.Width()
	var out bytes.Buffer
	for _, i := range rows {
		x := make([]float32, p.Width+1)
		for k, j := range sp.Columns {
			c := &all.Cols[j]
			f, v := 0, 0.0
			if code := c.Codes.At(i); c.Values != nil {
				f, v = sp.Number(k, c.Values[code])
			} else {
				f, v = sp.Code(k, int(code))
			}
			x[f] = float32(v)
		}
		if int(all.Labels[i]) == all.Schema.Label.Positive {
			x[p.Width] = 1
		}
		if err := binary.Write(&out, binary.LittleEndian, x); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

func (p *peerRun) fit(t *testing.T, train, test *dataset.Table) {
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
		for k := range 7 {
			start := processor(t)
			pl, err := params.Plan(train.Schema, train.Rows)
			if err != nil {
				t.Fatal(err)
			}
			m, err := pl.Fit(context.Background(), tab, free{}, mech.NewExit(replay.Seeded(uint64(p.Repeat), fmt.Sprint("erm ", eps))))
			if err != nil {
				t.Fatal(err)
			}
			took := processor(t) - start
			if k == 0 || took < res.Seconds {
				res.Seconds = took
			}
			if k == 0 && len(p.Results) == 0 {
				res.First = took
			}
			scores, err := m.Scores(test.Cols, test.Rows)
			if err != nil {
				t.Fatal(err)
			}
			rep, err := metrics.Evaluate(test.Labels, scores, levels, train.Schema.Label.Positive)
			if err != nil {
				t.Fatal(err)
			}
			res.Accuracy, res.AUC = rep.Accuracy, *rep.AUC
		}
		p.Results = append(p.Results, res)
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
