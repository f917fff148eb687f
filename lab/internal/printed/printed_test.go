// SPDX-License-Identifier: Apache-2.0

package printed

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

const testSchema = `
name: t
unit: one person
relation: replace-one
file: {delimiter: ",", quote: "", header: true}
columns:
  - {name: age, role: private, number: {lower: 0, upper: 100, default: 50}}
  - {name: pet, role: private, category: {levels: [cat, dog]}}
  - {name: y, role: private, label: {levels: [no, yes], positive: yes, default: no}}
`

// people draws records whose label follows age and pet, with mistakes.
func people(t testing.TB, rows int) *dataset.Table {
	s, err := schema.Parse([]byte(testSchema))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	age, pet := make([]uint32, rows), make([]uint32, rows)
	tab := &dataset.Table{Schema: s, Rows: rows, Labels: make([]uint8, rows)}
	values := make([]float64, 101)
	for i := range values {
		values[i] = float64(i)
	}
	for i := range rows {
		age[i], pet[i] = uint32(r.IntN(101)), uint32(r.IntN(2))
		if float64(age[i])+30*float64(pet[i])+20*r.NormFloat64() > 60 {
			tab.Labels[i] = 1
		}
	}
	tab.Cols = []column.Column{{Codes: column.Narrow(age, 101), Values: values}, {Codes: column.Narrow(pet, 3)}}
	return tab
}

func identity(x []float64) []float64 { return slices.Clone(x) }

// Without noise and with all owners in one group this is SAMME (Algorithm 1) over
// stumps: every round against a twin that recounts everything.
func TestIsSAMMEWithoutNoise(t *testing.T) {
	tab := people(t, 400)
	const rounds = 4
	var seen []Round
	m, err := Run(context.Background(), tab, Params{
		Classifier: Stump, Epsilon: dp.Nano, Rounds: rounds, Group: 100, WeightCap: 1e9,
		Perturb: identity, Source: replay.Seeded(1, "x"), Trace: func(r Round) { seen = append(seen, r) },
	})
	if err != nil {
		t.Fatal(err)
	}
	weights := make([]float64, tab.Rows)
	for i := range weights {
		weights[i] = 1 / float64(tab.Rows)
	}
	members := m.Classifier.(*model.Ballots).Members
	for k, r := range seen {
		for a := range r.Exact {
			if r.Exact[a] != r.Noisy[a] {
				t.Fatalf("round %d: the criterion of attribute %d moved without noise", k, a)
			}
			if r.Exact[a] > r.Exact[r.Chosen] {
				t.Fatalf("round %d: attribute %d is better than the chosen one", k, a)
			}
		}
		if r.Vote == 0 {
			continue
		}
		one := *m // the same model if only the next member votes
		ballots := slices.Clone(m.Classifier.(*model.Ballots).Members)
		for i := range ballots {
			ballots[i].Weight = 0
		}
		ballots[len(ballots)-len(members)].Weight = 1
		one.Classifier = &model.Ballots{Link: model.Share, Members: ballots}
		members = members[1:]
		scores, err := one.Scores(tab.Cols, tab.Rows)
		if err != nil {
			t.Fatal(err)
		}
		answers := one.Labels(scores)
		werr, all := 0.0, 0.0
		for i, w := range weights {
			all += w
			if answers[i] != tab.Labels[i] {
				werr += w
			}
		}
		vote := math.Log((1 - werr/all) / (werr / all))
		if math.Abs(werr/all-r.Err) > 1e-9 || math.Abs(vote-r.Vote) > 1e-9 {
			t.Fatalf("round %d: error %g and vote %g, want %g and %g", k, r.Err, r.Vote, werr/all, vote)
		}
		for i := range weights {
			if answers[i] != tab.Labels[i] {
				weights[i] *= math.Exp(vote)
			}
		}
	}
	if len(members) != 0 || len(seen) != rounds {
		t.Errorf("%d rounds, %d members beyond them", len(seen), len(members))
	}
}

// An owner's own regression is at its minimum, alone or of many records, and
// within the range that its ridge gives.
func TestLocalRegression(t *testing.T) {
	for _, owners := range []int{40, 4} {
		tab := people(t, 40)
		p := Params{Classifier: Logistic, Epsilon: dp.Nano, Rounds: 1, Owners: owners, Source: replay.Seeded(1, "x")}
		if err := p.settleRounds(tab); err != nil {
			t.Fatal(err)
		}
		r := &run{Params: p, tab: tab, classes: 2, weights: NewWeights(tab.Rows, 2, owners, InTheClear), most: 1}
		for i := range r.weights.Of {
			r.weights.Of[i] = 0.3 + 0.01*float64(i)
		}
		l, err := newLinear(r)
		if err != nil {
			t.Fatal(err)
		}
		for o := range owners {
			theta, err := l.fitLocal(o)
			if err != nil {
				t.Fatal(err)
			}
			from, to := r.ownerRows(o)
			d := l.space.Width() + 1
			grad, prob := make([]float64, len(theta)), make([]float64, 2)
			for i := from; i < to; i++ {
				x := make([]float64, d)
				l.writeRow(i, l.rowShare(i), x[:d-1])
				x[d-1] = 1
				writeSoftmax(prob, theta, x)
				for k := range 2 {
					res := prob[k]
					if int(tab.Labels[i]) == k {
						res--
					}
					for f, v := range x {
						grad[k*d+f] += res * v / float64(to-from)
					}
				}
			}
			for j, g := range grad {
				if g += p.Reg * theta[j]; math.Abs(g) > 1e-4 {
					t.Fatalf("owner %d of %d: gradient %g", o, owners, g)
				}
				if math.Abs(theta[j]) > 1/p.Reg {
					t.Fatalf("owner %d of %d: coefficient %g beyond the range %g", o, owners, theta[j], 1/p.Reg)
				}
			}
		}
	}
}

// Algorithm 2 over secret sums makes the rounds of sums in the clear, to the unit of the sums.
func TestSharesGiveTheSameRounds(t *testing.T) {
	for _, c := range []Classifier{Stump, Logistic} {
		var rounds [2][]Round
		for i, holders := range []int{0, 4} {
			_, err := Run(context.Background(), people(t, 120), Params{Classifier: c, Epsilon: 8 * dp.Nano, Rounds: 3, Owners: 12,
				Holders: holders, Perturb: identity, Source: replay.Seeded(5, "x"),
				Trace: func(r Round) { rounds[i] = append(rounds[i], r) }})
			if err != nil {
				t.Fatal(err)
			}
		}
		for k, clear := range rounds[0] {
			if secret := rounds[1][k]; math.Abs(clear.Err-secret.Err) > 1e-12 || math.Abs(clear.Vote-secret.Vote) > 1e-11 ||
				clear.Chosen != secret.Chosen {
				t.Errorf("%s, round %d: error %g and vote %g by shares, %g and %g in the clear", c, k+1, secret.Err, secret.Vote,
					clear.Err, clear.Vote)
			}
		}
	}
}

// Shares of weights stay in [0, 1] whatever the votes, and none of it is promised
// to anyone.
func TestStatementsPromiseNothing(t *testing.T) {
	for _, c := range []Classifier{Stump, Centroid, Logistic} {
		m, err := Run(context.Background(), people(t, 400), Params{Classifier: c, Epsilon: 4 * dp.Nano, Rounds: 4})
		if err != nil {
			t.Fatal(err)
		}
		p := m.Privacy
		if p.Scope != dp.Nothing || !p.NotPrivate || p.Epsilon != 0 || len(p.Bill) != 0 || p.Claim != "" {
			t.Errorf("%s: %+v", c, p)
		}
		if _, err := model.Marshal(m); err != nil {
			t.Errorf("%s: %v", c, err)
		}
	}
}

// What reaches a mechanism lies in [-1, 1] in every round.
func TestVectorsAreInRange(t *testing.T) {
	for _, c := range []Classifier{Stump, Centroid, Logistic} {
		_, err := Run(context.Background(), people(t, 600), Params{
			Classifier: c, Epsilon: dp.Nano, Rounds: 6, WeightCap: 2,
			Perturb: func(x []float64) []float64 {
				for _, v := range x {
					if !(math.Abs(v) <= 1) {
						t.Errorf("%s: %g is perturbed", c, v)
					}
				}
				return x
			},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestParamsRefuse(t *testing.T) {
	tab := people(t, 100)
	for _, p := range []Params{
		{Classifier: "tree", Epsilon: dp.Nano, Rounds: 1},
		{Classifier: Stump, Epsilon: dp.Nano},
		{Classifier: Stump, Epsilon: dp.Nano, Rounds: 1, Owners: 101},
		{Classifier: Centroid, Epsilon: dp.Nano, Rounds: 1, Owners: 50},
		{Classifier: Stump, Epsilon: dp.Nano, Rounds: 2, Group: 51},
		{Classifier: Stump, Rounds: 1},
		{Classifier: Stump, Epsilon: dp.Nano, Rounds: 1, Holders: -1},
		{Classifier: Stump, Epsilon: dp.Nano, Rounds: 1, Holders: 1},
		{Classifier: Stump, Epsilon: dp.Nano, Rounds: 1, Mechanism: "oue"},
		{Classifier: Logistic, Epsilon: dp.Nano, Rounds: 1, Reg: -1},
		{Classifier: Stump, Epsilon: dp.Nano, Rounds: 1, WeightCap: math.NaN()},
	} {
		if _, err := Run(context.Background(), tab, p); err == nil {
			t.Errorf("%+v was accepted", p)
		}
	}
}
