// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/feature"
)

// One bin with known noise: the posterior mean of a normal, by hand.
func TestOneBinIsTheNormalPosterior(t *testing.T) {
	w := &observations{diff: []float64{30}, weight: []float64{100}, noise: []float64{2500}}
	v := commonVariance + 0.25 // commonVariance + spread²
	for name, p := range map[string]posterior{"exchangeable": w.posteriorOfExchangeable(commonVariance, 0.25),
		"ordered": w.posteriorUnder(newDensePrior(1, commonVariance, 0.25, neighbourCorrelation(1)))} {
		if want := v * 100 * 30 / (v*100*100 + 2500); math.Abs(p.mean[0]-want) > 1e-12 {
			t.Errorf("%s: mean %g, want %g", name, p.mean[0], want)
		}
		if want := v * 2500 / (v*100*100 + 2500); math.Abs(p.varianceOf(0)-want) > 1e-12 {
			t.Errorf("%s: variance %g, want %g", name, p.varianceOf(0), want)
		}
		if want := -0.5 * (900/(v*10000+2500) + math.Log(v*10000+2500)); math.Abs(p.evidence-want) > 1e-9 {
			t.Errorf("%s: evidence %g, want %g", name, p.evidence, want)
		}
	}
}

// With neighbours that share nothing but the base, the closed form and the
// factored matrix are the same posterior.
func TestExchangeableAgreesWithTheMatrix(t *testing.T) {
	w := &observations{diff: []float64{30, -5, 0, 12}, weight: []float64{100, 40, 0, 25},
		noise: []float64{2500, 900, 100, 50}}
	a, b := w.posteriorOfExchangeable(commonVariance, 0.0625),
		w.posteriorUnder(newDensePrior(4, commonVariance, 0.0625, neighbourCorrelation(1e-3)))
	for i := range w.diff {
		if math.Abs(a.mean[i]-b.mean[i]) > 1e-12 || math.Abs(a.varianceOf(i)-b.varianceOf(i)) > 1e-12 {
			t.Errorf("bin %d: mean %g and %g, variance %g and %g", i, a.mean[i], b.mean[i], a.varianceOf(i), b.varianceOf(i))
		}
	}
	if math.Abs(a.evidence-b.evidence) > 1e-9 {
		t.Errorf("evidence %g and %g", a.evidence, b.evidence)
	}
}

// The closed form of a pair, by blocks, and the posterior of the whole matrix of
// covariances are the same: of a level with a number, of two numbers, of two
// categories.
func TestPairAgreesWithTheMatrix(t *testing.T) {
	number, levels := feature.Bins{Edges: []float64{1, 2}}, feature.NewGroups(0, nil, 2)
	for what, bins := range map[string]feature.Bins{
		"level by number": feature.Cross(levels, number), "number by level": feature.Cross(number, levels),
		"numbers": feature.Cross(number, number), "levels": feature.Cross(levels, levels),
	} {
		n := bins.Len()
		w := &observations{diff: make([]float64, n), weight: make([]float64, n), noise: make([]float64, n)}
		for b := range n {
			w.diff[b], w.weight[b], w.noise[b] = 40*math.Sin(float64(b)), float64(10*(b%4)), 300+float64(50*b)
		}
		got, want := w.posteriorOfPair(0.25, &bins), wholeMatrix(w, &bins, 0.25)
		for b := range n {
			if math.Abs(got.mean[b]-want.mean[b]) > 1e-12 || math.Abs(got.varianceOf(b)-want.varianceOf(b)) > 1e-12 {
				t.Errorf("%s, bin %d: mean %g and %g, variance %g and %g", what, b, got.mean[b], want.mean[b],
					got.varianceOf(b), want.varianceOf(b))
			}
		}
		if math.Abs(got.evidence-want.evidence) > 1e-9 {
			t.Errorf("%s: evidence %g and %g", what, got.evidence, want.evidence)
		}
	}
}

func (p *posterior) varianceOf(b int) float64 { return p.square[b] - p.mean[b]*p.mean[b] }

// wholeMatrix is the posterior from the covariance of every two bins.
func wholeMatrix(w *observations, bins *feature.Bins, spread float64) posterior {
	n, second := bins.Len(), bins.Second
	first := *bins
	first.Second = nil
	prior, chol := make([]float64, n*n), make([]float64, n*n)
	for i := range n {
		for j := range n {
			near := 1 - rough
			if i == j {
				near = 1
			}
			for _, axis := range []struct {
				b    *feature.Bins
				x, y int
			}{{&first, i / second.Len(), j / second.Len()}, {second, i % second.Len(), j % second.Len()}} {
				if d := math.Abs(float64(axis.x - axis.y)); axis.b.Ordered() {
					near *= math.Exp(-d / (pairReach * float64(axis.b.Len())))
				} else if d > 0 {
					near = 0
				}
			}
			prior[i*n+j] = commonVariance + spread*spread*near
			chol[i*n+j] = w.weight[i] * w.weight[j] * prior[i*n+j]
		}
		chol[i*n+i] += w.noise[i]
	}
	logs := factorCholesky(chol, n)
	y := slices.Clone(w.diff)
	solveLower(chol, y)
	p := newPosterior(n)
	quad := 0.0
	for i := range n {
		quad += y[i] * y[i]
		z := make([]float64, n)
		for j := range n {
			z[j] = w.weight[j] * prior[i*n+j]
		}
		solveLower(chol, z)
		p.square[i] = prior[i*n+i]
		for j := range n {
			p.mean[i] += z[j] * y[j]
			p.square[i] -= z[j] * z[j]
		}
		p.square[i] += p.mean[i] * p.mean[i]
	}
	p.evidence = -0.5*quad - logs
	return p
}
