// SPDX-License-Identifier: Apache-2.0

package train

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/census"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// A plan counts columns by the roles of the schema and says whether public ones are treated as private,
// and one without privacy neither protects nor prices anything.
func TestPlanSaysWhatIsProtected(t *testing.T) {
	for _, learner := range []string{"auto", "additive", "grids", "brc", "erm", "labeldp"} {
		for _, relation := range []dp.Relation{dp.ReplaceOne, dp.AddRemove} {
			for _, role := range []schema.Role{schema.Public, schema.Private} {
				for _, price := range []PriceText{{Epsilon: "1"}, {Epsilon: "inf", NotPrivate: true}} {
					s := census.Schema()
					s.Relation, s.Label.Role = relation, role
					name := fmt.Sprintf("%s, %s, label %s, epsilon %s", learner, relation, role, price.Epsilon)
					text, ok := planText(t, s, Choice{Learner: learner, Price: price})
					if !ok {
						continue // the learner refuses the schema
					}
					if price.NotPrivate {
						if !strings.Contains(text, "NOT PRIVATE") || strings.Contains(text, "protects ") ||
							strings.Contains(text, "epsilon = ") || strings.Contains(text, "treated as private") {
							t.Errorf("%s promises something:\n%s", name, text)
						}
						continue
					}
					if learner == "erm" || learner == "labeldp" { // they do not go by roles, and say so
						continue
					}
					alike := strings.Contains(text, "public ones are treated as private, because")
					if want := relation == dp.AddRemove || role == schema.Private; alike != want || !strings.Contains(text,
						fmt.Sprintf("%d private and %d public columns", len(s.ByRole(schema.Private)), len(s.ByRole(schema.Public)))) {
						t.Errorf("%s: treated as private: %v, want %v:\n%s", name, alike, want, text)
					}
				}
			}
		}
	}
}

func planText(t *testing.T, s *schema.Schema, c Choice) (text string, ok bool) {
	t.Helper()
	r, err := c.Request("plan")
	if err != nil {
		t.Fatal(err)
	}
	pl, err := r.Plan(s, 20000)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	if err := r.Quote(s, pl, nil).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String(), true
}
