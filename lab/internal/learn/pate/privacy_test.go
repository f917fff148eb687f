// SPDX-License-Identifier: Apache-2.0

package pate

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/census"
)

// rounding is 1 plus what the checks' own subtractions may lose.
const rounding = 1 + 1e-9

// Nothing of a model but what left through the exit may depend on the protected
// part of a row: 1,000 neighbour pairs over all settings, byte for byte. With a
// teacher for each row the same runs check that no release moved further than
// it declared. With larger parts only the coupling of the proof keeps the other
// rows if they are, and one stream of dealing does not: there
// TestAVoteIsNeverLongerThanOne stands for it.
func TestReplayNonInterference(t *testing.T) {
	names := []string{"partly private", "ordinal", "private label", "no public column", "parts", "parts, private label",
		"gaussian", "gaussian parts, private label"}
	const pairs = 1000
	for i, name := range names {
		src := replay.Seeded(uint64(i), "pairs")
		tab, plan := with(settings()[name], dp.Nano, 60)
		pl, err := plan()
		if err != nil {
			t.Fatal(err)
		}
		scope, dealt := pl.(*Plan).scope, pl.(*Plan).Teachers > 0
		for k := range pairs/len(names) + 1 {
			b := learntest.Neighbour(tab, src, scope)
			shift := float64(rng.Below(src, 1000))
			differs, worst, at := learntest.Interference(t, plan, tab, b, uint64(k),
				func(k int, p mechtest.Passage) (out []float64) {
					for i := range p.Values {
						out = append(out, 20*math.Sin(shift+float64(3*k+i)))
					}
					return out
				})
			if differs != "" {
				t.Fatalf("%s, pair %d: %s differ", name, k, differs)
			}
			if !dealt && worst > rounding {
				t.Fatalf("%s, pair %d: %s moved %.6f times its declared bound", name, k, at, worst)
			}
		}
	}
}

// A sabotaged reader of the test above: where the exact votes leave, models must
// differ.
func TestNonInterferenceNoticesExactVotes(t *testing.T) {
	tab, plan := with(settings()["partly private"], dp.Nano, 60)
	src := replay.Seeded(1, "pairs")
	for range 50 {
		b := learntest.Neighbour(tab, src, dp.PrivateFeatures)
		exact := func(k int, p mechtest.Passage) (out []float64) {
			for _, v := range p.Values {
				out = append(out, 100*v.Float())
			}
			return out
		}
		if differs, _, _ := learntest.Interference(t, plan, tab, b, 1, exact); differs != "" {
			return
		}
	}
	t.Error("50 neighbours with exact votes gave equal models: the check is blind")
}

// Whatever its rows are, a teacher's ballot is at most one vote long, in either
// norm; so a replaced row moves the sum by at most 2. On categories, whose features are all
// of size 1, the climb reaches 0.98 of it.
func TestAVoteIsNeverLongerThanOne(t *testing.T) {
	tab := census.Generate(5, 4000)
	private := tab.Schema.ByRole(schema.Private)
	var categories []int
	for _, j := range private {
		if tab.Schema.Columns[j].Kind == schema.Category {
			categories = append(categories, j)
		}
	}
	for _, c := range []struct {
		enc   feature.Encoding
		cols  []int
		least float64
	}{{feature.OneHot, private, 0}, {feature.Ordinal, private, 0}, {feature.OneHot, categories, 0.98}} {
		sp, err := feature.NewSpace(tab.Schema, c.enc, c.cols)
		if err != nil {
			t.Fatal(err)
		}
		g, err := learntest.Engine(t, tab).Groups(t.Context(), sp.Columns)
		if err != nil {
			t.Fatal(err)
		}
		for _, norm := range []mech.Norm{mech.L1, mech.L2} {
			for _, level := range []bool{true, false} {
				r := newRoll(g, sp, tab.Schema.Label.Positive, norm, nil)
				r.level = level
				least := c.least
				if norm == mech.L2 && !level {
					least = 0 // two rows of one label point the same way, but for the level
				}
				if worst := climb(r, level); worst > 1 || worst < least {
					t.Errorf("%s, %d columns, %s, level %v: replacing a row moved a vote by %.4f times the declared 2", c.enc,
						len(c.cols), norm, level, worst)
				}
			}
		}
	}
}

// climb searches parts, and a replacement in them, for the largest move.
func climb(r *roll, level bool) (worst float64) {
	src := replay.Seeded(9, "climb")
	a, b := make([]int64, r.voteLength()), make([]int64, r.voteLength())
	draw := func() row { return r.rows[rng.Below(src, uint64(len(r.rows)))] }
	for range 20_000 {
		part := make([]row, 1+rng.Below(src, 6))
		for i := range part {
			part[i] = draw()
			if rng.Below(src, 2) == 0 { // residuals of students who are not sure
				part[i].residual = part[i].residual * int64(rng.Below(src, 1000)) / 1000
			}
		}
		r.writeVote(part, a)
		was := part[0]
		part[0] = draw()
		if !level { // the label, and so the residual, is public
			part[0].positive, part[0].residual = was.positive, was.residual
		}
		r.writeVote(part, b)
		moved := make([]int64, len(a))
		for f := range a {
			moved[f] = a[f] - b[f]
		}
		if length(a, r.norm) > one || length(b, r.norm) > one {
			return math.Inf(1)
		}
		worst = max(worst, length(moved, r.norm)/(votesMove*one))
	}
	return worst
}

// length is that of a vector, in floating point.
func length(v []int64, norm mech.Norm) (sum float64) {
	for _, x := range v {
		if norm == mech.L2 {
			sum = math.Hypot(sum, float64(x))
		} else {
			sum += math.Abs(float64(x))
		}
	}
	return sum
}

// What the Gaussian votes and their worth cost together is what (ε, δ) buys: by
// Balle and Wang's formula in this test's own arithmetic.
func TestGaussianNoiseIsCalibrated(t *testing.T) {
	tab, plan := with(settings()["gaussian"], dp.Nano, 60)
	pl, err := plan()
	if err != nil {
		t.Fatal(err)
	}
	tape := &mechtest.Recorder{}
	learntest.Fit(t, pl, tab, tape, 1)
	rho := 0.0
	for _, p := range tape.Passages {
		rho += p.Rho.Float()
	}
	delta := func(mu float64) float64 { // δ(1) at distance mu
		return math.Erfc((1/mu-mu/2)/math.Sqrt2)/2 - math.E*math.Erfc((1/mu+mu/2)/math.Sqrt2)/2
	}
	mu := math.Sqrt(2 * rho)
	if want := 1e-6; !(delta(mu) <= want && delta(mu*1.0001) > want) {
		t.Errorf("the releases are at distance %g: δ(1) = %g", mu, delta(mu))
	}
}

// The proof deals rows uniformly whatever is in them. With false alarms of
// 1 in 10^9, this notices a row that stays where its cells put it.
func TestDealIgnoresWhatIsInARow(t *testing.T) {
	const rows, parts, runs = 12, 4, 40_000
	src := replay.Seeded(3, "deal")
	var at [rows][parts]int
	for range runs {
		r := &roll{}
		for i := range rows {
			r.rows = append(r.rows, row{group: int32(i)})
		}
		r.dealRows(src)
		for i, x := range r.rows {
			at[x.group][i*parts/rows]++
		}
	}
	const expect = float64(runs) / parts
	for i := range at {
		for k, n := range at[i] {
			if d := (float64(n) - expect) / math.Sqrt(expect*(1-1.0/parts)); math.Abs(d) > 6.7 {
				t.Errorf("row %d was in part %d %d times, expected %.0f", i, k, n, expect)
			}
		}
	}
}

// The printed form's own query: 50 teachers at 0.1 lose 4.43 about one row, and
// the number follows from the law of the noise that winner draws.
func TestPrintedOwnQueryLosesMoreThanItClaims(t *testing.T) {
	const claimed dp.Epsilon = dp.Nano / 10
	loss := ownQueryLoss(50, claimed)
	if math.Abs(loss-4.43) > 0.01 {
		t.Errorf("loss %.4f, want 4.43", loss)
	}
	// By summing the law of the difference of two Laplace numbers of scale 10.
	tail, step := 0.0, 0.001
	for x := 50 + step/2; x < 600; x += step {
		tail += step * math.Exp(-x/10) * (1 + x/10) / 40
	}
	if by := math.Log((1 - tail) / tail); math.Abs(by-loss) > 1e-4 {
		t.Errorf("loss %.6f in closed form, %.6f by quadrature", loss, by)
	}
	// The code's own winner: none of 50 against all of 50, 20,000 draws each. The
	// shares differ from q = 0.0118 and 1 − q by 6 standard deviations in one run
	// of 10^9.
	pl := &Plan{Params: Params{VoteEpsilon: claimed}}
	exit := mech.NewExit(replay.Seeded(7, "winner"))
	var yes [2]int
	const draws = 20_000
	for range draws {
		for side, votes := range []int{0, 50} {
			if pl.releaseMajority(0, votes, 50-votes, exit) {
				yes[side]++
			}
		}
	}
	q := 1 / (1 + math.Exp(loss))
	sd := math.Sqrt(q * (1 - q) * draws)
	if math.Abs(float64(yes[0])-q*draws) > 6.1*sd || math.Abs(float64(yes[1])-(1-q)*draws) > 6.1*sd {
		t.Errorf("winners %v of %d, expected shares %.4f and %.4f", yes, draws, q, 1-q)
	}
	if !(loss > 40*claimed.Float()) {
		t.Error("the printed form does not leak what the guide says")
	}
}

// A replaced row can flip every vote about itself, which the tape sees: more
// than the one the printed noise is sized for.
func TestPrintedVotesMoveFurtherThanDeclared(t *testing.T) {
	tab, plan := with(settings()["printed"], 0, 300)
	src := replay.Seeded(2, "pairs")
	most := 0.0
	for k := range 60 {
		b := learntest.Neighbour(tab, src, dp.PrivateFeatures)
		var tapes [2]*mechtest.Recorder
		for i := range tapes {
			pl, err := plan()
			if err != nil {
				t.Fatal(err)
			}
			tapes[i] = &mechtest.Recorder{}
			m := learntest.Fit(t, pl, []*dataset.Table{tab, b}[i], tapes[i], uint64(k))
			if p := m.Privacy; !p.NotPrivate || p.Scope != dp.Nothing || p.Epsilon != 0 {
				t.Fatal("a printed model does not say that it protects nothing")
			}
		}
		for i := range tapes[0].Passages {
			most = max(most, tapes[0].Passages[i].Moved(tapes[1].Passages[i])/tapes[0].Passages[i].Bound)
		}
	}
	if most <= 2 {
		t.Errorf("no vote moved more than %.0f times what one teacher could", most)
	}
}

// A printed model is its student: the majority of two thresholds and the
// teachers answers as the regression with the winner among its features does.
func TestPrintedModelAnswersAsItsStudent(t *testing.T) {
	tab, plan := with(settings()["printed"], 0, 800)
	lp, err := plan()
	if err != nil {
		t.Fatal(err)
	}
	pl := lp.(*Plan)
	m := learntest.Fit(t, pl, tab, nil, 4)
	scores, err := m.Scores(tab.Cols, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	member := func(k int, i int) bool {
		v := m.Classifier.(*model.Votes).Members[k]
		x, z := widen(tab, []*feature.Space{pl.public, pl.private}[v.Space], i), v.Bias
		for f := range x {
			z += v.Coef[f] * x[f]
		}
		return z >= 0
	}
	sides := [2]int{}
	for i := range tab.Rows {
		yes := 0
		for k := 2; k < len(m.Classifier.(*model.Votes).Members); k++ {
			if member(k, i) {
				yes++
			}
		}
		speaks := (2*yes >= len(m.Classifier.(*model.Votes).Members)-2) == (m.Classifier.(*model.Votes).Members[2].Vote > 0)
		low, high := member(0, i), member(1, i)
		want := high
		if speaks {
			want = low
		}
		if low != high {
			sides[0]++
		} else {
			sides[1]++
		}
		if (scores[i] >= 0.5) != want {
			t.Fatalf("row %d: score %g, the student says %v", i, scores[i], want)
		}
	}
	if sides[0] == 0 {
		t.Error("the winner never decided: the test is one-sided")
	}
}
