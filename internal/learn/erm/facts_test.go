// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/table/census"
)

// The plan says so if rows can hardly move a score, and only there.
func TestPlanSaysWhereProbabilitiesAreAHalf(t *testing.T) {
	for _, c := range []struct {
		eps  dp.Epsilon
		rows int
		want bool
	}{{dp.Nano / 1000, 400, true}, {4 * dp.Nano, 1_000_000, false}} {
		p := Defaults()
		p.Epsilon = c.eps
		pl, err := p.Plan(census.Schema(), c.rows)
		if err != nil {
			t.Fatal(err)
		}
		said := slices.ContainsFunc(pl.Facts(), func(f learn.Fact) bool {
			return f.Key == "reach" && strings.Contains(f.Text, "one half")
		})
		if said != c.want {
			t.Errorf("ε = %s of %d rows: said %v, want %v", c.eps, c.rows, said, c.want)
		}
	}
}
