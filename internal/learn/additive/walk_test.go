// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// From ε = .01 to 10 in steps of 2 %, no choice turns back: rounds that take all columns never pick
// again, and passes and bins grow. Rounds grow by one at a time, but where they take all columns, from
// three quarters of those on, or pass over them once more. Of two classes and without a δ: with one, where Laplace
// noise becomes the quieter, a second pass may go (evidence/decisions/0014-default.md).
func TestChoicesGrowWithEpsilon(t *testing.T) {
	for _, columns := range []int{6, 14, 40} {
		for _, rows := range []int{5_000, 50_000} {
			walkChoices(t, "all", columns, rows, dp.AddRemove)
			for _, kind := range []string{"all", "partly", "label"} {
				walkChoices(t, kind, columns, rows, dp.ReplaceOne)
			}
		}
	}
}

func walkChoices(t *testing.T, kind string, columns, rows int, relation dp.Relation) {
	s := walked(kind, columns, relation)
	name := fmt.Sprintf("%s, %s, %d columns, %d rows", kind, relation, columns, rows)
	var before rules
	for eps := 0.01; eps < 10; eps *= 1.02 {
		pl, err := Params{Epsilon: dp.Epsilon(eps * float64(dp.Nano))}.Plan(s, rows)
		if err != nil {
			t.Fatal(err)
		}
		r := pl.rules
		if r.sharesAlone != before.sharesAlone || r.picks != before.picks {
			if before.rounds > 0 && (!before.picks || r.rounds*3 > before.rounds*4+4) {
				t.Errorf("%s: ε = %.3f: %d rounds, picked %v, after %d", name, eps, r.rounds, r.picks, before.rounds)
			}
		} else if more := r.rounds - before.rounds; more < 0 || more > 1 && len(r.passes) == len(before.passes) && before.rounds > 0 {
			t.Errorf("%s: ε = %.3f: %d rounds after %d", name, eps, r.rounds, before.rounds)
		}
		if r.bins < before.bins || r.bins > 2*before.bins && before.bins > 0 || len(r.passes) < len(before.passes) {
			t.Errorf("%s: ε = %.3f: %d bins and %d passes after %d and %d", name, eps, r.bins, len(r.passes), before.bins, len(before.passes))
		}
		before = r
	}
}

// walked is a schema of so many numbers, every other one public where not everything is private.
func walked(kind string, columns int, relation dp.Relation) *schema.Schema {
	text := fmt.Sprintf("name: t\nunit: one row\nrelation: %s\nfile: {delimiter: \",\", quote: '\"', header: true}\ncolumns:\n", relation)
	for k := range columns {
		role := "private"
		if k%2 == 0 && kind != "all" {
			role = "public"
		}
		text += fmt.Sprintf("  - {name: c%d, role: %s, number: {lower: 0, upper: 100, default: 50}}\n", k, role)
	}
	label := "private"
	if kind == "partly" {
		label = "public"
	}
	s, err := schema.Parse([]byte(text + "  - {name: y, role: " + label + ", label: {levels: [a, b], positive: b, default: a}}\n"))
	if err != nil {
		panic(err)
	}
	return s
}
