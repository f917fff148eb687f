// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestSigmoidsEqualTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	score := []float64{0, math.Copysign(0, -1), 699.999, -699.999, 700, -700, 745, -745, 1e5, -1e5, math.MaxFloat64,
		math.Inf(1), math.Inf(-1), 1e-300, math.Ln2 / 128, -math.Ln2 / 128}
	for range 200_000 {
		score = append(score, r.NormFloat64()*math.Pow(10, 4*r.Float64()-2))
	}
	got := make([]float64, len(score))
	writeSigmoids(got, score)
	for i, z := range score {
		want := 1 / (1 + math.Exp(-z))
		if !(math.Abs(got[i]-want) <= 5e-13*want) {
			t.Fatalf("sigmoid(%v) = %v, want %v", z, got[i], want)
		}
	}
	writeSigmoids(got[:1], []float64{math.NaN()})
	if !math.IsNaN(got[0]) {
		t.Errorf("sigmoid(NaN) = %v", got[0])
	}
}

func BenchmarkSigmoids(b *testing.B) {
	score := make([]float64, 256)
	for i := range score {
		score[i] = float64(i-128) / 20
	}
	prob := make([]float64, len(score))
	for b.Loop() {
		writeSigmoids(prob, score)
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N*len(score)), "ns/row")
}
