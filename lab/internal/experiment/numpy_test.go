// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/discreet-dp/discreet/internal/check/testkit/realdata"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

// manyRepeats is from how many repeats on the two sides are held to three standard errors.
const manyRepeats = 20

// falseAlarm is the probability that, on new seeds, two equal programs differ somewhere by more
// than fewer repeats are held to. Both sides' seeds are fixed, so a run that passed passes again.
const falseAlarm = 1e-4

// TestNumpyFiguresAgree compares a figure of each paper with the same written in numpy
// (lab/peers/numpy; Figure 2a of Shen et al. has a test of its own): means of as many repeats as
// the other program made.
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
	runs, err := strconv.Atoi(os.Getenv("DISCREET_NUMPY_RUNS"))
	if err != nil {
		t.Fatal(err)
	}
	if len(theirs) != 3 {
		t.Fatalf("%d figures, want 3", len(theirs))
	}
	comparisons := 0
	for _, lines := range theirs {
		comparisons += len(lines)
	}
	for name, lines := range theirs {
		f, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		metric, draws := map[string]string{"chaudhuri/adult": "error"}[name], 0
		if metric == "" {
			metric = "accuracy"
		}
		repeats := 0
		for _, values := range lines {
			repeats = len(values)
		}
		// A figure of draws has the same number of runs of each on either side, and draws are
		// what is independent.
		if name == "wangchang/fig9" {
			metric, draws = "top_3", repeats
			repeats *= runs
		}
		compare(t, f, lines, metric, repeats, draws, comparisons)
	}
}

// compare measures the lines that theirs has, named series@ε.
func compare(t *testing.T, f *frame.Figure, theirs map[string][]float64, metric string,
	repeats, draws, comparisons int) {
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
		apart, allowed := math.Abs(meanA-meanB)/math.Hypot(errA, errB), 3.0
		if repeats < manyRepeats || draws > 0 && repeats < manyRepeats*draws/2 {
			allowed = allowedApart(errA, errB, len(b), comparisons)
		}
		t.Logf("%s %s: ours %.4f ± %.4f, numpy %.4f ± %.4f, %.1f of %.1f standard errors apart", f.Name, key, meanA,
			errA, meanB, errB, apart, allowed)
		if !(apart <= allowed || meanA == meanB) {
			t.Errorf("%s %s: %.1f standard errors apart, at most %.1f are allowed", f.Name, key, apart, allowed)
		}
	}
}

// allowedApart is the number of standard errors that the means of two lists of n numbers may be apart: the
// quantile of Student's law with Welch's degrees of freedom, falseAlarm divided by the comparisons.
func allowedApart(errA, errB float64, n, comparisons int) float64 {
	a, b := errA*errA, errB*errB
	free := (a + b) * (a + b) / (a*a + b*b) * float64(n-1)
	return distuv.StudentsT{Sigma: 1, Nu: free}.Quantile(1 - falseAlarm/2/float64(comparisons))
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
