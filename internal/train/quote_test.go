// SPDX-License-Identifier: Apache-2.0

package train

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/census"
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
						fmt.Sprintf("%d private and %s", len(s.ByRole(schema.Private)), plaintext.Count(len(s.ByRole(schema.Public)), "public column"))) {
						t.Errorf("%s: treated as private: %v, want %v:\n%s", name, alike, want, text)
					}
				}
			}
		}
	}
}

// One of a thing is one of it: plans of one column of each role, of one round and of few rows.
func TestPlansCountInWords(t *testing.T) {
	level := []schema.Level{{Value: "x"}, {Value: "y"}}
	for _, learner := range []string{"auto", "additive", "grids", "brc", "erm", "labeldp"} {
		for _, relation := range []dp.Relation{dp.ReplaceOne, dp.AddRemove} {
			for _, role := range []schema.Role{schema.Public, schema.Private} {
				s := &schema.Schema{Name: "one", Unit: "one form", Relation: relation, Columns: []schema.Column{
					{Name: "a", Role: schema.Private, Kind: schema.Category, Levels: level},
					{Name: "b", Role: schema.Public, Kind: schema.Category, Levels: level}},
					Label: schema.Label{Name: "c", Role: role, Levels: level, Positive: 1}}
				c := Choice{Learner: learner, Price: PriceText{Epsilon: "1"}, Options: map[string]string{}}
				if learner == "grids" || learner == "brc" {
					c.Options["rounds"] = "1"
				}
				text, _ := planText(t, s, c)
				if wrong := regexp.MustCompile(`\b1 (public )?(round|release|row|column|feature|measurement)s\b`).FindString(text); wrong != "" {
					t.Errorf("%s, %s, label %s: %q in\n%s", learner, relation, role, wrong, text)
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
	if err := r.Quote(s, pl, nil).WriteText(&b, dp.Step.String); err != nil {
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

// The noise that a plan states is that of the last round's release.
func TestStatedNoiseIsThatOfTheRelease(t *testing.T) {
	for _, learner := range []string{"additive", "grids"} {
		for _, delta := range []string{"", "1e-6"} {
			for _, relation := range []dp.Relation{dp.ReplaceOne, dp.AddRemove} {
				tab := censustest.Table(3, 300)
				s := *tab.Schema
				s.Relation = relation
				for j := range s.Columns {
					s.Columns[j].Role = schema.Private
				}
				s.Label.Role = schema.Private
				tab.Schema = &s
				r, err := Choice{Learner: learner, Price: PriceText{Epsilon: "3", Delta: delta}}.Request("plan")
				if err != nil {
					t.Fatal(err)
				}
				pl, err := r.Plan(&s, 300)
				if err != nil {
					t.Fatal(err)
				}
				stated := r.Quote(&s, pl, nil).Facts["noise"].(float64)
				tape := &mechtest.Recorder{}
				learntest.Fit(t, pl, tab, tape, 1)
				drawn := 0.0
				for _, p := range tape.Passages {
					if !strings.HasPrefix(p.Label, "weighted cells of round") && !strings.HasPrefix(p.Label, "slopes of round") {
						continue
					}
					if drawn = math.Sqrt2 * p.Bound / p.Loss.Float(); p.Norm == mech.L2 {
						drawn = p.Bound / math.Sqrt(2*p.Rho.Float())
					}
				}
				if math.Abs(stated/drawn-1) > 1e-3 {
					t.Errorf("%s, delta %q, %s: a standard deviation of %g is stated, %g is drawn", learner, delta, relation, stated, drawn)
				}
			}
		}
	}
}

// So is the noise that plans of brc and labeldp bound.
func TestBoundsOnNoiseHold(t *testing.T) {
	fit := func(learner string, relation dp.Relation, label schema.Role) (facts map[string]any, passages []mechtest.Passage) {
		tab := censustest.Table(3, 300)
		s := *tab.Schema
		s.Relation, s.Label.Role = relation, label
		tab.Schema = &s
		r, err := Choice{Learner: learner, Price: PriceText{Epsilon: "1"}}.Request("plan")
		if err != nil {
			t.Fatal(err)
		}
		pl, err := r.Plan(&s, 300)
		if err != nil {
			t.Fatal(err)
		}
		tape := &mechtest.Recorder{}
		learntest.Fit(t, pl, tab, tape, 1)
		return r.Quote(&s, pl, nil).Facts, tape.Passages
	}
	facts, passages := fit("brc", dp.AddRemove, schema.Public)
	largest := 0.0
	for _, p := range passages {
		largest = max(largest, p.Bound/p.Loss.Float())
	}
	if stated := facts["noise_scale_max"].(float64); len(passages) == 0 || !(largest <= stated*(1+1e-9)) {
		t.Errorf("brc: noise of scale %g is drawn, at most %g is stated", largest, stated)
	}
	facts, passages = fit("labeldp", dp.ReplaceOne, schema.Private)
	p := passages[0]
	entries := float64(len(census.Schema().ByRole(schema.Public)) + 1) // the plan divides rows by its root
	length := math.Sqrt(2*float64(len(p.Values))/entries) * p.Bound / p.Loss.Float()
	if stated := facts["noise_length"].(float64); p.Name != "laplace" || !(math.Abs(stated/length-1) < 1e-3) {
		t.Errorf("labeldp: %s noise of mean length at most %g is drawn, %g is stated", p.Name, length, stated)
	}
}
