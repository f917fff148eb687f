// SPDX-License-Identifier: Apache-2.0

//go:build unix

package erm_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn/erm"
	"github.com/discreet-dp/discreet/internal/model/metrics"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/sample"
)

// TestThresholdOnRealTables writes evidence/benchmarks/erm-threshold-real.tsv to the
// file DISCREET_ERM_THRESHOLD_REAL: what choosing a threshold brings on the data
// sets, wherever its rule has one chosen, of pairs of fits with the same seed.
func TestThresholdOnRealTables(t *testing.T) {
	path := os.Getenv("DISCREET_ERM_THRESHOLD_REAL")
	if path == "" {
		t.Skip("set DISCREET_ERM_THRESHOLD_REAL to a file to measure what a threshold brings on the data sets")
	}
	const splits, most = 40, 40_000 // rows to train on
	var out strings.Builder
	out.WriteString("table\tlabels\tencoding\tepsilon\taccuracy without\tgain\tits standard error\tauc " +
		"without\tauc\tcalibration error without\tcalibration error\n")
	for _, table := range realTables {
		all := learntest.ReadReal(t, table.name+".yaml", table.files...)
		for _, labels := range []string{"balanced", "as they come"} {
			pairs := map[string]*pair{}
			var points []string
			for r := range uint64(splits) {
				fit, held, tab := splitReal(t, all, labels == "balanced", most, replay.Seeded(r, "threshold "+table.name))
				for _, enc := range []feature.Encoding{feature.Ordinal, feature.OneHot} {
					for _, eps := range []float64{.01, .02, .04, .08, .16, .5, 1, 2, 4} {
						p := erm.Defaults()
						p.Encoding = enc
						var err error
						if p.Epsilon, err = dp.EpsilonOf(eps); err != nil {
							t.Fatal(err)
						}
						with := fitted(t, p, fit, tab, held, r)
						if with == nil {
							continue
						}
						p.Threshold = erm.NoThreshold
						point := fmt.Sprintf("%s\t%g", enc, eps)
						if pairs[point] == nil {
							pairs[point] = new(pair)
							points = append(points, point)
						}
						pairs[point].add(fitted(t, p, fit, tab, held, r), with)
					}
				}
			}
			slices.Sort(points)
			for _, point := range points {
				fmt.Fprintf(&out, "%s\t%s\t%s\t%s\n", table.name, labels, point, pairs[point])
			}
		}
	}
	if err := os.WriteFile(path, []byte(out.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// realTables are the data sets that the learner's rules are measured on.
var realTables = []struct {
	name  string
	files []string
}{
	{"adult", []string{"adult/adult.data.gz", "adult/adult.test.gz"}},
	{"credit", []string{"credit/UCI_Credit_Card.csv.gz"}},
	{"sepsis", []string{"sepsis/s41598-020-73558-3_sepsis_survival_primary_cohort.csv.gz"}},
	{"bank", []string{"bank/bank-full.csv.gz"}},
	{"phishing", []string{"phishing/phishing_websites.csv.gz"}},
	{"kdd99", []string{"kdd99/kddcup.data_10_percent.gz"}},
}

// splitReal draws a tenth to test, and from the others at most so many rows to train on.
func splitReal(t *testing.T, all *dataset.Table, balanced bool, most int,
	src rng.Source) (fit, held *dataset.Table, tab engine.Table) {
	rows := upTo(all.Rows)
	if balanced {
		rows = sample.Balance(all, src)
	}
	train, test := sample.HoldOut(rows, 0.1, src)
	fit, held = all.Subset(train[:min(len(train), most)]), all.Subset(test)
	tab, err := memory.New(fit)
	if err != nil {
		t.Fatal(err)
	}
	return fit, held, tab
}

// fitted is how a fit does on held-out rows, nil if p asks for a threshold
// and the rule has none.
func fitted(t *testing.T, p erm.Params, fit *dataset.Table, tab engine.Table, held *dataset.Table,
	seed uint64) *metrics.Report {
	pl, err := p.Plan(fit.Schema, fit.Rows)
	if err != nil {
		t.Fatal(err)
	}
	chosen := slices.ContainsFunc(pl.Terms().Bill, func(e dp.Event) bool { return e.Release == "threshold" })
	if p.Threshold == erm.AutoThreshold && !chosen {
		return nil
	}
	m, err := guard.Train(context.Background(), pl, tab, guard.Uncounted{}, mech.NewExit(replay.Seeded(seed, "threshold")))
	if err != nil {
		t.Fatal(err)
	}
	scores, err := m.Scores(held.Cols, held.Rows)
	if err != nil {
		t.Fatal(err)
	}
	var levels []string
	for _, l := range fit.Schema.Label.Levels {
		levels = append(levels, l.Value)
	}
	rep, err := metrics.Evaluate(held.Labels, scores, levels, fit.Schema.Label.Positive, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// pair adds up what pairs of fits did, without and with a threshold.
type pair struct {
	n, gain, square float64
	sum             [2]struct{ accuracy, auc, off float64 }
}

func (p *pair) add(without, with *metrics.Report) {
	gain := with.Accuracy - without.Accuracy
	p.n, p.gain, p.square = p.n+1, p.gain+gain, p.square+gain*gain
	for i, rep := range []*metrics.Report{without, with} {
		s := &p.sum[i]
		s.accuracy, s.auc, s.off = s.accuracy+rep.Accuracy, s.auc+*rep.AUC, s.off+rep.CalibrationError
	}
}

func (p *pair) String() string {
	gain := p.gain / p.n
	return fmt.Sprintf("%.4f\t%.4f\t%.4f\t%.3f\t%.3f\t%.3f\t%.3f", p.sum[0].accuracy/p.n, gain,
		math.Sqrt(max(0, p.square/p.n-gain*gain)/(p.n-1)),
		p.sum[0].auc/p.n, p.sum[1].auc/p.n, p.sum[0].off/p.n, p.sum[1].off/p.n)
}

func upTo(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}
