// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/model"
)

// Coefficients of rows that were made shorter are those of features, shorter by as much, each in
// its place: rows have a length of the root of their columns and one.
func TestCoefficientsAreOfFeatures(t *testing.T) {
	for world, tab := range worlds() {
		pl := plan(t, params(func(*Params) {}), tab)
		d, k := pl.countCoefficients(), pl.Levels()
		w := make([]float64, d*max(1, k-1))
		for i := range w {
			w[i] = float64(i + 1)
		}
		scale := math.Sqrt(float64(len(pl.space.Columns) + 1))
		want := func(f, level int) float64 {
			if k == 2 {
				return float64(f+1) / scale
			}
			at := make([]float64, k-1)
			for c := range at {
				at[c] = float64(c*d+f+1) / scale
			}
			return fromHelmert(at)[level]
		}
		coef, bias := [][]float64{}, []float64{}
		switch l := pl.assembleModel(w).Classifier.(type) {
		case *model.Logistic:
			coef, bias = append(coef, l.Coef), append(bias, l.Bias)
		case *model.Linear:
			coef, bias = l.Coef, l.Bias
		}
		for level := range coef {
			for f, x := range append(coef[level][:d-1:d-1], bias[level]) {
				if math.Abs(x-want(f, level)) > 1e-12*scale*float64(len(w)) {
					t.Errorf("%s, level %d: coefficient %d is %g, want %g", world, level, f, x, want(f, level))
				}
			}
		}
	}
}
