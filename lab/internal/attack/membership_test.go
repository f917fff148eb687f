// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"context"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/labeldp"
	"github.com/discreet-dp/discreet/internal/learn/logistic"
	"github.com/discreet-dp/discreet/internal/learn/nonprivate"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train/audit"
	"github.com/discreet-dp/discreet/lab/internal/census"
)

func replays(name string) func(uint64) rng.Source {
	return func(run uint64) rng.Source { return replay.Seeded(run, name) }
}

// gauss is a normal number, good enough for a test (Box and Muller).
func gauss(src rng.Source) float64 {
	u := (float64(src.Uint64()>>11) + 0.5) * 0x1p-53
	return math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*float64(src.Uint64()>>11)*0x1p-53)
}

// Sightings drawn from two normal laws at distance d have the curve that
// arithmetic says: AUC Φ(d/√2), advantage 2Φ(d/2) − 1, TPR Φ(d − z) at FPR 1 − Φ(z).
func TestCurvesOfKnownLaws(t *testing.T) {
	const d, targets, trainings = 1.0, 20, 1000
	src := replay.Seeded(1, "curves")
	var runs [][]sighting
	for range trainings {
		run := make([]sighting, targets)
		for i := range run {
			common, own := gauss(src), gauss(src)
			run[i].member = src.Uint64()&1 == 1
			if run[i].member {
				own += d
			}
			// Each alone is blurred by what both share: their difference tells all.
			run[i].seen = [2]float64{float64(i) + own + 10*common, 10 * common}
		}
		runs = append(runs, run)
	}
	k := attackTargets(runs, trainings/2, 0, targets, 0, audit.DefaultAlpha)
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	if want := phi(d / math.Sqrt2); math.Abs(k.Ratio.AUC.Value-want) > 0.02 || k.Ratio.AUC.Low > want ||
		k.Ratio.AUC.High < want {
		t.Errorf("AUC %+v, want %g", k.Ratio.AUC, want)
	}
	if want := 2*phi(d/2) - 1; math.Abs(k.Ratio.Advantage.Value-want) > 0.03 {
		t.Errorf("advantage %+v, want %g", k.Ratio.Advantage, want)
	}
	if k.Loss.AUC.Value > 0.6 {
		t.Errorf("one threshold for all, blurred: AUC %+v", k.Loss.AUC)
	}
	for _, p := range k.Ratio.Points {
		best := func(fpr float64) float64 { return phi(d - math.Sqrt2*math.Erfinv(1-2*fpr)) }
		if p.FPR.Low > p.Rate || p.FPR.High < p.Rate { // thresholds are not flattered
			t.Errorf("%+v: a threshold misses its rate", p)
		}
		// A learned ratio is not the true one: never better, and not much worse.
		if p.TPR.Low > best(p.FPR.High) || p.TPR.High < best(p.Rate)/2 {
			t.Errorf("%+v, at best TPR %g", p, best(p.Rate))
		}
	}
	if k.Bound <= 0 || k.Bound > 4 {
		t.Errorf("bound %g from the most exposed of %d", k.Bound, targets)
	}
}

// The bounds of a guarantee, by hand.
func TestMostThatAGuaranteeAllows(t *testing.T) {
	near := func(got, want float64) bool { return math.Abs(got-want) < 1e-12 }
	if !near(MostTPR(math.Log(2), 0, 0.1), 0.2) || !near(MostTPR(math.Log(2), 0, 0.5), 0.75) ||
		!near(MostTPR(math.Log(2), 0.05, 0.1), 0.25) || MostTPR(1, 0, 1) != 1 {
		t.Error("TPR")
	}
	sum := 0.0
	for i := range 100_000 {
		sum += MostTPR(0.7, 0.03, (float64(i)+0.5)/100_000) / 100_000
	}
	if got := MostAUC(0.7, 0.03); math.Abs(got-sum) > 1e-6 || MostAUC(0, 0) != 0.5 {
		t.Errorf("area %g, the curve has %g", got, sum)
	}
	if !near(MostAdvantage(math.Log(3), 0), 0.5) || !near(MostAdvantage(0, 0.1), 0.1) {
		t.Error("advantage")
	}
}

// The worlds differ in the protected part of their targets and in nothing else.
func TestWorldsAreNeighbours(t *testing.T) {
	for _, relation := range []dp.Relation{dp.ReplaceOne, dp.AddRemove} {
		for _, scope := range []dp.Scope{dp.WholeRow, dp.PrivateFeatures, dp.FeaturesAndLabel, dp.LabelOnly} {
			tab := census.Generate(3, 60)
			s := *tab.Schema
			s.Relation = relation
			tab.Schema = &s
			const n = 7
			w := newWorlds(tab, scope, n, replay.Seeded(1, "worlds"))
			coins := make([]sighting, 2*n)
			for i := range coins {
				coins[i].member = i%2 == 0
			}
			a := w.tableOf(coins)
			coins[3].member = true
			b := w.tableOf(coins)
			if relation == dp.AddRemove {
				if b.Rows != a.Rows+1 || a.Rows != tab.Rows-n {
					t.Fatalf("%s: %d and %d rows", scope, a.Rows, b.Rows)
				}
				continue
			}
			moved := map[string]int{}
			for i := range tab.Rows {
				for j := range tab.Cols {
					if tab.Schema.Columns[j].Role != schema.Ignored && a.Cols[j].Codes.At(i) != b.Cols[j].Codes.At(i) {
						moved[string(tab.Schema.Columns[j].Role)]++
						if i != w.targets[3] {
							t.Errorf("%s: row %d moved", scope, i)
						}
					}
				}
				if a.Labels[i] != b.Labels[i] {
					moved["label"]++
				}
			}
			for part, allowed := range map[string]bool{
				"label":                scope != dp.PrivateFeatures,
				string(schema.Private): scope != dp.LabelOnly,
				string(schema.Public):  scope == dp.WholeRow,
			} {
				if moved[part] > 0 && !allowed || scope == dp.LabelOnly && moved["label"] != 1 {
					t.Errorf("%s: the %s part moved %d times", scope, part, moved[part])
				}
			}
		}
	}
}

// A learner without privacy is seen through; one with a small ε is not, and
// neither its rows as they are nor those that stand out are refuted.
func TestMembershipOfTwoLearners(t *testing.T) {
	tab := census.Generate(5, 120)
	p := logistic.Params{Encoding: feature.OneHot, Columns: nonprivate.All, NotPrivate: true}
	open, err := p.Plan(tab.Schema, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	q := labeldp.Defaults()
	q.Epsilon = dp.Nano / 2
	private, err := q.Plan(tab.Schema, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	attack := func(pl learn.Plan, eps dp.Epsilon) *MembershipReport {
		r, err := AttackMembership(context.Background(), pl, tab,
			Membership{Epsilon: eps, Targets: 10, Runs: 300, Source: replays(t.Name())})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range r.Kinds {
			t.Logf("%s: AUC by loss %.3f, by ratio %.3f, advantage %.3f, ε ≥ %.3g", k.Name, k.Loss.AUC.Value, k.Ratio.AUC.Value,
				k.Ratio.Advantage.Value, k.Bound)
		}
		return r
	}
	r := attack(open, dp.Nano)
	if out := r.Kinds[1]; out.Ratio.AUC.Low < 0.8 || r.Verdict != audit.Refuted {
		t.Errorf("without noise the rows that stand out have AUC %+v; %s", out.Ratio.AUC, r.Verdict)
	}
	if r.Kinds[0].Ratio.AUC.Low < 0.55 {
		t.Errorf("without noise rows as they are have AUC %+v", r.Kinds[0].Ratio.AUC)
	}
	r = attack(private, q.Epsilon)
	for _, k := range r.Kinds {
		if most := MostAdvantage(q.Epsilon.Float(), 0); k.Ratio.Advantage.Low > most || r.Verdict != audit.NotRefuted {
			t.Errorf("%s: advantage %+v where %g is allowed; %s", k.Name, k.Ratio.Advantage, most, r.Verdict)
		}
	}
}

func TestMembershipRefuses(t *testing.T) {
	tab := census.Generate(5, 40)
	for name, o := range map[string]Membership{
		"no targets":   {Runs: 100},
		"too many":     {Runs: 100, Targets: 11},
		"too few runs": {Runs: 10, Targets: 2},
		"bad claim":    {Runs: 100, Targets: 2, Epsilon: -1},
	} {
		if _, err := AttackMembership(context.Background(), nil, tab, o); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}
