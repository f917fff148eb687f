// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"
)

var two = []string{"no", "yes"}

func near(got, want float64) bool {
	return math.Abs(got-want) <= 1e-12*math.Abs(want)
}

// A table small enough to work out on paper.
func TestEvaluateOnPaper(t *testing.T) {
	truth := []uint8{0, 0, 0, 1, 1}
	scores := []float64{0.25, 0.5, 0.125, 0.75, 0.5}
	r, err := Evaluate(truth, scores, two, 1, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if want := [][]int{{2, 1}, {0, 2}}; !reflect.DeepEqual(r.Confusion.Counts, want) {
		t.Errorf("confusion is %v, want %v", r.Confusion.Counts, want)
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"rows", float64(r.Rows), 5},
		{"accuracy", r.Accuracy, 4. / 5},
		{"balanced accuracy", r.BalancedAccuracy, (2./3 + 1) / 2},
		{"auc", *r.AUC, 5.5 / 6}, // of six pairs five are in order and one ties
		{"log loss", r.LogLoss, -(math.Log(0.75) + math.Log(0.5) + math.Log(0.875) + math.Log(0.75) + math.Log(0.5)) / 5},
		// Bins: {.25}, {.5, .5} with one yes, {.125}, {.75} with one yes.
		{"calibration error", r.CalibrationError, (0.25 + 0 + 0.125 + 0.25) / 5},
	} {
		if !near(c.got, c.want) {
			t.Errorf("%s is %g, want %g", c.name, c.got, c.want)
		}
	}
}

func TestEvaluateAtTheEnds(t *testing.T) {
	for _, c := range []struct {
		name             string
		truth            []uint8
		scores           []float64
		accuracy, loss   float64
		auc, calibration float64
	}{
		{"all right and sure", []uint8{0, 1, 1}, []float64{0, 1, 1}, 1, -math.Log(1 - 1e-15), 1, 0},
		{"all wrong and sure", []uint8{0, 1}, []float64{1, 0}, 0, -math.Log(1e-15), 0, 1},
		{"one score for all", []uint8{0, 1, 0, 1}, []float64{0.5, 0.5, 0.5, 0.5}, 0.5, math.Ln2, 0.5, 0},
		{"negative zero", []uint8{0, 1}, []float64{0, math.Copysign(0, -1)}, 0.5, (-math.Log(1-1e-15) - math.Log(1e-15)) / 2,
			0.5, 0.5},
		{"last two bins", []uint8{0, 1}, []float64{0.8125, 0.9375}, 0.5, -(math.Log(0.1875) + math.Log(0.9375)) / 2, 1,
			(0.8125 + 0.0625) / 2},
		{"smallest numbers", []uint8{0, 1}, []float64{0, 5e-324}, 0.5, (-math.Log(1-1e-15) - math.Log(1e-15)) / 2, 1, 0.5},
	} {
		r, err := Evaluate(c.truth, c.scores, two, 1, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		if !near(r.Accuracy, c.accuracy) || !near(r.LogLoss, c.loss) || !near(*r.AUC, c.auc) ||
			!near(r.CalibrationError, c.calibration) {
			t.Errorf("%s: got accuracy %g, log loss %g, auc %g, calibration error %g; want %g, %g, %g, %g",
				c.name, r.Accuracy, r.LogLoss, *r.AUC, r.CalibrationError, c.accuracy, c.loss, c.auc, c.calibration)
		}
	}
}

func TestOneLevelOnly(t *testing.T) {
	for truth := range uint8(2) {
		r, err := Evaluate([]uint8{truth, truth}, []float64{0.9, 0.2}, two, 1, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		if r.AUC != nil || r.Accuracy != 0.5 || r.BalancedAccuracy != 0.5 {
			t.Errorf("all rows %s: got auc %v, accuracies %g and %g; want nil, 0.5 and 0.5", two[truth], r.AUC, r.Accuracy,
				r.BalancedAccuracy)
		}
	}
	r, err := Evaluate([]uint8{0, 1}, []float64{1, 0, 0, 0, 1, 0}, []string{"a", "b", "c"}, 0, 0.5)
	if err != nil || r.AUC != nil || r.Accuracy != 1 {
		t.Errorf("third level absent: got %+v, %v", r, err)
	}
}

func TestReportKeys(t *testing.T) {
	r, err := Evaluate([]uint8{1}, []float64{0.75}, two, 1, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	r.LogLoss = 0.25
	r.Calibration = r.Calibration[7:8]
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"rows":1,"accuracy":1,"balanced_accuracy":1,"auc":null,"log_loss":0.25,` +
		`"calibration_error":0.25,"calibration":[{"rows":1,"mean_score":0.75,"share":1}],` +
		`"confusion":{"labels":["no","yes"],"counts":[[0,0],[0,1]]},"majority":"yes","majority_accuracy":1,` +
		`"unpredicted":["no"],"ranking":{"threshold":0.5,"positive_rate":1,"predicted_rate":1,` +
		`"expected_rate":0.75,"precision":1,"recall":1,"pr_auc":1,"lift_at_10_percent":1,` +
		`"points":[{"threshold":0.75,"predicted_rate":1,"precision":1,"recall":1}]}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEvaluateRefuses(t *testing.T) {
	three := []string{"a", "b", "c"}
	for _, c := range []struct {
		name     string
		truth    []uint8
		scores   []float64
		levels   []string
		positive int
	}{
		{"no rows", nil, nil, two, 1},
		{"one level", []uint8{0}, []float64{1}, two[:1], 0},
		{"code of no level", []uint8{2}, []float64{1}, two, 1},
		{"too few scores", []uint8{0, 1}, []float64{1}, two, 1},
		{"a score per level", []uint8{0}, []float64{1, 0}, two, 1},
		{"a score per row of three levels", []uint8{0}, []float64{1}, three, 0},
		{"positive too large", []uint8{0}, []float64{1}, two, 2},
		{"positive negative", []uint8{0}, []float64{1}, two, -1},
		{"NaN", []uint8{0}, []float64{math.NaN()}, two, 1},
		{"infinite", []uint8{0}, []float64{math.Inf(1)}, two, 1},
		{"above 1", []uint8{0}, []float64{math.Nextafter(1, 2)}, two, 1},
		{"below 0", []uint8{0}, []float64{-5e-324}, two, 1},
	} {
		if _, err := Evaluate(c.truth, c.scores, c.levels, c.positive, 0.5); err == nil {
			t.Errorf("%s: must be refused", c.name)
		}
	}
}

// Every pair of rows looked at, one by one.
func TestAUCAgreesWithNaiveTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		n := 2 + r.IntN(60)
		steps := 1 + r.IntN(20) // few steps, many ties
		truth, scores := make([]uint8, n), make([]float64, n)
		for i := range truth {
			truth[i] = uint8(r.IntN(2))
			scores[i] = float64(r.IntN(steps+1)) / float64(steps)
		}
		positive := r.IntN(2)
		got, err := Evaluate(truth, scores, two, positive, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		order, pairs := 0.0, 0.0
		for i := range truth {
			for j := range truth {
				if int(truth[i]) != positive || int(truth[j]) == positive {
					continue
				}
				pairs++
				switch {
				case scores[i] > scores[j]:
					order++
				case scores[i] == scores[j]:
					order += 0.5
				}
			}
		}
		if pairs == 0 {
			if got.AUC != nil {
				t.Fatalf("one level only: auc is %g, want none", *got.AUC)
			}
			continue
		}
		if got.AUC == nil || !near(*got.AUC, order/pairs) {
			t.Fatalf("auc is %v, want %g", got.AUC, order/pairs)
		}
	}
}

// The order of the rows and a strictly increasing change of scores leave the
// AUC alone.
func TestAUCSeesOrderOnly(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	n := 200
	truth, scores, bent := make([]uint8, n), make([]float64, n), make([]float64, n)
	for i := range truth {
		truth[i] = uint8(r.IntN(2))
		scores[i] = float64(r.IntN(30)) / 30
		bent[n-1-i] = scores[i] * scores[i]
	}
	a, err := Evaluate(truth, scores, two, 1, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(truth)
	b, err := Evaluate(truth, bent, two, 1, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if *a.AUC != *b.AUC {
		t.Errorf("auc moved from %g to %g", *a.AUC, *b.AUC)
	}
}

// Fixtures made by internal/check/testkit/metrics/make.py with scikit-learn.
func TestEvaluateAgreesWithScikitLearn(t *testing.T) {
	text, err := os.ReadFile("../../check/testkit/metrics/evaluate.json")
	if err != nil {
		t.Fatal(err)
	}
	var kit struct {
		Cases []struct {
			Name     string
			Levels   []string
			Positive int
			Truth    []int // a []uint8 would be read as base64
			Scores   []float64
			Want     struct {
				Rows             int
				Accuracy         float64
				BalancedAccuracy float64 `json:"balanced_accuracy"`
				AUC              float64
				LogLoss          float64 `json:"log_loss"`
				CalibrationError float64 `json:"calibration_error"`
				Confusion        [][]int
			}
		}
	}
	if err := json.Unmarshal(text, &kit); err != nil {
		t.Fatal(err)
	}
	if len(kit.Cases) == 0 {
		t.Fatal("no fixtures")
	}
	for _, c := range kit.Cases {
		truth := make([]uint8, len(c.Truth))
		for i, k := range c.Truth {
			truth[i] = uint8(k)
		}
		r, err := Evaluate(truth, c.Scores, c.Levels, c.Positive, 0.5)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if r.Rows != c.Want.Rows || !reflect.DeepEqual(r.Confusion.Counts, c.Want.Confusion) {
			t.Errorf("%s: rows %d, confusion %v; want %d, %v", c.Name, r.Rows, r.Confusion.Counts, c.Want.Rows, c.Want.Confusion)
		}
		for _, v := range []struct {
			name      string
			got, want float64
		}{
			{"accuracy", r.Accuracy, c.Want.Accuracy},
			{"balanced accuracy", r.BalancedAccuracy, c.Want.BalancedAccuracy},
			{"auc", *r.AUC, c.Want.AUC},
			{"log loss", r.LogLoss, c.Want.LogLoss},
			{"calibration error", r.CalibrationError, c.Want.CalibrationError},
		} {
			if !near(v.got, v.want) {
				t.Errorf("%s: %s is %.17g, want %.17g", c.Name, v.name, v.got, v.want)
			}
		}
	}
}
