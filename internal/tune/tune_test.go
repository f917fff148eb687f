// SPDX-License-Identifier: Apache-2.0

package tune

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/census"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/additive"
	"github.com/discreet-dp/discreet/internal/learn/brc"
	"github.com/discreet-dp/discreet/internal/learn/erm"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// boosted is BRC of so many rounds as a candidate.
func boosted(rounds int, enc feature.Encoding) Candidate {
	return Candidate{fmt.Sprintf("brc, %d rounds, %s", rounds, enc),
		func(eps dp.Epsilon, s *schema.Schema, rows int) (learn.Plan, error) {
			p := brc.Defaults()
			p.Epsilon, p.Rounds, p.Encoding = eps, rounds, enc
			return p.Plan(s, rows)
		}}
}

func added() Candidate {
	return Candidate{"additive", func(eps dp.Epsilon, s *schema.Schema, rows int) (learn.Plan, error) {
		return additive.Params{Epsilon: eps}.Plan(s, rows)
	}}
}

func linear() Candidate {
	return Candidate{"erm", func(eps dp.Epsilon, s *schema.Schema, rows int) (learn.Plan, error) {
		p := erm.Defaults()
		p.Epsilon = eps
		return p.Plan(s, rows)
	}}
}

// tuned are parameters for three cheap candidates.
func tuned(m Method, eps dp.Epsilon) Params {
	p := Defaults()
	p.Method, p.Epsilon, p.Patience = m, eps, 4
	p.Candidates = []Candidate{boosted(3, feature.OneHot), boosted(5, feature.Ordinal), added()}
	return p
}

// small is a census table, with a private label on request.
func small(rows int, label bool) *dataset.Table {
	tab := census.Generate(11, rows)
	if label {
		s := *tab.Schema
		s.Label.Role, s.Label.Default = schema.Private, 0
		tab.Schema = &s
	}
	return tab
}

func TestConformance(t *testing.T) {
	for _, m := range Methods() {
		for _, label := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, private label %v", m, label), func(t *testing.T) {
				tab, p := small(300, label), tuned(m, dp.Nano+1)
				learntest.Run(t, learntest.Case{
					Plan: func() (learn.Plan, error) { return p.Plan(tab.Schema, tab.Rows) }, Table: tab, OrderFree: true,
					Algebra: func(t *testing.T, bill []dp.Event, releases []mechtest.Passage) {
						algebra(t, m, dp.Nano+1, bill, releases)
					},
				})
			})
		}
	}
}

// A label of more classes is judged by the log loss of the true one.
func TestConformanceOfLevels(t *testing.T) {
	tab := learntest.Levels(census.Generate(11, 300), 3, nil)
	output := Candidate{"erm, output", func(eps dp.Epsilon, s *schema.Schema, rows int) (learn.Plan, error) {
		p := erm.Defaults()
		p.Epsilon, p.Method = eps, erm.Output
		return p.Plan(s, rows)
	}}
	for _, m := range []Method{All, Geometric} {
		t.Run(string(m), func(t *testing.T) {
			p := tuned(m, dp.Nano)
			p.Candidates = []Candidate{linear(), output}
			learntest.Run(t, learntest.Case{
				Plan: func() (learn.Plan, error) { return p.Plan(tab.Schema, tab.Rows) }, Table: tab,
				Algebra: func(t *testing.T, bill []dp.Event, releases []mechtest.Passage) {
					algebra(t, m, dp.Nano, bill, releases)
				},
			})
		})
	}
}

// algebra wants what the guarantee adds up: of all trainings ε if each
// candidate is trained, and of one run's training and of its judgement at most
// ε/(2+η) each, whatever the number of runs.
func algebra(t *testing.T, m Method, eps dp.Epsilon, bill []dp.Event, releases []mechtest.Passage) {
	t.Helper()
	if len(bill) != 1 || bill[0].Epsilon != eps {
		t.Fatalf("the bill is %+v", bill)
	}
	training, judgements := dp.Epsilon(0), 0
	cap := map[Method]dp.Epsilon{All: eps, Geometric: eps / 3, Logarithmic: eps / 2, Root: eps * 2 / 3}[m]
	for _, r := range releases {
		if !strings.Contains(r.Label, "held-out") {
			training += r.Loss
			continue
		}
		judgements++
		bound := 1.0
		if m == All {
			bound = 2
		}
		if training != cap || r.Loss != cap || r.Bound != bound {
			t.Errorf("%s: trainings cost %s and the judgement %s where %s is paid; it is sized for a move of %g", m, training,
				r.Loss, cap, r.Bound)
		}
		training = 0
	}
	if training != 0 || judgements == 0 || m == All && judgements != 1 {
		t.Errorf("%d judgements, and %s spent after the last", judgements, training)
	}
}

func TestPlanRefuses(t *testing.T) {
	s := census.Schema()
	free := Candidate{"free", func(eps dp.Epsilon, s *schema.Schema, rows int) (learn.Plan, error) {
		p := brc.Defaults()
		p.NotPrivate = true
		return p.Plan(s, rows)
	}}
	dear := Candidate{"dear", func(eps dp.Epsilon, s *schema.Schema, rows int) (learn.Plan, error) {
		return boosted(3, feature.OneHot).Plan(2*eps, s, rows)
	}}
	for want, bad := range map[string]func(*Params, *schema.Schema){
		"weights must be left out": func(p *Params, s *schema.Schema) { s.Label.Weights = []float64{1, 2} },
		"epsilon must be > 0":      func(p *Params, s *schema.Schema) { p.Epsilon = 0 },
		"candidates must number":   func(p *Params, s *schema.Schema) { p.Candidates = p.Candidates[:1] },
		"method must be":           func(p *Params, s *schema.Schema) { p.Method = "best" },
		"loss must be one of":      func(p *Params, s *schema.Schema) { p.Loss = "accuracy" },
		"loss must be log-loss": func(p *Params, s *schema.Schema) {
			p.Loss, s.Label.Levels = AUC, append(slices.Clone(s.Label.Levels), s.Label.Levels[0])
		},
		"held-out must be":         func(p *Params, s *schema.Schema) { p.HeldOut = 1 },
		"patience must be":         func(p *Params, s *schema.Schema) { p.Method, p.Patience = Root, 1 },
		"each run":                 func(p *Params, s *schema.Schema) { p.Method, p.Epsilon = Geometric, 2 },
		"relation must be":         func(p *Params, s *schema.Schema) { s.Relation = dp.AddRemove },
		`candidate "free"`:         func(p *Params, s *schema.Schema) { p.Candidates[1] = free },
		`candidate "dear"`:         func(p *Params, s *schema.Schema) { p.Candidates[1] = dear },
		`candidate "brc, 0 rounds`: func(p *Params, s *schema.Schema) { p.Candidates[0] = boosted(0, feature.OneHot) },
	} {
		p, own := tuned(All, dp.Nano), *s
		bad(&p, &own)
		if _, err := p.Plan(&own, 100); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// What is protected is what every candidate protects.
func TestScopesHaveSomethingInCommon(t *testing.T) {
	for _, c := range []struct{ a, b, want dp.Scope }{
		{"", dp.PrivateFeatures, dp.PrivateFeatures}, {dp.WholeRow, dp.PrivateFeatures, dp.PrivateFeatures},
		{dp.LabelOnly, dp.WholeRow, dp.LabelOnly}, {dp.WholeRow, dp.WholeRow, dp.WholeRow},
		{dp.LabelOnly, dp.PrivateFeatures, ""}, {dp.WholeRow, dp.Nothing, dp.Nothing},
		{dp.FeaturesAndLabel, dp.LabelOnly, dp.LabelOnly}, {dp.PrivateFeatures, dp.FeaturesAndLabel, dp.PrivateFeatures},
		{dp.FeaturesAndLabel, dp.WholeRow, dp.FeaturesAndLabel},
	} {
		if got, err := commonScope(c.a, c.b); got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%q and %q have %q in common (%v), want %q", c.a, c.b, got, err, c.want)
		}
	}
	p := tuned(All, dp.Nano)
	p.Candidates = append(p.Candidates, linear())
	pl, err := p.Plan(census.Schema(), 100)
	if err != nil || pl.scope != dp.PrivateFeatures {
		t.Errorf("brc and erm together protect %q (%v)", pl.scope, err)
	}
}

// The number of rows is public, so an empty table is refused, and before it
// costs anything.
func TestAnEmptyTableIsRefusedForNothing(t *testing.T) {
	tab, p := small(10, false), tuned(All, dp.Nano)
	pl, err := p.Plan(tab.Schema, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	acct := unpayable{t}
	if m, err := guard.Train(t.Context(), pl, learntest.Engine(t, tab.Subset(nil)), acct,
		mech.NewExit(replay.Seeded(1, "empty"))); m != nil || err == nil {
		t.Errorf("model %v, error %v", m != nil, err)
	}
}

// unpayable is an account that no one may charge.
type unpayable struct{ t *testing.T }

func (a unpayable) Charge(context.Context, dp.Price, []dp.Event) error {
	a.t.Error("charged")
	return nil
}
func (unpayable) Counted() bool { return false }

// The number of runs is drawn before any row is read and shows nowhere.
func TestTheModelDoesNotTellHowManyRuns(t *testing.T) {
	tab, p := small(200, false), tuned(Geometric, dp.Nano)
	p.Candidates = []Candidate{boosted(2, feature.OneHot), boosted(2, feature.OneHot)}
	p.Candidates[1].Name = p.Candidates[0].Name
	pl, err := p.Plan(tab.Schema, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	var seen []int
	var words string
	for seed := range uint64(6) {
		tape := &mechtest.Recorder{}
		m := learntest.Fit(t, pl, tab, tape, seed)
		seen = append(seen, len(tape.Passages))
		if w := fmt.Sprintf("%+v", m.Privacy); words == "" {
			words = w
		} else if w != words {
			t.Errorf("statements differ:\n%s\n%s", words, w)
		}
	}
	if slices.Min(seen) == slices.Max(seen) {
		t.Errorf("every fit made %d releases: the test sees nothing", seen[0])
	}
}

// Method all finds the good candidate among bad ones: additive, which is several
// points ahead here, in at least 9 of 10 fits; a blind draw would find it in 9
// of 10 with probability 4e-6. Replayed, so it cannot fail by chance.
func TestAllFindsTheBetterCandidate(t *testing.T) {
	const fits = 10
	tab, p := small(6000, false), tuned(All, dp.Nano)
	p.Candidates = []Candidate{boosted(2, feature.OneHot), boosted(8, feature.OneHot), added(),
		boosted(1, feature.Ordinal), boosted(12, feature.Ordinal)}
	pl, err := p.Plan(tab.Schema, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for seed := range uint64(fits) {
		if _, ok := learntest.Fit(t, pl, tab, nil, seed).Classifier.(*model.Additive); ok {
			found++
		}
	}
	if found < fits-1 {
		t.Errorf("additive was chosen in %d of %d fits", found, fits)
	}
}
