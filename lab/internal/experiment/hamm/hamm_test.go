// SPDX-License-Identifier: Apache-2.0

package hamm

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/realdata"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/lab/internal/census"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// invented is a task on the census, so that the machinery is tested without the
// data.
func invented() *task {
	return &task{
		name: "invented", title: "an invented census", data: "the invented census",
		load:     func(context.Context, *frame.World) (*dataset.Table, error) { return census.Generate(1, 3000), nil },
		encoding: feature.OneHot, parties: 60, rows: 30, aux: 500, test: 500,
	}
}

// Every line of a figure can be measured, and learns something if it can.
func TestLines(t *testing.T) {
	task := invented()
	open, err := task.openData(overallAccuracy)(t.Context(), frame.NewWorld(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	measure, err := open(t.Context(), frame.Repeat{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, line := range slices.Concat(exact, private) {
		p := frame.Point{Series: line}
		if slices.Contains(private, line) {
			p.Epsilon = 300 * dp.Nano
		}
		m, err := measure(t.Context(), p)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		got[line] = m.Values[0].Value
		if m.Bill != p.Epsilon {
			t.Errorf("%s: cost %s, want %s", line, m.Bill, p.Epsilon)
		}
	}
	if !(got[pooled] > got[individual]) || !(got[softExact] > got[individual]) || !(got[soft] > 0.5) {
		t.Errorf("accuracies %v: many parties should know more than one", got)
	}
}

// The fast labels are the model's own.
func TestWideLabels(t *testing.T) {
	tab := census.Generate(2, 200)
	m, err := fitRidge(feature.OneHot)(t.Context(), tab)
	if err != nil {
		t.Fatal(err)
	}
	w, err := widenTable(tab, feature.OneHot)
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := predictLabels(m, tab)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.predictLabels(m); !slices.Equal(got, want) {
		t.Error("labels differ from the model's")
	}
}

// Features of a window that can be checked by hand.
func TestDescribe(t *testing.T) {
	var s [6][window]float64
	for i := range window {
		s[0][i] = 1                  // gravity alone
		s[3][i] = float64(i%2)*2 - 1 // turning to and fro
	}
	at := func(name string) float64 {
		return describeWindow(&s)[slices.IndexFunc(listBounds(), func(b bound) bool { return b.name == name })]
	}
	for name, want := range map[string]float64{
		"ax_mean": 1, "ax_deviation": 0, "gx_mean": 0, "gx_deviation": 1, "gx_change": 2, "acceleration_mean": 1,
		"rotation_mean": 1, "rotation_deviation": 0, "xy_correlation": 0,
	} {
		if got := at(name); !(math.Abs(got-want) < 1e-9) {
			t.Errorf("%s is %g, want %g", name, got, want)
		}
	}
	if len(describeWindow(&s)) != len(listBounds()) {
		t.Errorf("%d features and %d bounds", len(describeWindow(&s)), len(listBounds()))
	}
}

// Every line of ballots can be cast; without noise they know as much as labels.
func TestBallots(t *testing.T) {
	task := invented()
	task.encoding = feature.Ordinal
	open, err := task.openData(pollBallots)(t.Context(), frame.NewWorld(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	measure, err := open(t.Context(), frame.Repeat{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range ballotLines.names {
		for _, p := range []frame.Point{{Series: ballotLines.nameBeside(line)}, {Series: line, Epsilon: 300 * dp.Nano}} {
			m, err := measure(t.Context(), p)
			if err != nil {
				t.Fatalf("%s: %v", p.Series, err)
			}
			if m.Bill != p.Epsilon || !(m.Values[0].Value > 0.5) {
				t.Errorf("%s: accuracy %g for %s, want more than a half for %s", p.Series, m.Values[0].Value, m.Bill, p.Epsilon)
			}
		}
	}
}

// A margin is the score over the length of the coefficients, whatever their size.
func TestMarginsOf(t *testing.T) {
	tab := census.Generate(2, 300)
	m, err := fitRidge(feature.Ordinal)(t.Context(), tab)
	if err != nil {
		t.Fatal(err)
	}
	shares := func(factor float64) []float64 {
		scaled := *m
		l := *m.Classifier.(*model.Logistic)
		l.Bias *= factor
		l.Coef = slices.Clone(l.Coef)
		for i := range l.Coef {
			l.Coef[i] *= factor
		}
		scaled.Classifier = &l
		out, err := marginsOf(&scaled, tab)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	labels, _, err := predictLabels(m, tab)
	if err != nil {
		t.Fatal(err)
	}
	one, half, none := shares(1), shares(0.5), shares(0)
	moved := false
	for i, label := range labels {
		if one[2*i]+one[2*i+1] != 1 || !(one[2*i] >= 0 && one[2*i] <= 1) {
			t.Fatalf("row %d: shares %g and %g", i, one[2*i], one[2*i+1])
		}
		if !(one[2*i+int(label)] >= 0.5) {
			t.Fatalf("row %d: share %g of its own label", i, one[2*i+int(label)])
		}
		if !(math.Abs(one[2*i]-half[2*i]) < 1e-9) || none[2*i] != 0.5 {
			t.Fatalf("row %d: %g, of half the coefficients %g, of none %g", i, one[2*i], half[2*i], none[2*i])
		}
		moved = moved || one[2*i] != 0 && one[2*i] != 1 && one[2*i] != 0.5
	}
	if !moved {
		t.Error("all margins are votes")
	}
}

// The slope of a power law is its power.
func TestLine(t *testing.T) {
	var x, y []float64
	for _, m := range rateCrowds {
		x, y = append(x, math.Log(float64(m))), append(y, math.Log(7/float64(m*m)))
	}
	if got := fitSlope(x, y); !(math.Abs(got+2) < 1e-12) {
		t.Errorf("slope %g, want -2", got)
	}
}

// Lines of url_svmlight become rows; faults are told by their lines.
func TestReadSVMLight(t *testing.T) {
	tab, err := readSVMLight(strings.NewReader("-1 4:0.5 7:1\n+1 4:0.5\n\n"), "f")
	if err != nil || tab.Rows != 2 || tab.Labels[0] != 0 || tab.Labels[1] != 1 {
		t.Fatalf("%v %+v", err, tab)
	}
	place, sign := hashIndex(4)
	if got := tab.Cols[place].Values[tab.Cols[place].Codes.At(1)]; got != sign*0.5/1.5 {
		t.Errorf("feature 4 of row 2 is %g, want %g", got, sign*0.5/1.5)
	}
	for text, want := range map[string]string{"0 1:1": "line 1: must begin with the label",
		"+1 1:1\n-1 x:1": "line 2: must have features", "+1 1:NaN": "line 1", "+1 1": "line 1"} {
		if _, err := readSVMLight(strings.NewReader(text), "f"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzReadSVMLight(f *testing.F) {
	f.Add("-1 4:0.5 7:1\n+1 4:1e9\n")
	f.Add("1\n")
	f.Fuzz(func(t *testing.T, text string) {
		tab, err := readSVMLight(strings.NewReader(text), "f")
		if err != nil {
			return
		}
		for _, c := range tab.Cols {
			for _, v := range c.Values {
				if !(math.Abs(v) <= 1) {
					t.Fatalf("a feature of %g", v)
				}
			}
		}
	})
}

// The real tables have the shapes that their READMEs state.
func TestTablesAreThere(t *testing.T) {
	folder := realdata.File(t, ".")
	tab, err := readWindows(t.Context(), frame.NewWorld(folder))
	if err != nil {
		t.Fatal(err)
	}
	if tab.Rows != 10_411 {
		t.Errorf("%d windows of HAPT, its description says 10,411", tab.Rows)
	}
	byUser, err := readUsers(t.Context(), frame.NewWorld(folder))
	if err != nil || len(byUser) != 36 {
		t.Errorf("%d users of WISDM (%v), want 36", len(byUser), err)
	}
}
