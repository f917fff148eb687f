// SPDX-License-Identifier: Apache-2.0

package shen

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/realdata"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// The whole figure at its quick size: the order of the series, the bill of each
// fit, and noise that is smaller when tight.
func TestFig2aQuick(t *testing.T) {
	world(t)
	f := newFig2a()
	var ordinal []frame.Point
	for _, p := range f.Points {
		if p.Encoding == "ordinal" {
			ordinal = append(ordinal, p)
		}
	}
	f.Points = ordinal
	notes := f.Notes
	f.Notes = nil // they compare encodings
	res, err := f.Run(context.Background(), options(t, 2))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range res.Records {
		if private := strings.HasPrefix(r.Series, "brc") || strings.HasPrefix(r.Series,
			privateLog) || r.Series == diffprivlibLog; private != (r.Epsilon != nil) || private && r.Bill != *r.Epsilon ||
			!private && r.Bill != 0 {
			t.Errorf("%s: ε %v, bill %g", r.Series, r.Epsilon, r.Bill)
		}
	}
	s := res.Summary
	for _, eps := range budgets {
		tight, paper := s.Mean(brcTight, eps, noiseScale).Mean, s.Mean(brcPaper, eps, noiseScale).Mean
		if want := 2 * 25 / (eps.Float() * 21037); math.Abs(paper/want-1) > 1e-6 {
			t.Errorf("ε = %s: paper's noise %g, want c1·c2·T/(ε·n) = %g", eps, paper, want)
		}
		if !(tight < paper) {
			t.Errorf("ε = %s: tight noise %g is not below the paper's %g", eps, tight, paper)
		}
	}
	// Bands far outside the spread of two repeats: .008/√2 and .011/√2.
	for series, band := range map[string][2]float64{nonPrivate: {0.72, 0.81}, publicOnly: {0.56, 0.67}} {
		if m := s.Mean(series, 0, accuracy).Mean; !(m > band[0] && m < band[1]) {
			t.Errorf("%s: accuracy %g", series, m)
		}
	}
	if text := strings.Join(notes(s), "\n"); !strings.Contains(text, "Noise scale") {
		t.Errorf("notes do not give the noise scales: %s", text)
	}
}

func options(t *testing.T, repeats int) frame.Options {
	return frame.Options{Out: t.TempDir(), Repeats: repeats, Seed: 1, Datasets: realdata.Folder()}
}

// TestNumpyAgrees compares with another program's BRC (lab/peers/numpy writes the
// file): means of independent repeats, apart by at most 4.5 standard errors. On
// new seeds a false alarm has a probability near 2e-4 per ε (Student's law, about 22
// degrees of freedom), and both sides' seeds are fixed; with a dozen repeats a shift
// of 0.06 at ε = 0.16 is seen.
func TestNumpyAgrees(t *testing.T) {
	path := os.Getenv("DISCREET_NUMPY")
	if path == "" {
		t.Skip("make -C lab/peers/numpy check brings the other program's numbers")
	}
	world(t)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var theirs map[string][]float64
	if err := json.Unmarshal(text, &theirs); err != nil {
		t.Fatal(err)
	}
	f := newFig2a()
	all := f.Points
	f.Points = nil
	var compared []frame.Point
	for _, p := range all {
		if p.Encoding == "ordinal" { // what the chart draws
			f.Points = append(f.Points, p)
			if p.Series == brcPaper && theirs[p.Epsilon.String()] != nil {
				compared = append(compared, p)
			}
		}
	}
	if len(compared) != len(theirs) || len(theirs) == 0 {
		t.Fatalf("%d of the other program's %d budgets are in the figure", len(compared), len(theirs))
	}
	f.Notes = nil
	res, err := f.Run(context.Background(), options(t, 2*len(theirs["0.16"])))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range compared {
		a := res.Summary.Mean(brcPaper, p.Epsilon, accuracy)
		mean, variance := 0.0, 0.0
		xs := theirs[p.Epsilon.String()]
		for _, x := range xs {
			mean += x / float64(len(xs))
		}
		for _, x := range xs {
			variance += (x - mean) * (x - mean) / float64(len(xs)-1)
		}
		band := 4.5 * math.Hypot(a.StdErr, math.Sqrt(variance/float64(len(xs))))
		t.Logf("ε = %s: ours %.4f ± %.4f, numpy %.4f ± %.4f", p.Epsilon, a.Mean, a.StdErr, mean,
			math.Sqrt(variance/float64(len(xs))))
		if !(math.Abs(a.Mean-mean) <= band) {
			t.Errorf("ε = %s: ours %.4f, numpy %.4f, allowed %.4f apart", p.Epsilon, a.Mean, mean, band)
		}
	}
}
