// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/extend"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/brc"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// small is a table of one number and one category, all private but the label.
func small(t testing.TB, relation dp.Relation, label schema.Role) *schema.Schema {
	t.Helper()
	text := "name: small\nunit: one person\nrelation: " + string(relation) + `
file: {delimiter: ",", quote: '"', header: true}
columns:
  - {name: a, role: private, number: {lower: 0, upper: 1, default: 0}}
  - {name: b, role: private, category: {levels: [p, q]}}
  - name: y
    role: ` + string(label) + `
    label: {levels: [n, p], positive: p, default: n}
`
	s, err := schema.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// plan is brc as it is audited: few rounds, c1 = c2 = 2.
func plan(t testing.TB, s *schema.Schema, eps dp.Epsilon, change func(*brc.Params)) *brc.Plan {
	t.Helper()
	p := brc.Defaults()
	p.Rounds, p.C1, p.C2, p.Epsilon = 2, 2, 2, eps
	if change != nil {
		change(&p)
	}
	pl, err := p.Plan(s, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return pl
}

// The real learner at ε = 1 a round: never above the claim, and at least nine
// tenths of what the noise of the mode leaves to be shown.
func TestAuditsOfBRC(t *testing.T) {
	needsManyRuns(t)
	public, private := small(t, dp.ReplaceOne, schema.Public), small(t, dp.ReplaceOne, schema.Private)
	for _, c := range []struct {
		name   string
		s      *schema.Schema
		rounds int
		change func(*brc.Params)
		// runs in an ordinary test and in a long one; teeth says that a
		// long one, and under bite an ordinary one too, must come close.
		short, long int
		teeth, bite bool
	}{
		{"tight, 2 rounds", public, 2, nil, 80_000, 500_000, true, true},
		{"tight, 4 rounds", private, 4, nil, 20_000, 550_000, true, false},
		{"paper, 2 rounds", private, 2, func(p *brc.Params) { p.Sensitivity = brc.Paper }, 20_000, 550_000, true, false},
		{"selected intercepts", public, 2, func(p *brc.Params) { p.Intercept = brc.InterceptSelected; p.Candidates = 3 },
			10_000, 100_000, false, false},
		{"add or remove", small(t, dp.AddRemove, schema.Private), 2, nil, 10_000, 100_000, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			eps := dp.Epsilon(c.rounds) * dp.Nano
			pl := plan(t, c.s, eps, func(p *brc.Params) {
				p.Rounds = c.rounds
				if c.change != nil {
					c.change(p)
				}
			})
			sub, err := BRC(context.Background(), pl, c.s, 1000, replay.Seeded(1, "pairs"))
			if err != nil {
				t.Fatal(err)
			}
			sub.Pairs = sub.Pairs[:1] // the others have a test of their own
			r := replayed(t, sub, eps, runs(c.short, c.long))
			if r.Verdict != NotRefuted {
				t.Errorf("a correct learner is refuted: ε ≥ %g", r.LowerBound)
			}
			if (c.bite || c.teeth && long) && (r.LowerBound > r.Maximum || r.LowerBound < 0.9*r.Maximum) {
				t.Errorf("ε ≥ %g where at most %g, and nine tenths of that, can be shown", r.LowerBound, r.Maximum)
			}
		})
	}
}

// The maximum is recomputed for each mode: all of ε for tight noise, less for
// the paper's.
func TestMaximumOfBRC(t *testing.T) {
	s := small(t, dp.ReplaceOne, schema.Private)
	for rounds, paper := range map[int]float64{1: 0.25, 2: 0.6615, 4: 1.4845} {
		tight := newTranscript(plan(t, s, dp.Epsilon(rounds)*dp.Nano, func(p *brc.Params) { p.Rounds = rounds }),
			1000).largestRatio()
		if got := tight / float64(rounds); got < 0.999999 || got > 1.000001 {
			t.Errorf("tight, %d rounds: %g of ε", rounds, got)
		}
		got := newTranscript(plan(t, s, dp.Epsilon(rounds)*dp.Nano,
			func(p *brc.Params) { p.Rounds, p.Sensitivity = rounds, brc.Paper }), 1000).largestRatio()
		if got < paper-0.001 || got > paper+0.001 {
			t.Errorf("paper, %d rounds: %g, by hand %g", rounds, got, paper)
		}
	}
}

// Whole learners through a real engine, on every pair: correct ones are not
// refuted. (Their bounds are small: noise hides a row among a hundred.)
func TestLearnersThroughARealEngine(t *testing.T) {
	needsManyRuns(t)
	for _, relation := range []dp.Relation{dp.ReplaceOne, dp.AddRemove} {
		s := small(t, relation, schema.Private)
		sub, err := Learner(context.Background(), "brc", plan(t, s, 2*dp.Nano, nil), s, 8, replay.Seeded(1, "pairs"))
		if err != nil {
			t.Fatal(err)
		}
		if r := replayed(t, sub, 2*dp.Nano, runs(6_000, 100_000)); r.Verdict != NotRefuted {
			t.Errorf("%s: a correct learner is refuted: ε ≥ %g", relation, r.LowerBound)
		}
	}
}

// bent is a learner with a bug.
type bent struct {
	learn.Plan
	fit func(ctx context.Context, inner learn.Plan, tab engine.Table, acct guard.Account,
		exit *mech.Exit) (*model.Model, error)
}

func (b bent) Fit(ctx context.Context, g *guard.Guard) (*model.Model, error) {
	in := extend.Open(g)
	tab, err := in.OneRow()
	if err != nil {
		return nil, err
	}
	return b.fit(ctx, b.Plan, tab, guard.Uncounted{}, in.SpendAll())
}

// Learners with bugs are refuted at the claim they were planned for.
func TestSabotagedLearnersAreRefuted(t *testing.T) {
	needsManyRuns(t)
	s := small(t, dp.ReplaceOne, schema.Private)
	space := func(m *model.Model) *model.Votes { return m.Classifier.(*model.Votes) }
	exact := plan(t, s, 0, func(p *brc.Params) { p.NotPrivate = true })
	for _, c := range []struct {
		row, bug string
		pl       learn.Plan
		claim    dp.Epsilon
	}{
		{"1", "noise not split over the rounds", plan(t, s, 8*dp.Nano, nil), 2 * dp.Nano},
		{"7", "an exact vote beside the noisy ones",
			bent{plan(t, s, dp.Nano, nil), func(ctx context.Context, inner learn.Plan, tab engine.Table, acct guard.Account,
				exit *mech.Exit) (*model.Model, error) {
				m, err := guard.Train(ctx, inner, tab, acct, exit)
				if err != nil {
					return nil, err
				}
				leak, err := guard.Train(ctx, exact, tab, acct, exit)
				if err != nil {
					return nil, err
				}
				space(m).Members = append(space(m).Members, space(leak).Members...)
				return m, nil
			}}, dp.Nano},
		{"7", "a training that fails on some tables",
			bent{plan(t, s, dp.Nano, nil), func(ctx context.Context, inner learn.Plan, tab engine.Table, acct guard.Account,
				exit *mech.Exit) (*model.Model, error) {
				g, err := tab.Groups(ctx, []int{0})
				if err != nil {
					return nil, err
				}
				if g.Len > 1 {
					return nil, context.DeadlineExceeded
				}
				return guard.Train(ctx, inner, tab, acct, exit)
			}}, dp.Nano},
	} {
		t.Run(c.bug, func(t *testing.T) {
			sub, err := Learner(context.Background(), c.bug, c.pl, s, 8, replay.Seeded(1, "pairs"))
			if err != nil {
				t.Fatal(err)
			}
			if r := replayed(t, sub, c.claim, 6_000); r.Verdict != Refuted {
				t.Errorf("row %s: ε ≥ %g of %g only", c.row, r.LowerBound, r.Claim)
			}
		})
	}
}

// Neighbours differ in the protected part of one row, and in nothing else.
func TestNeighboursAreNeighbours(t *testing.T) {
	const rows = 5
	for _, relation := range []dp.Relation{dp.ReplaceOne, dp.AddRemove} {
		for _, role := range []schema.Role{schema.Public, schema.Private} {
			s := small(t, relation, role)
			s.Columns[1].Role = schema.Public
			for _, scope := range []dp.Scope{dp.WholeRow, dp.PrivateFeatures, dp.FeaturesAndLabel, dp.LabelOnly} {
				moved := map[string]bool{} // what differs in some pair
				for _, n := range AllNeighbours(s, rows, scope, replay.Seeded(2, "neighbours")) {
					a, b := n.Tables[0], n.Tables[1]
					skip := 0
					if relation == dp.AddRemove {
						skip = 1
					}
					if a.Rows != rows || b.Rows != rows-skip {
						t.Fatalf("%s: %d and %d rows", n.Name, a.Rows, b.Rows)
					}
					if skip == 0 {
						moved["label"] = moved["label"] || a.Labels[0] != b.Labels[0]
						for j := range a.Cols {
							role := string(s.Columns[j].Role)
							moved[role] = moved[role] || a.Cols[j].Codes.At(0) != b.Cols[j].Codes.At(0)
						}
					}
					if !slices.Equal(a.Labels[1:], b.Labels[1-skip:]) {
						t.Errorf("%s: other rows' labels differ", n.Name)
					}
					for j := range a.Cols {
						for i := 1; i < rows; i++ {
							if a.Cols[j].Codes.At(i) != b.Cols[j].Codes.At(i-skip) {
								t.Errorf("%s: row %d of column %d differs", n.Name, i, j)
							}
						}
					}
				}
				for part, protected := range map[string]bool{
					"label":                scope != dp.PrivateFeatures,
					string(schema.Private): scope != dp.LabelOnly,
					string(schema.Public):  scope == dp.WholeRow,
				} {
					if relation == dp.ReplaceOne && moved[part] != protected {
						t.Errorf("%s: the %s part of a row differs: %v", scope, part, moved[part])
					}
				}
			}
		}
	}
}

// Every number that predictions are made of is an output.
func TestNumbersOfAModel(t *testing.T) {
	m := &model.Model{Learner: "x", Classifier: &model.Votes{Members: []model.Member{{Space: 1, Vote: 0.25}}}}
	m.Classifier.(*model.Votes).Members[0].Coef = []float64{3, 4}
	m.Classifier.(*model.Votes).Members[0].Bias = 5
	var got []float64
	for _, x := range listNumbers(m) {
		got = append(got, x.value)
	}
	if want := []float64{1, 0.25, 5, 3, 4}; !slices.Equal(got, want) {
		t.Errorf("numbers %v, want %v", listNumbers(m), want)
	}
}
