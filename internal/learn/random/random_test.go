// SPDX-License-Identifier: Apache-2.0

package random

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func space(t *testing.T, columns int) *feature.Space {
	t.Helper()
	s := &schema.Schema{}
	cols := make([]int, columns)
	for j := range cols {
		cols[j] = j
		s.Columns = append(s.Columns, schema.Column{Name: "x", Kind: schema.Number, Upper: 1})
	}
	sp, err := feature.NewSpace(s, feature.Ordinal, cols)
	if err != nil {
		t.Fatal(err)
	}
	return sp
}

// script yields the given words, then fails.
type script []uint64

func (s *script) Seeded() bool { return true }
func (s *script) Uint64() uint64 {
	w := (*s)[0]
	*s = (*s)[1:]
	return w
}

func TestThresholdReachesBothEndsAndTheMiddle(t *testing.T) {
	words := script{1 << 42, 1 << 63, math.MaxUint64, math.MaxUint64}
	th := Threshold(&words, space(t, 3), true)
	if !slices.Equal(th.Coef, []float64{-1, 0, 1}) || th.Bias != 1 {
		t.Errorf("threshold = %+v, want -1, 0, 1 and bias 1", th)
	}
}

func TestWithoutInterceptNothingIsDrawnForIt(t *testing.T) {
	words := script{1 << 42}
	if th := Threshold(&words, space(t, 1), false); th.Bias != 0 || len(words) != 0 {
		t.Errorf("bias %g, %d words left", th.Bias, len(words))
	}
}

// Sums of the 16 equal parts of [-1, 1]: with 160,000 draws from a fixed seed
// the chi-square statistic on 15 degrees of freedom stays below 70 but for a
// chance of 4e-9; a coefficient that never leaves [-0.95, 0.95] exceeds 1,000.
func TestCoefficientsAreUniformOnTheGrid(t *testing.T) {
	const parts, draws = 16, 160_000
	src := replay.Seeded(1, "random")
	sp := space(t, 100)
	var count [parts]float64
	for range draws / 100 {
		for _, c := range Threshold(src, sp, false).Coef {
			if k := c * grid; k != math.Trunc(k) || math.Abs(c) > 1 {
				t.Fatalf("coefficient %s is not on the grid in [-1, 1]", big.NewFloat(c))
			}
			count[min(int((c+1)/2*parts), parts-1)]++
		}
	}
	chi := 0.0
	for _, n := range count {
		chi += (n - draws/parts) * (n - draws/parts) / (draws / parts)
	}
	if !(chi < 70) {
		t.Errorf("chi-square %g on 15 degrees of freedom: %v", chi, count)
	}
}

// A naive Bayes classifier's score is the logarithm of a quotient of two likelihoods, each a
// product of chances that add up to 1 over the cells of a column.
func TestBayesIsAQuotientOfLikelihoods(t *testing.T) {
	s := &schema.Schema{Columns: []schema.Column{
		{Name: "x", Kind: schema.Number, Upper: 1},
		{Name: "c", Kind: schema.Category, Levels: []schema.Level{{Value: "a"}, {Value: "b"}, {Value: "c"}}},
	}}
	for _, enc := range []feature.Encoding{feature.OneHot, feature.Ordinal} {
		sp, err := feature.NewSpace(s, enc, []int{0, 1})
		if err != nil {
			t.Fatal(err)
		}
		th := Bayes(replay.Seeded(1, "bayes"), sp, s)
		src := replay.Seeded(1, "bayes")
		theta := make([][2]float64, sp.Width()) // by feature, then class
		for f := range theta {
			theta[f] = [2]float64{2 * drawUniform(src), 2 * drawUniform(src)}
		}
		density := func(x float64, class int) float64 { // of the number, normalised by the trapezoidal rule
			const steps = 4000
			sum := 0.0
			for i := range steps {
				a, b := -1+2*float64(i)/steps, -1+2*float64(i+1)/steps
				sum += (math.Exp(theta[0][class]*a) + math.Exp(theta[0][class]*b)) / steps
			}
			return math.Exp(theta[0][class]*x) / sum
		}
		chance := func(code, class int) float64 {
			at := func(code int) float64 {
				f, v := sp.Code(1, code)
				return math.Exp(theta[f][class] * v)
			}
			sum := 0.0
			for c := range s.Columns[1].Codes() {
				sum += at(c)
			}
			return at(code) / sum
		}
		scale := 0.0
		for _, x := range []float64{-1, -0.3, 0.9} {
			for code := range s.Columns[1].Codes() {
				want := math.Log(density(x, 0) * chance(code, 0) / density(x, 1) / chance(code, 1))
				f, v := sp.Code(1, code)
				got := th.Coef[0]*x + th.Coef[f]*v + th.Bias
				if scale == 0 {
					scale = want / got
				}
				if !(scale > 0) || math.Abs(got*scale-want) > 1e-5 {
					t.Errorf("%s: at %g, code %d: %g times %g, want %g", enc, x, code, got, scale, want)
				}
			}
		}
	}
}
