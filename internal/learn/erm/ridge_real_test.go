// SPDX-License-Identifier: Apache-2.0

//go:build unix

package erm_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn/erm"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// TestRidgeOnRealTables writes evidence/benchmarks/erm-ridge-real.tsv to the file
// DISCREET_ERM_RIDGE_REAL: accuracy and AUC of method objective on the data sets at
// multiples of the rule's ridge, means over fits of the same rows and seeds.
func TestRidgeOnRealTables(t *testing.T) {
	path := os.Getenv("DISCREET_ERM_RIDGE_REAL")
	if path == "" {
		t.Skip("set DISCREET_ERM_RIDGE_REAL to a file to measure multiples of the ridge on the data sets")
	}
	const splits, most = 4, 40_000 // rows to train on
	multiples := []float64{4, 2, 1, 0.5, 0.25, 0.125}
	var out strings.Builder
	out.WriteString("table\tlabels\tnoise\tepsilon")
	for _, m := range multiples {
		fmt.Fprintf(&out, "\taccuracy, %g\tauc, %g", m, m)
	}
	out.WriteString("\n")
	for _, table := range realTables {
		all := learntest.ReadReal(t, table.name+".yaml", table.files...)
		for _, labels := range []string{"balanced", "as they come"} {
			sums := map[string][]float64{}
			var points []string
			for r := range uint64(splits) {
				fit, held, tab := splitReal(t, all, labels == "balanced", most, replay.Seeded(r, "ridge "+table.name))
				for _, noise := range []erm.Noise{erm.Blocks, erm.Gamma} {
					for _, eps := range []float64{.02, .05, .1, .2, .4, .8, 1.6} {
						point := fmt.Sprintf("%s\t%g", noise, eps)
						if sums[point] == nil {
							sums[point] = make([]float64, 2*len(multiples))
							points = append(points, point)
						}
						for i, m := range multiples {
							p := erm.Defaults()
							p.Method, p.Noise, p.Threshold = erm.Objective, noise, erm.NoThreshold
							var err error
							if p.Epsilon, err = dp.EpsilonOf(eps); err != nil {
								t.Fatal(err)
							}
							p.Reg = m * ruleRidge(t, p, fit)
							rep := fitted(t, p, fit, tab, held, r)
							sums[point][2*i] += rep.Accuracy / splits
							sums[point][2*i+1] += *rep.AUC / splits
						}
					}
				}
			}
			for _, point := range points {
				fmt.Fprintf(&out, "%s\t%s\t%s", table.name, labels, point)
				for _, x := range sums[point] {
					fmt.Fprintf(&out, "\t%.4f", x)
				}
				out.WriteString("\n")
			}
		}
	}
	if err := os.WriteFile(path, []byte(out.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// ruleRidge is Λ by the rule.
func ruleRidge(t *testing.T, p erm.Params, fit *dataset.Table) float64 {
	t.Helper()
	pl, err := p.Plan(fit.Schema, fit.Rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range pl.Facts() {
		if f.Key == "reg" {
			return f.Value.(float64)
		}
	}
	t.Fatal("the plan has no ridge")
	return 0
}
