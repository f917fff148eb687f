// SPDX-License-Identifier: Apache-2.0

package evaluation

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/metrics"
)

// With exact counts the numbers of a group are those of its rows alone, and those of all rows stay.
func TestGroupsOfExactCounts(t *testing.T) {
	tab := censustest.Table(4, 8000)
	s := tab.Schema
	m := scoring(s, 0.4)
	pl, err := Params{Epsilon: 100 * dp.Nano, Models: []*model.Model{m}, Threshold: 0.5, By: "sex"}.Plan(s, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	r, _ := counted(t, pl, tab)
	r.Variance = 0
	report, err := r.Report(Choice{})
	if err != nil {
		t.Fatal(err)
	}
	scores, err := m.Scores(tab.Cols, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	check := func(who string, numbers []Number, in func(i int) bool) {
		var labels []uint8
		var own []float64
		mean := 0.0
		for i, y := range tab.Labels {
			if in(i) {
				labels, own, mean = append(labels, y), append(own, scores[i]), mean+scores[i]
			}
		}
		want, err := metrics.Evaluate(labels, own, r.Levels, s.Label.Positive, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		for name, x := range map[string]float64{"accuracy": want.Accuracy, "positive_rate": want.Ranking.PositiveRate,
			"predicted_rate": want.Ranking.PredictedRate, "recall": *want.Ranking.Recall, "auc": *want.AUC,
			"score_minus_rate": mean/float64(len(own)) - want.Ranking.PositiveRate} {
			k := slices.IndexFunc(numbers, func(n Number) bool { return n.Name == name })
			if k < 0 || math.Abs(numbers[k].Value-x) > 1e-9 {
				t.Errorf("%s: %s is not %g in %v", who, name, x, numbers)
			}
		}
	}
	col := &tab.Cols[s.Find("sex")]
	told := 0
	for g, group := range report.Groups {
		if !group.Told {
			continue
		}
		told++
		check(group.Name, group.Numbers, func(i int) bool { return int(col.Codes.At(i)) == g })
	}
	check("all", report.Numbers, func(int) bool { return true })
	if told < 2 || report.Groups[len(report.Groups)-1].Told {
		t.Errorf("%d groups are told of %v", told, r.Groups)
	}
	var page, text bytes.Buffer
	if err := report.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	if err := report.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"Groups by sex", "Too few rows to tell at this price: other."} {
		if !strings.Contains(page.String(), word) || !strings.Contains(text.String(), word) {
			t.Errorf("the page or the text lacks %q", word)
		}
	}
	if b, err := json.Marshal(report); err != nil || !strings.Contains(string(b), `"by":"sex"`) {
		t.Error(string(b), err)
	}
}

// drawRelease is a release of so many rows, drawn from shares of cells in groups, with Laplace noise of this scale.
func drawRelease(src *rand.Rand, shares [][]float64, cuts []float64, rows int, scale float64) *Release {
	r := &Release{Version: version, Label: "y", Levels: []string{"no", "yes"}, Positive: 1, Models: 1, Threshold: cuts[len(cuts)/2],
		Cuts: cuts, Variance: 2 * scale * scale, Cells: [][]float64{{}}, Units: rows}
	if len(shares) > 1 {
		r.By = "group"
	}
	flat := slices.Concat(shares...)
	n := make([]float64, len(flat))
	for range rows {
		at, k := src.Float64(), 0
		for k < len(flat)-1 && at >= flat[k] {
			at -= flat[k]
			k++
		}
		n[k]++
	}
	for g := range shares {
		if r.By != "" {
			r.Groups = append(r.Groups, string(rune('a'+g)))
		}
	}
	for k := range n {
		n[k] += scale * (src.ExpFloat64() - src.ExpFloat64())
	}
	r.Cells[0] = n
	return r
}

// drawShares draws populations that nothing was set on: scores of any slope and spread, groups of any size.
func drawShares(src *rand.Rand, groups int, g *grid) [][]float64 {
	out, all := make([][]float64, groups), 0.0
	for k := range out {
		size, middle, spread, off := math.Exp(1.5*src.NormFloat64()), 2*src.NormFloat64(), 0.5+2*src.Float64(), 0.7*src.NormFloat64()
		for c := range g.cells() {
			z := (g.edges[c] + g.edges[c+1]) / 2
			mass := size * math.Exp(-(z-middle)*(z-middle)/(2*spread*spread))
			out[k] = append(out[k], mass*logistic(-z-off), mass*logistic(z+off))
			all += mass
		}
	}
	for k := range out {
		for c := range out[k] {
			out[k][c] /= all
		}
	}
	return out
}

// What holds together holds: all numbers of all groups, and each curve at all thresholds. Of 400 draws of populations
// that nothing was set on, at least 95 % less three standard errors.
func TestIntervalsHoldTogether(t *testing.T) {
	src := rand.New(rand.NewPCG(41, 7))
	draws, held := size.Of(100, 400), map[string]int{}
	for range draws {
		groups := 2 + src.IntN(5)
		g := newGrid(8+2*src.IntN(5), 0.5, false)
		shares := drawShares(src, groups, &g)
		r := drawRelease(src, shares, g.cuts, 500+src.IntN(8000), 1+3*src.Float64())
		exact := *r
		exact.Cells, exact.Variance = [][]float64{slices.Concat(shares...)}, 0
		for k := range exact.Cells[0] { // a population of many rows
			exact.Cells[0][k] *= 1e9
		}
		exact.Units = 1e9
		report, err := r.Report(Choice{Rate: 0.3})
		if err != nil {
			t.Fatal(err)
		}
		truth, err := exact.Report(Choice{})
		if err != nil {
			t.Fatal(err)
		}
		from := slices.Index(append([]float64{0}, append(g.cuts, 1)...), report.Threshold)
		truth.Groups = nil
		truth.judgeGroups(from, 1)
		all := true
		for k, group := range report.Groups {
			for i, n := range group.Numbers {
				want := truth.Groups[k].Numbers[i].Value
				if n.Name == "auc" || n.Name == "score_minus_rate" { // what a grid leaves open is not tried here
					want = min(max(want, n.Low-0.02), n.High+0.02)
				}
				all = all && n.Low <= want+1e-9 && want-1e-9 <= n.High
			}
		}
		if all {
			held["groups"]++
		}
		curves := map[string]bool{}
		for k, p := range report.Points {
			for i, n := range p.Numbers {
				want := truth.Points[k].Numbers[i]
				if _, ok := curves[n.Name]; !ok {
					curves[n.Name] = true
				}
				curves[n.Name] = curves[n.Name] && (!want.Known || n.Low <= want.Value+1e-9 && want.Value-1e-9 <= n.High)
			}
		}
		for name, ok := range curves {
			if ok {
				held[name]++
			}
		}
		calibrated := true
		for k, group := range report.Calibration {
			want := truth.Calibration[k].Share
			calibrated = calibrated && (!want.Known || group.Share.Low <= want.Value+1e-9 && want.Value-1e-9 <= group.Share.High)
		}
		if calibrated {
			held["calibration"]++
		}
	}
	least := float64(draws)*Confidence - 3*math.Sqrt(float64(draws)*Confidence*(1-Confidence))
	if len(held) < 11 {
		t.Errorf("only %v", held)
	}
	for name, n := range held {
		if float64(n) < least {
			t.Errorf("%s: %d of %d hold together", name, n, draws)
		}
	}
	t.Log(held)
}

// A group of whose rows nothing is told by the counts has no numbers, whatever the counts are.
func TestSmallGroupsAreNotTold(t *testing.T) {
	src := rand.New(rand.NewPCG(43, 7))
	g := newGrid(8, 0.5, false)
	shares := drawShares(src, 2, &g)
	for k := range shares[1] {
		shares[0][k], shares[1][k] = shares[0][k]+shares[1][k], 0
	}
	told := 0
	for range 500 {
		r := drawRelease(src, shares, g.cuts, 3000, 2)
		report, err := r.Report(Choice{})
		if err != nil {
			t.Fatal(err)
		}
		if report.Groups[1].Told {
			told++
		}
		if !report.Groups[0].Told {
			t.Error("a group of 3,000 rows is not told")
		}
	}
	if told > 5 {
		t.Errorf("an empty group is told in %d of 500 releases", told)
	}
}
