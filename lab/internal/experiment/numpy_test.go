// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/discreet-dp/discreet/internal/plot"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/realdata"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// TestNumpyFiguresAgree compares a figure of each paper with the same written in numpy
// (lab/peers/numpy; Figure 2a of Shen et al. has a test of its own): means apart by at most
// three standard errors. Both sides' seeds are fixed.
func TestNumpyFiguresAgree(t *testing.T) {
	path := os.Getenv("DISCREET_NUMPY_FIGURES")
	if path == "" {
		t.Skip("make -C lab/peers/numpy check brings the other program's numbers")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var theirs map[string]map[string][]float64
	if err := json.Unmarshal(text, &theirs); err != nil {
		t.Fatal(err)
	}
	if len(theirs) != 3 {
		t.Fatalf("%d figures, want 3", len(theirs))
	}
	for name, lines := range theirs {
		f, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		// A figure of draws has ten runs of each on either side, and draws are what is
		// independent.
		repeats, metric, draws := 20, map[string]string{"chaudhuri/adult": "error"}[name], 0
		if metric == "" {
			metric = "accuracy"
		}
		if name == "wangchang/fig9" {
			repeats, metric, draws = 100, "top_3", 10
		}
		compare(t, f, lines, metric, repeats, draws)
	}
}

// compare measures the lines that theirs has, named series@ε.
func compare(t *testing.T, f *frame.Figure, theirs map[string][]float64, metric string, repeats, draws int) {
	t.Helper()
	part := *f
	part.Points, part.Notes = nil, nil
	part.Draw = func(*frame.Summary) *plot.Lines { // a part of the figure has no chart
		return &plot.Lines{Title: f.Title, XLabel: "none", YLabel: "none",
			Series: []plot.Series{{Name: "none", X: []float64{0}, Y: []float64{0}}}}
	}
	part.Judge = func(*frame.Summary) []frame.Check { return nil }
	for _, p := range f.Points {
		if theirs[p.Series+"@"+p.Epsilon.String()] != nil {
			part.Points = append(part.Points, p)
		}
	}
	if len(part.Points) != len(theirs) {
		t.Fatalf("%s: %d of the other program's %d lines are in the figure", f.Name, len(part.Points), len(theirs))
	}
	res, err := part.Run(t.Context(), frame.Options{Out: t.TempDir(), Repeats: repeats, Seed: 1,
		Datasets: realdata.File(t, ".")})
	if err != nil {
		t.Fatal(err)
	}
	ours := map[string][]float64{}
	for _, r := range res.Records {
		if r.Metric != metric || r.Epsilon == nil {
			continue
		}
		eps, err := dp.EpsilonOf(*r.Epsilon)
		if err != nil {
			t.Fatal(err)
		}
		key := r.Series + "@" + eps.String()
		if draws == 0 {
			ours[key] = append(ours[key], r.Value)
			continue
		}
		if ours[key] == nil {
			ours[key] = make([]float64, draws)
		}
		ours[key][r.Repeat%draws] += r.Value / float64(repeats/draws)
	}
	for key, b := range theirs {
		a := ours[key]
		meanA, errA := meanOf(a)
		meanB, errB := meanOf(b)
		apart := math.Abs(meanA-meanB) / math.Hypot(errA, errB)
		t.Logf("%s %s: ours %.4f ± %.4f, numpy %.4f ± %.4f, %.1f standard errors apart", f.Name, key, meanA, errA, meanB,
			errB, apart)
		if !(apart <= 3 || meanA == meanB) {
			t.Errorf("%s %s: %.1f standard errors apart, at most 3 are allowed", f.Name, key, apart)
		}
	}
}

func meanOf(values []float64) (mean, stdErr float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		stdErr += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(stdErr / float64(len(values)-1) / float64(len(values)))
}
