// SPDX-License-Identifier: Apache-2.0

package train

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
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

// Sample sizes are printed with two digits, rounded up.
func TestSampleSizesAreRoundedUp(t *testing.T) {
	s, _, want := SampleSizesFor(0.1, 0.05, 105, dp.Nano/10)
	if s == nil {
		t.Fatal(want)
	}
	for _, line := range []string{"  40000  without privacy", "  250000  perturbed objective", "  9400000  recipe", "  890000000  BLR08"} {
		if !strings.Contains(s.String(), line) {
			t.Errorf("%q is not in\n%s", line, s)
		}
	}
}

// A refusal that lists learners lists those that accept.
func TestRefusalsListTheLearnersThatAccept(t *testing.T) {
	three := census.Schema()
	three.Label.Levels = append(three.Label.Levels, schema.Level{Value: "more"})
	three.Label.Positive = -1
	weighted := census.Schema()
	weighted.Label.Weights = []float64{1, 2}
	for name, s := range map[string]*schema.Schema{"three classes": three, "weights": weighted} {
		var accept []string
		hints := map[string]bool{}
		for _, l := range Learners() {
			price := PriceText{Epsilon: "1"}
			if !l.Private {
				price = PriceText{Epsilon: "inf", NotPrivate: true}
			}
			r, err := Choice{Learner: l.Name, Price: price}.Request("plan")
			if err != nil {
				t.Fatal(err)
			}
			if l.Name == "labeldp" {
				s.Label.Role = schema.Private
			} else {
				s.Label.Role = schema.Public
			}
			if _, err := r.Plan(s, 20000); err == nil {
				accept = append(accept, l.Name)
			} else if bad := (*dp.ParamError)(nil); errors.As(err, &bad) && strings.HasPrefix(bad.Hint, "learners ") {
				hints[bad.Hint] = true
			} else {
				t.Errorf("%s, %s: %v", name, l.Name, err)
			}
		}
		for hint := range hints {
			listed := regexp.MustCompile(`^learners (.*?) (take|weigh) `).FindStringSubmatch(hint)
			if listed == nil {
				t.Fatalf("%s: %q", name, hint)
			}
			names := strings.FieldsFunc(strings.ReplaceAll(listed[1], " and ", ","), func(r rune) bool { return r == ',' || r == ' ' })
			if slices.Sort(names); !slices.Equal(names, slices.Sorted(slices.Values(accept))) {
				t.Errorf("%s: %q, accepted by %v", name, hint, accept)
			}
		}
	}
}
