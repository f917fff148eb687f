// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Ten rows, worked out on paper: scores .9 .8 .8 .5 .4 .3 .2 .2 .1 0, of which the first,
// third and sixth are positive.
func TestRankingOnPaper(t *testing.T) {
	truth := []uint8{1, 0, 1, 0, 0, 1, 0, 0, 0, 0}
	scores := []float64{0.9, 0.8, 0.8, 0.5, 0.4, 0.3, 0.2, 0.2, 0.1, 0}
	r, err := Evaluate(truth, scores, two, 1, 0.6)
	if err != nil {
		t.Fatal(err)
	}
	k := r.Ranking
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"majority", r.MajorityAccuracy, 0.7}, {"accuracy", r.Accuracy, 0.8}, {"threshold", *k.Threshold, 0.6},
		{"precision", *k.Precision, 2. / 3}, {"recall", *k.Recall, 2. / 3}, {"predicted", k.PredictedRate, 0.3},
		{"positive", k.PositiveRate, 0.3}, {"expected", k.ExpectedRate, 0.42},
		{"PR-AUC", *k.PRAUC, (1 + 2./3 + 3./6) / 3}, {"lift", *k.LiftTop10, 10. / 3},
	} {
		if !near(c.got, c.want) {
			t.Errorf("%s is %g, want %g", c.name, c.got, c.want)
		}
	}
	if r.Majority != "no" || len(r.Unpredicted) != 0 {
		t.Errorf("majority %q, unpredicted %q", r.Majority, r.Unpredicted)
	}
	r, err = Evaluate(truth, scores, two, 1, math.Inf(1))
	if err != nil || r.Ranking.Threshold != nil || r.Ranking.Precision != nil || *r.Ranking.Recall != 0 ||
		!slices.Equal(r.Unpredicted, []string{"yes"}) {
		t.Errorf("nobody predicted: %+v, error %v", r, err)
	}
}

// Average precision and lift against definitions that count pairs, with many ties.
func TestRankingAgainstNaive(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		n := 1 + src.IntN(30)
		truth, scores := make([]uint8, n), make([]float64, n)
		positives := 0
		for i := range n {
			truth[i], scores[i] = uint8(src.IntN(2)), float64(src.IntN(5))/4
			positives += int(truth[i])
		}
		r, err := Evaluate(truth, scores, two, 1, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		if positives == 0 {
			if r.Ranking.PRAUC != nil || r.Ranking.LiftTop10 != nil || r.Ranking.Recall != nil {
				t.Error("no positive row: there is nothing to average")
			}
			continue
		}
		mean, top := 0.0, 0.0
		for i := range n {
			if truth[i] != 1 {
				continue
			}
			above, hit := 0, 0
			better, ties := 0, 0
			for j := range n {
				if scores[j] >= scores[i] {
					above++
					hit += int(truth[j])
				}
				if scores[j] > scores[i] {
					better++
				} else if scores[j] == scores[i] {
					ties++
				}
			}
			mean += float64(hit) / float64(above) / float64(positives)
			// The chance that the row is in the first tenth when ties are broken at random.
			top += min(1, max(0, (float64(n)/10-float64(better))/float64(ties)))
		}
		lift := top / (float64(n) / 10) / (float64(positives) / float64(n))
		if math.Abs(*r.Ranking.PRAUC-mean) > 1e-9 || math.Abs(*r.Ranking.LiftTop10-lift) > 1e-9 {
			t.Fatalf("PR-AUC %g, want %g; lift %g, want %g", *r.Ranking.PRAUC, mean, *r.Ranking.LiftTop10, lift)
		}
	}
}
