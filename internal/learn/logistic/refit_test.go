// SPDX-License-Identifier: Apache-2.0

package logistic

import (
	"context"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Boosting as brc does it: after each fit the groups it is wrong about weigh
// more. Every fit ends where a cold, certified one does; a gradient of 1e-6 and
// a curvature of at least ridge/total leave 1e-6·total/ridge of room.
func TestRefitEndsWhereFitGroupsDoes(t *testing.T) {
	const ridge = 1
	for _, enc := range []feature.Encoding{feature.Ordinal, feature.OneHot} {
		sp, g, pos, neg := groupsOf(t, 3000, enc, census.Schema().ByRole(schema.Public))
		r := NewRefit(sp, g, ridge)
		for round := range 10 {
			coef, scores, err := r.Fit(context.Background(), pos, neg)
			if err != nil {
				t.Fatal(err)
			}
			total := 0.0
			for i := range pos {
				total += pos[i] + neg[i]
			}
			want := mustFit(t, sp, g, pos, neg, ridge/total, nil)
			if d := apart(coef, want.Coef); !(d < 1e-6*total/ridge) {
				t.Errorf("%s, round %d: coefficients differ by %g", enc, round, d)
			}
			for i, z := range scores {
				own := coef[len(coef)-1]
				for k, j := range sp.Columns {
					f, v := sp.Cell(k, &g.Cols[j], int(g.Cols[j].Codes.At(i)))
					own += coef[f] * v
				}
				if !(math.Abs(z-own) < 1e-12) {
					t.Fatalf("%s, round %d: score %d = %v, coefficients give %v", enc, round, i, z, own)
				}
				if z >= 0 {
					neg[i] *= math.Exp(0.3)
				} else {
					pos[i] *= math.Exp(0.3)
				}
			}
		}
	}
}

// With one class the intercept runs towards infinity; with weights that jump
// the remembered curvature is useless. Both end at a short gradient.
func TestRefitSurvivesHardWeights(t *testing.T) {
	sp, g, pos, neg := groupsOf(t, 800, feature.OneHot, census.Schema().Features())
	none := make([]float64, g.Len)
	r := NewRefit(sp, g, 1)
	for turn, w := range [][2][]float64{{pos, none}, {none, neg}, {pos, neg}, {scaled(pos, 1e6), neg},
		{pos, scaled(neg, 1e9)}} {
		if _, _, err := r.Fit(context.Background(), w[0], w[1]); err != nil {
			t.Fatal(err)
		}
		total := 0.0
		for i := range pos {
			total += w[0][i] + w[1][i]
		}
		o := &penalised{context.Background(), r, w[0], w[1], total}
		grad, err := o.Gradient(r.coef)
		if err != nil {
			t.Fatal(err)
		}
		square := 0.0
		for _, v := range grad {
			square += v * v
		}
		if !(math.Sqrt(square) <= refitLimits.GradNorm) {
			t.Errorf("turn %d: gradient of length %g", turn, math.Sqrt(square))
		}
	}
	if _, _, err := r.Fit(context.Background(), none, none); err == nil {
		t.Error("weights of zero were accepted")
	}
}
