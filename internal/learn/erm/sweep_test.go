// SPDX-License-Identifier: Apache-2.0

package erm_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn/erm"
	"github.com/discreet-dp/discreet/internal/model/metrics"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// TestSweep writes evidence/benchmarks/erm-reg.tsv, from which the constants of
// DefaultReg and the switch of Auto come, to the file DISCREET_ERM_SWEEP: both
// methods over a grid of Λ on balanced generated tables.
func TestSweep(t *testing.T) {
	path := os.Getenv("DISCREET_ERM_SWEEP")
	if path == "" {
		t.Skip("set DISCREET_ERM_SWEEP to a file to write the sweep behind DefaultReg")
	}
	all := censustest.Table(1, 60_000)
	test := all.Subset(balanced(all, 40_000, 60_000, 8000))
	var levels []string
	for _, l := range all.Schema.Label.Levels {
		levels = append(levels, l.Value)
	}
	const repeats = 10
	var out strings.Builder
	out.WriteString("encoding\trows\tdim\tepsilon\tcrowd\tmethod\treg\taccuracy\tauc\n")
	for _, enc := range []feature.Encoding{feature.Ordinal, feature.OneHot} {
		sp, err := feature.NewSpace(all.Schema, enc, all.Schema.Features())
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{3000, 12_000} {
			tab, err := memory.New(all.Subset(balanced(all, 0, 40_000, n)))
			if err != nil {
				t.Fatal(err)
			}
			for _, eps := range []float64{.01, .04, .16, .5, 1, 4} {
				crowd := crowdOf(t, all.Schema, n, enc, eps)
				for _, m := range []erm.Method{erm.Objective, erm.Output} {
					for _, reg := range []float64{1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1, 3, 8, 30} {
						p := erm.Defaults()
						p.Encoding, p.Method, p.Reg = enc, m, reg
						if p.Epsilon, err = dp.EpsilonOf(eps); err != nil {
							t.Fatal(err)
						}
						pl, err := p.Plan(all.Schema, n)
						if err != nil {
							t.Fatal(err)
						}
						acc, auc := 0.0, 0.0
						for r := range uint64(repeats) {
							model, err := guard.Train(context.Background(), pl, tab, guard.Uncounted{}, mech.NewExit(replay.Seeded(r, "sweep")))
							if err != nil {
								t.Fatal(err)
							}
							scores, err := model.Scores(test.Cols, test.Rows)
							if err != nil {
								t.Fatal(err)
							}
							rep, err := metrics.Evaluate(test.Labels, scores, levels, all.Schema.Label.Positive, 0.5)
							if err != nil {
								t.Fatal(err)
							}
							acc, auc = acc+rep.Accuracy/repeats, auc+*rep.AUC/repeats
						}
						fmt.Fprintf(&out, "%s\t%d\t%d\t%g\t%.3g\t%s\t%g\t%.3f\t%.3f\n", enc, n, sp.Width()+1, eps, crowd, m, reg,
							acc, auc)
					}
				}
			}
		}
	}
	if err := os.WriteFile(path, []byte(out.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// crowdOf is half the length of the noise in the mean gradient, where a ridge
// leaves it almost all of ε.
func crowdOf(t *testing.T, s *schema.Schema, n int, enc feature.Encoding, eps float64) float64 {
	p := erm.Defaults()
	p.Encoding, p.Method, p.Reg = enc, erm.Objective, 1000
	var err error
	if p.Epsilon, err = dp.EpsilonOf(eps); err != nil {
		t.Fatal(err)
	}
	pl, err := p.Plan(s, n)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range pl.Facts() {
		if f.Key == "noise_length" {
			return f.Value.(float64) / float64(2*n)
		}
	}
	t.Fatal("a plan without the length of its noise")
	return 0
}

// balanced returns the first rows of tab[from:to] with n/2 of each label.
func balanced(tab *dataset.Table, from, to, n int) (rows []int) {
	var have [2]int
	for i := from; i < to; i++ {
		if l := tab.Labels[i]; have[l] < n/2 {
			have[l]++
			rows = append(rows, i)
		}
	}
	return rows
}
