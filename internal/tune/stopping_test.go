// SPDX-License-Identifier: Apache-2.0

package tune

import (
	"context"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// generating is f(x) = E[x^K] and its derivative, in the closed form of
// Papernot and Steinke; gamma = 1/patience.
func generating(l stopping, gamma, x float64) (f, slope float64) {
	eta, c := float64(l.num)/float64(l.den), 1-(1-gamma)*x
	if eta == 0 {
		return math.Log(c) / math.Log(gamma), (1 - gamma) / (c * -math.Log(gamma))
	}
	norm := math.Pow(gamma, -eta) - 1
	return (math.Pow(c, -eta) - 1) / norm, eta * (1 - gamma) * math.Pow(c, -eta-1) / norm
}

// pmf is the law as it is defined, added up term by term.
func pmf(l stopping, gamma float64, upTo int) []float64 {
	eta := float64(l.num) / float64(l.den)
	p, sum := []float64{0, 1}, 0.0
	for k := 1; k < 100*upTo; k++ {
		p = append(p, p[k]*(1-gamma)*(float64(k)+eta)/float64(k+1))
	}
	for _, x := range p {
		sum += x
	}
	for k := range p {
		p[k] /= sum
	}
	return p
}

func TestLawHasTheClosedForm(t *testing.T) {
	for m, l := range laws {
		for _, patience := range []int{2, 5, 40} {
			gamma, mean := 1/float64(patience), 0.0
			p := pmf(l, gamma, patience)
			at := 0.0 // f(0.7) from the definition
			for k := 1; k < len(p); k++ {
				mean += float64(k) * p[k]
				at += math.Pow(0.7, float64(k)) * p[k]
			}
			f, _ := generating(l, gamma, 0.7)
			_, slope := generating(l, gamma, 1)
			if math.Abs(f-at) > 1e-9 || math.Abs(slope-mean) > 1e-6*mean || math.Abs(l.meanRuns(patience)-mean) > 1e-6*mean {
				t.Errorf("%s, patience %d: f(0.7) %.9f, by terms %.9f; mean %.6f, f'(1) %.6f, by terms %.6f", m, patience, f, at,
					l.meanRuns(patience), slope, mean)
			}
		}
	}
}

func TestDrawHasTheLaw(t *testing.T) {
	const draws, patience, last = 20_000, 5, 12
	cells := func(l stopping, as stopping) (counts []int, probs []float64) {
		src := replay.Seeded(1, "runs")
		counts, probs = make([]int, last+1), make([]float64, last+1)
		for range draws {
			counts[min(l.drawRuns(src, patience), last+1)-1]++
		}
		for k, p := range pmf(as, 1.0/patience, patience)[1:] {
			probs[min(k, last)] += p
		}
		return counts, probs
	}
	claim := stattest.Claim{FalsePositive: 1e-9 / float64(len(laws)), Detects: "the law of another η"}
	for m, l := range laws {
		counts, probs := cells(l, l)
		stattest.Cells(t, claim, counts, probs)
		for other, as := range laws {
			if m == other {
				continue
			}
			stattest.Rejects(t, func(t stattest.T) {
				counts, probs := cells(l, as)
				stattest.Cells(t, claim, counts, probs)
			})
		}
	}
}

// P[A = x] = q(x)·∫ f'(F⁻ + u(F - F⁻)) du, on both sides of the worst three-point
// runs: nowhere above e^((2+η)ε), and close to it where a better outcome is
// likelier than γ.
func TestStoppingLossIsHeldAndReached(t *testing.T) {
	const eps, patience = 0.7, 10_000
	gamma := 1.0 / patience
	for m, l := range laws {
		claimed := (2 + float64(l.num)/float64(l.den)) * eps
		worst := 0.0
		released := func(below, x float64) float64 { // exact: the integral is a quotient of differences
			up, _ := generating(l, gamma, below+x)
			low, _ := generating(l, gamma, below)
			return up - low
		}
		for _, above := range []float64{0, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.3} {
			for _, x := range []float64{1e-6, 1e-4, 1e-2, 0.1, 0.3} {
				for _, dx := range []float64{math.Exp(-eps), 1, math.Exp(eps)} {
					for _, da := range []float64{math.Exp(-eps), 1, math.Exp(eps)} {
						ox, oa := x*dx, above*da
						if ox+oa >= 1 || x+above >= 1 {
							continue
						}
						below, ob := 1-x-above, 1-ox-oa
						if r := below / ob; r > math.Exp(eps) || r < math.Exp(-eps) {
							continue // not an ε-DP run
						}
						worst = max(worst, math.Abs(math.Log(released(below, x)/released(ob, ox))))
					}
				}
			}
		}
		if worst > claimed+1e-9 || worst < 0.95*claimed {
			t.Errorf("%s: the worst loss found is %.4f, the claim %.4f", m, worst, claimed)
		}
	}
}

// Shares are the largest integers whose multiple fits.
func TestShares(t *testing.T) {
	for _, c := range []struct {
		m              Method
		whole, want    dp.Epsilon
		times, divided int64
	}{{Geometric, dp.Nano, 333_333_333, 3, 1}, {Logarithmic, dp.Nano + 1, 500_000_000, 2, 1}, {Root, dp.Nano, 666_666_666,
		3, 2}, {Root, 1, 0, 3, 2}} {
		got := laws[c.m].shareOf(c.whole)
		if got != c.want || int64(got)*c.times > int64(c.whole)*c.divided ||
			(int64(got)+1)*c.times <= int64(c.whole)*c.divided {
			t.Errorf("%s: a run has %d of %d, want %d", c.m, got, c.whole, c.want)
		}
	}
}

// constant always answers the same.
type constant struct {
	learn.Plan
	eps dp.Epsilon
	s   *schema.Schema
	yes bool
}

func (c constant) Terms() guard.Terms {
	return guard.Terms{Op: "constant", Scope: dp.WholeRow, Price: dp.Price{Epsilon: c.eps},
		Bill: []dp.Event{{Release: "none", Mechanism: "none", Epsilon: c.eps}}}
}

func (c constant) Fit(_ context.Context, g *guard.Guard) (*model.Model, error) {
	sp, err := feature.NewSpace(c.s, feature.Ordinal, c.s.Features()[:1])
	if err != nil {
		return nil, err
	}
	h := feature.Threshold{Coef: make([]float64, sp.Width()), Bias: -1}
	if c.yes {
		h.Bias = 1
	}
	return &model.Model{
		Learner: "constant", Schema: c.s.Part(sp.Columns), Privacy: learn.State(g, "none"),
		Spaces:     []model.SpaceSpec{model.SpecOf(c.s, sp)},
		Classifier: &model.Votes{Members: []model.Member{{Threshold: h, Vote: 1}}},
	}, nil
}

// Of two candidates, one always right and one always wrong, the wrong one leaves
// if every run drew it: with probability f(1/2). Fitted whole, at an ε whose
// noise is nothing against the rows.
func TestTheWorseLeavesAsOftenAsAllRunsDrawIt(t *testing.T) {
	const fits = 1500
	tab := small(400, false)
	rows := []int{}
	for i, l := range tab.Labels {
		if int(l) == tab.Schema.Label.Positive {
			rows = append(rows, i)
		}
	}
	tab = tab.Subset(rows[:60])
	for m, l := range laws {
		p := Defaults()
		p.Method, p.Epsilon, p.Patience, p.HeldOut = m, 100*dp.Nano, 3, 0.5
		for _, yes := range []bool{false, true} {
			name := map[bool]string{false: "wrong", true: "right"}[yes]
			p.Candidates = append(p.Candidates,
				Candidate{name, func(eps dp.Epsilon, s *schema.Schema, _ int) (learn.Plan, error) {
					return constant{eps: eps, s: s, yes: yes}, nil
				}})
		}
		pl, err := p.Plan(tab.Schema, tab.Rows)
		if err != nil {
			t.Fatal(err)
		}
		wrong := 0
		src, in := replay.Seeded(8, string(m)), learntest.Engine(t, tab)
		for range fits {
			got, err := guard.Train(context.Background(), pl, in, guard.Uncounted{}, mech.NewExit(src))
			if err != nil {
				t.Fatal(err)
			}
			if got.Classifier.(*model.Votes).Members[0].Bias < 0 {
				wrong++
			}
		}
		f, _ := generating(l, 1.0/3, 0.5)
		stattest.Binomial(t, stattest.Claim{FalsePositive: 1e-9 / float64(len(laws)),
			Detects: "another number of runs, or not the best of them"}, wrong, fits, f)
	}
}
