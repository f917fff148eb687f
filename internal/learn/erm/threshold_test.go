// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model/metrics"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// A threshold is chosen where the written rule says so, from public numbers,
// and takes a fifth of ε to the nano-unit.
func TestThresholdRule(t *testing.T) {
	three, weighted := *census.Schema(), *census.Schema()
	three.Label.Levels = append([]schema.Level{{Value: "third"}}, three.Label.Levels...)
	three.Label.Positive = -1
	weighted.Label.Weights = []float64{1, 2}
	for _, c := range []struct {
		name   string
		s      *schema.Schema
		rows   int
		change func(*Params)
		want   dp.Epsilon
	}{
		{"swamped", census.Schema(), 1000, func(*Params) {}, dp.Nano / 5},
		{"huber", census.Schema(), 1000, func(p *Params) { p.Loss = Huber }, dp.Nano / 5},
		{"an ε that five does not divide", census.Schema(), 1000, func(p *Params) { p.Epsilon = dp.Nano + 3 }, dp.Nano / 5},
		{"n·ε = 300", census.Schema(), 300, func(*Params) {}, dp.Nano / 5},
		{"n·ε = 299", census.Schema(), 299, func(*Params) {}, 0},
		{"few coefficients", census.Schema(), 450, func(p *Params) { p.Encoding, p.Method = feature.Ordinal, Output }, 0},
		{"not swamped", census.Schema(), 100_000, func(*Params) {}, 0},
		{"output where the rows are heard", census.Schema(), 100_000, func(p *Params) { p.Method = Output }, 0},
		{"objective", census.Schema(), 1000, func(p *Params) { p.Method = Objective }, 0},
		{"as printed", census.Schema(), 1000, func(p *Params) { p.Method, p.Mode = Output, CMS11 }, 0},
		{"a ridge of one's own", census.Schema(), 1000, func(p *Params) { p.Method, p.Reg = Output, 8 }, 0},
		{"none", census.Schema(), 1000, func(p *Params) { p.Threshold = NoThreshold }, 0},
		{"rows unknown", census.Schema(), 0, func(p *Params) { p.Method = Output }, 0},
		{"not private", census.Schema(), 1000, func(p *Params) { p.Method, p.Epsilon, p.NotPrivate = Output, 0, true }, 0},
		{"three levels", &three, 1000, func(*Params) {}, 0},
		{"weights", &weighted, 1000, func(*Params) {}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := settings()["auto"]
			c.change(&p)
			pl, err := p.Plan(c.s, c.rows)
			if err != nil {
				t.Fatal(err)
			}
			asks := dp.Epsilon(0)
			for _, e := range pl.Terms().Bill {
				if e.Release == thresholdLabel {
					asks += e.Epsilon
				}
			}
			if total := dp.Pure(pl.Terms().Bill).Epsilon; asks != c.want || total != p.Epsilon {
				t.Errorf("a threshold takes %s of %s, want %s", asks, total, c.want)
			}
		})
	}
}

// What is chosen is where the counts are best, and what the counts promise is
// what the model then answers, long rows shortened or not.
func TestThresholdIsWhereTheModelIsRight(t *testing.T) {
	for _, norm := range []float64{1, 0.6} {
		tab := censustest.Table(4, 500)
		p := settings()["output, chosen"]
		p.Norm = norm
		pl, err := p.Plan(tab.Schema, tab.Rows)
		if err != nil {
			t.Fatal(err)
		}
		for k := range cutCount {
			tape := &mechtest.Recorder{Script: func(_ int, p mechtest.Passage) []float64 {
				if p.Choice {
					return []float64{float64(k)}
				}
				return nil
			}}
			m := learntest.Fit(t, pl, tab, tape, 3)
			promised := tape.Passages[len(tape.Passages)-1].Values[k]
			scores, err := m.Scores(tab.Cols, tab.Rows)
			if err != nil {
				t.Fatal(err)
			}
			right := int64(0)
			for i, label := range m.Labels(scores) {
				if label == tab.Labels[i] {
					right++
				}
			}
			if promised.Num != right*promised.Den {
				t.Errorf("norm %g: at cut %d the model is right about %d rows, the count was %d/%d", norm, k, right, promised.Num,
					promised.Den)
			}
		}
	}
}

// On a generated table whose labels are unbalanced, where a strong ridge alone
// answers one level always, a chosen threshold is better by more than noise.
func TestThresholdPays(t *testing.T) {
	all := censustest.Table(1, 20_000)
	train, test := all.Subset(upTo(0, 12_000)), all.Subset(upTo(12_000, 20_000))
	p := Defaults()
	p.Epsilon = dp.Nano / 10
	gain, repeats := 0.0, 8
	for r := range repeats {
		with := accuracyOf(t, p, thresholdPart, train, test, uint64(r))
		without := accuracyOf(t, p, 0, train, test, uint64(r))
		gain += (with.Accuracy - without.Accuracy) / float64(repeats)
	}
	if !(gain > 0.01) {
		t.Errorf("a threshold brings %.4f, want more than .01", gain)
	}
}

func upTo(from, to int) (rows []int) {
	for i := from; i < to; i++ {
		rows = append(rows, i)
	}
	return rows
}

// accuracyOf fits with one part of so many of ε for the threshold, 0 for none,
// whatever the rule says.
func accuracyOf(t *testing.T, p Params, part dp.Epsilon, train, test *dataset.Table, seed uint64) *metrics.Report {
	t.Helper()
	p.Threshold = NoThreshold
	pl, err := p.Plan(train.Schema, train.Rows)
	if err != nil {
		t.Fatal(err)
	}
	if part > 0 {
		pl.ask = p.Epsilon / part
		pl.writeBill()
	}
	scores, err := learntest.Fit(t, pl, train, nil, seed).Scores(test.Cols, test.Rows)
	if err != nil {
		t.Fatal(err)
	}
	var levels []string
	for _, l := range train.Schema.Label.Levels {
		levels = append(levels, l.Value)
	}
	rep, err := metrics.Evaluate(test.Labels, scores, levels, train.Schema.Label.Positive, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// TestThresholdSweep writes evidence/benchmarks/erm-threshold.tsv, from which the
// rule of thresholdPrice comes, to the file DISCREET_ERM_THRESHOLD: what a
// threshold brings over a grid of sizes, ε and parts of it, on generated tables
// with balanced labels and as they come.
func TestThresholdSweep(t *testing.T) {
	path := os.Getenv("DISCREET_ERM_THRESHOLD")
	if path == "" {
		t.Skip("set DISCREET_ERM_THRESHOLD to a file to write the sweep behind the threshold's rule")
	}
	const repeats = 20
	all := censustest.Table(1, 60_000)
	var out strings.Builder
	out.WriteString("labels\tencoding\trows\tepsilon\trows·epsilon\tcrowd\tmethod\tpart\taccuracy\tgain\tits standard " +
		"error\tauc\tcalibration error\n")
	for _, labels := range []string{"balanced", "as they come"} {
		for _, enc := range []feature.Encoding{feature.Ordinal, feature.OneHot} {
			for _, n := range []int{3000, 12_000} {
				train, test := all.Subset(upTo(0, n)), all.Subset(upTo(40_000, 48_000))
				if labels == "balanced" {
					train, test = all.Subset(halves(all, 0, n)), all.Subset(halves(all, 40_000, 8000))
				}
				for _, eps := range []float64{.01, .014, .02, .028, .035, .04, .056, .08, .11, .14, .16, .22, .32, .5, 1} {
					p := Defaults()
					p.Encoding = enc
					var err error
					if p.Epsilon, err = dp.EpsilonOf(eps); err != nil {
						t.Fatal(err)
					}
					pl, err := p.Plan(train.Schema, n)
					if err != nil {
						t.Fatal(err)
					}
					p.Method = pl.Method // not as a part of ε would have it
					var none [repeats]float64
					for _, part := range []dp.Epsilon{0, 10, 5, 3, 2} {
						acc, auc, off, gain, square := 0.0, 0.0, 0.0, 0.0, 0.0
						for r := range repeats {
							rep := accuracyOf(t, p, part, train, test, uint64(r))
							if part == 0 {
								none[r] = rep.Accuracy
							}
							g := rep.Accuracy - none[r]
							acc, auc, off = acc+rep.Accuracy/repeats, auc+*rep.AUC/repeats, off+rep.CalibrationError/repeats
							gain, square = gain+g/repeats, square+g*g/repeats
						}
						share := "0"
						if part > 0 {
							share = fmt.Sprintf("1/%d", part)
						}
						fmt.Fprintf(&out, "%s\t%s\t%d\t%g\t%.4g\t%.3g\t%s\t%s\t%.3f\t%.4f\t%.4f\t%.3f\t%.3f\n", labels, enc, n, eps,
							float64(n)*eps, pl.noiseLength(n), pl.Method, share,
							acc, gain, math.Sqrt(max(0, square-gain*gain)/(repeats-1)), auc, off)
					}
				}
			}
		}
	}
	if err := os.WriteFile(path, []byte(out.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// halves is n rows of tab from the given one on, as many of each label.
func halves(tab *dataset.Table, from, n int) (rows []int) {
	var have [2]int
	for i := from; len(rows) < n; i++ {
		if l := tab.Labels[i]; have[l] < n/2 {
			have[l]++
			rows = append(rows, i)
		}
	}
	return rows
}
