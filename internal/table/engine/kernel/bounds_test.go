// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"context"
	"testing"

	. "github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// On either side of every number of rows at which they are cut into pieces or given to more workers,
// and of some that come in no code, all sums are those of the naive twin: each row counts once.
func TestSumsAtEveryNumberOfRows(t *testing.T) {
	ctx := context.Background()
	for _, rows := range []int{lossBlock - 1, lossBlock, lossBlock + 1, stripRows - 1, stripRows, stripRows + 1, 4999, 5001,
		2*stripRows + 1, stripWeight - 1, stripWeight, stripWeight + 1, rowsWorthAWorker + 1, 2*stripWeight + 1, 50_001,
		maxStrips*stripRows - 1, maxStrips * stripRows, maxStrips*stripRows + 1, 200_001} {
		c := newLossCase(t, uint64(rows), feature.OneHot, rows)
		if rows%3 == 0 {
			few(c, 5)
		}
		size := float64(rows)
		check := func(what string, got, want float64) {
			t.Helper()
			if !near(got, want, size) {
				t.Errorf("%d rows: %s is %.15g, want %.15g", rows, what, got, want)
			}
		}
		want, got := c.naive(c.coef), c.sums(t, c.coef)
		l := c.logistic()
		grad, err := l.Gradient(ctx, c.pos, c.neg, c.coef)
		if err != nil {
			t.Fatal(err)
		}
		hess, err := l.Hessian(ctx, c.pos, c.neg)
		if err != nil {
			t.Fatal(err)
		}
		check("the loss", got.Loss, want.Loss)
		d := len(c.coef)
		for f := range d {
			check("the gradient", got.Grad[f], want.Grad[f])
			check("the gradient of Logistic", grad[f], want.Grad[f])
			for h := f; h < d; h++ {
				check("the Hessian", got.Hess[f*d+h], want.Hess[f*d+h])
				check("the Hessian of Logistic", hess[f*d+h], want.Hess[f*d+h])
			}
		}
		r, loss := marginRows[len(marginRows)-1], marginLosses[0]
		want, got = c.naiveMargin(loss, r, c.coef), c.margin(t, loss, r, c.coef)
		m := c.margins(r)
		laid, err := m.Sums(ctx, loss, c.coef, true)
		if err != nil {
			t.Fatal(err)
		}
		check("the loss of margins", got.Loss, want.Loss)
		for f := range d {
			check("the gradient of margins", got.Grad[f], want.Grad[f])
			check("the gradient of margins laid out", laid.Grad[f], want.Grad[f])
		}
		for f := range want.Hess {
			check("the Hessian of margins", got.Hess[f], want.Hess[f])
			check("the Hessian of margins laid out", laid.Hess[f], want.Hess[f])
		}
		cuts := Cuts{First: -1, Step: 0.5, Count: 5}
		right, err := m.Right(ctx, c.coef, cuts)
		if err != nil {
			t.Fatal(err)
		}
		labels, ones := make([]uint8, rows), make([]int64, cuts.Count)
		weighed := make([]float64, cuts.Count)
		for i := range rows {
			labels[i] = uint8(i / 3 % 2)
			z := c.coef[d-1]
			for k, j := range c.sp.Columns {
				f, v := c.sp.Cell(k, &c.cols[j], int(c.cols[j].Codes.At(i)))
				z += c.coef[f] * v
			}
			for k := range weighed {
				if above := z >= cuts.At(k); above {
					weighed[k] += c.pos[i]
				} else {
					weighed[k] += c.neg[i]
				}
				if (z >= cuts.At(k)) == (labels[i] == 1) {
					ones[k]++
				}
			}
		}
		exact, counts := make([]int64, cuts.Count), NewRightRows(c.sp, c.cols, c.coef, cuts)
		counts.Add(labels, &[1 << 8]uint8{1: 1})
		counts.AddTo(exact)
		for k := range weighed {
			check("what is right", right[k], weighed[k])
			if exact[k] != ones[k] {
				t.Errorf("%d rows: %d are right beyond cut %d, want %d", rows, exact[k], k, ones[k])
			}
		}
	}
}

// Strips are no more than there may be, of a size that pays, and so few that their Hessians fit.
func TestStripsReachTheirBounds(t *testing.T) {
	for _, dim := range []int{1, 8, 361, 362, 363, 1023, 1024, 2047, 2048, 2049, 5000} {
		for _, rows := range []int{1, stripRows - 1, stripRows, stripRows + 1, 2 * stripRows, 3*stripRows + 1,
			maxStrips*stripRows - stripRows, maxStrips * stripRows, maxStrips*stripRows + 1, 1 << 30} {
			n := stripCount(rows, dim)
			worth, fit := (rows+stripRows-1)/stripRows, maxPartials/(dim*dim)
			if n < 1 || n > maxStrips || n > worth || n > 2 && n > fit || n < maxStrips && n < worth && n < max(2, fit) {
				t.Errorf("%d rows of %d coefficients are cut into %d strips", rows, dim, n)
			}
		}
	}
}

// Columns join while their codes together fit, and all of them make equal rows one; on either side of
// both bounds sums are those of the naive twin.
func TestColumnsJoinUpToTheirBound(t *testing.T) {
	// Numbers of n values, four codes and two: n·n·8 together.
	for _, n := range []int{15, 16, 17} {
		for _, rows := range []int{collapseShare*jointCodes - 1, collapseShare * jointCodes, collapseShare*jointCodes + 1,
			jointShare*jointCodes - 1, jointShare * jointCodes, jointShare*jointCodes + 1} {
			c := newLossCase(t, 5, feature.OneHot, rows)
			few(c, n)
			sizes := 1
			for k, j := range c.sp.Columns {
				sizes *= c.sp.Codes(k, &c.cols[j])
			}
			m := c.margins(marginRows[0])
			if want := sizes <= jointCodes && sizes <= rows/collapseShare; want != (m.Len() < rows) {
				t.Errorf("%d rows of %d kinds become %d", rows, sizes, m.Len())
			}
			want := c.naiveMargin(marginLosses[0], marginRows[0], c.coef)
			got, err := m.Sums(context.Background(), marginLosses[0], c.coef, true)
			if err != nil {
				t.Fatal(err)
			}
			for f := range want.Grad {
				if !near(got.Grad[f], want.Grad[f], float64(rows)) {
					t.Errorf("%d rows of %d kinds: gradient %d is %g, want %g", rows, sizes, f, got.Grad[f], want.Grad[f])
				}
			}
		}
	}
}

// A row's loss counts up to the most that is added, and no further.
func TestLossesReachTheirBound(t *testing.T) {
	for z, want := range map[float64]float64{5: 5, mostLoss - 1: mostLoss - 1, mostLoss: mostLoss, mostLoss + 2: mostLoss,
		1 << 60: mostLoss, 1e300: mostLoss} {
		s := newMarginScratch()
		s.score, s.pos, s.neg = []float64{-z}, []float64{1}, []float64{0}
		into := new(ExactSums)
		(&terms{}).addValues(1, s, into)
		if got := into.Whole.Float(0) + into.Part.Float(PartExp); !(got >= want && got <= want+1) {
			t.Errorf("a loss of %g counts as %g, want %g", z, got, want)
		}
	}
}
