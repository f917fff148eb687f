// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"context"
	"fmt"
	"math"
	"testing"

	. "github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Counts equal those of a loop over widened rows, if no column joins, if
// some do and if equal rows become one, and whether rows are shortened or not.
func TestRightEqualsTheNaiveTwin(t *testing.T) {
	for _, enc := range []feature.Encoding{feature.Ordinal, feature.OneHot} {
		for _, rows := range []int{1, 7, 900, 3000, 40_000} {
			for _, r := range marginRows {
				c := newLossCase(t, 3, enc, rows)
				if rows == 7 || rows == 40_000 {
					few(c, 5)
				}
				for _, cuts := range []Cuts{{First: -1, Step: 0.25, Count: 9}, {First: 0.1, Step: 1e-3, Count: 2},
					{First: -1e3, Step: 500, Count: 5}, {First: 0, Step: 1, Count: 1}} {
					t.Run(fmt.Sprintf("%s/%d/%+v/%+v", enc, rows, r, cuts), func(t *testing.T) {
						got, err := c.margins(r).Right(context.Background(), c.coef, cuts)
						if err != nil {
							t.Fatal(err)
						}
						want := make([]float64, cuts.Count)
						for i := range rows {
							z := c.coef[len(c.coef)-1]
							for k, j := range c.sp.Columns {
								f, v := c.sp.Cell(k, &c.cols[j], int(c.cols[j].Codes.At(i)))
								z += c.coef[f] * v
							}
							for k := range want {
								if z >= cuts.At(k) {
									want[k] += c.pos[i]
								} else {
									want[k] += c.neg[i]
								}
							}
						}
						for k := range want {
							if !(math.Abs(got[k]-want[k]) <= 1e-9*float64(rows)) {
								t.Errorf("cut %d: %v, want %v", k, got[k], want[k])
							}
						}
					})
				}
			}
		}
	}
}

func TestRightRefuses(t *testing.T) {
	c := newLossCase(t, 3, feature.Ordinal, 7)
	m := c.margins(marginRows[0])
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for name, f := range map[string]func() error{
		"no cut":  func() error { _, err := m.Right(context.Background(), c.coef, Cuts{Step: 1}); return err },
		"no step": func() error { _, err := m.Right(context.Background(), c.coef, Cuts{Count: 2}); return err },
		"not a number": func() error {
			_, err := m.Right(context.Background(), c.coef, Cuts{Step: math.NaN(), Count: 2})
			return err
		},
		"a coefficient too": func() error {
			_, err := m.Right(context.Background(), append(c.coef, 1), Cuts{Step: 1, Count: 2})
			return err
		},
		"a context at end": func() error { _, err := m.Right(ended, c.coef, Cuts{Step: 1, Count: 2}); return err },
	} {
		if f() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
