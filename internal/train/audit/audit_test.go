// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/stats"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// long reports whether to use the numbers of runs that the published figures
// have: DISCREET_AUDIT=1, set by `make audit`.
var long = os.Getenv("DISCREET_AUDIT") != ""

// runs chooses between an ordinary test and a long one.
func runs(ordinary, published int) int {
	if long {
		return published
	}
	return ordinary
}

// replayed is an audit at a fixed number of runs that always does the same.
func replayed(t *testing.T, sub Subject, eps dp.Epsilon, runs int) *Report {
	t.Helper()
	return audited(t, sub, eps, 0, runs)
}

// audited is replayed for an (ε, δ) claim.
func audited(t *testing.T, sub Subject, eps dp.Epsilon, delta float64, runs int) *Report {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(1000)) // as the command does
	r, err := Run(context.Background(), sub, Options{
		Epsilon: eps, Delta: delta, Alpha: DefaultAlpha, Runs: runs,
		Source: func(batch uint64) rng.Source { return replay.Seeded(batch, t.Name()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: ε ≥ %.4g of %g claimed, maximum %.4g; %s: %d against %d in %d; %s",
		r.Subject, r.LowerBound, r.Claim, r.Maximum, r.Event, r.Counts[0], r.Counts[1], r.Measured, r.Pair)
	return r
}

// needsManyRuns skips t unless tests run at full size.
func needsManyRuns(t *testing.T) {
	t.Helper()
	size.OnlyLong(t, "thousands of runs; closed forms and replays judge the same claims")
}

// Correct mechanisms are not refuted, and nine tenths of what each can show is
// shown, of owners' reports 0.97: an audit without teeth would pass the first
// half alone.
func TestAuditsOfCorrectMechanisms(t *testing.T) {
	needsManyRuns(t)
	for _, name := range Mechanisms() {
		for _, eps := range []dp.Epsilon{dp.Nano, dp.Nano / 4, 3 * dp.Nano} {
			t.Run(fmt.Sprintf("%s at %s", name, eps), func(t *testing.T) {
				delta := 0.0
				if name == "gaussian" {
					delta = 0.05
				}
				sub, err := Mechanism(name, eps, delta)
				if err != nil {
					t.Fatal(err)
				}
				r := audited(t, sub, eps, delta, runs(map[bool]int{true: 700_000, false: 100_000}[eps == dp.Nano], 1_000_000))
				if r.Verdict != NotRefuted || r.LowerBound > r.Maximum {
					t.Errorf("a correct mechanism is %s: ε ≥ %g of at most %g", r.Verdict, r.LowerBound, r.Maximum)
				}
				bar := 0.9
				if slices.Contains(append(response.VectorLaws(), response.CellLaws()...), strings.TrimSuffix(name, "-k2")) &&
					name != "laplace" {
					bar = 0.97
				}
				if eps == dp.Nano && r.LowerBound < bar*r.Maximum {
					t.Errorf("shows %g of %g only", r.LowerBound, r.Maximum)
				}
			})
		}
	}
	if _, err := Mechanism("gaussian", dp.Nano, 0); err == nil {
		t.Error("a gaussian without delta was accepted")
	}
	if _, err := Mechanism("no such", dp.Nano, 0); err == nil {
		t.Error("a mechanism that does not exist was accepted")
	}
}

// one is a subject of one number a run.
func one(name string, run func(side int, src rng.Source) float64) Subject {
	return Subject{Name: name, Pairs: []Pair{{Name: "0 against 1", Outputs: []string{"number"},
		Draw: Each(1, func(_ context.Context, side int, src rng.Source, out []float64) error {
			out[0] = run(side, src)
			return nil
		})}}}
}

// floatLaplace is the textbook sampler (Mironov 2012).
func floatLaplace(src rng.Source, value, scale float64) float64 {
	noise := -scale * math.Log((float64(src.Uint64()>>11)+0.5)*0x1p-53)
	if src.Uint64()&1 == 0 {
		noise = -noise
	}
	return value + noise
}

// Sabotaged mechanisms are refuted. at is the least bound to be shown, close to
// what the defect is worth.
func TestSabotagedMechanismsAreRefuted(t *testing.T) {
	needsManyRuns(t)
	half, err1 := mech.LaplaceFor(dp.Nano, 0.5, 1)
	close, err2 := mech.LaplaceFor(dp.Nano, 0.95, 1)
	selector, err3 := mech.ExponentialFor(dp.Nano, 1)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	values := [2][]mech.Ratio{{{Num: 0, Den: 1}}, {{Num: 1, Den: 1}}}
	for _, c := range []struct {
		row, bug string
		sub      Subject
		runs     int
		at       float64
	}{
		{"11", "Laplace noise half as large as it must be",
			Subject{"half", []Pair{releasePair(half, "0 against 1", values, 2)}}, 200_000, 1.9},
		{"11", "Laplace noise 5% too small", Subject{"close", []Pair{releasePair(close, "0 against 1", values, 1/0.95)}},
			1_000_000, 1.01},
		{"10", "exponential mechanism without the 2 of 2Δ", Subject{"selector", []Pair{selectionPair(selector, 1.79)}},
			200_000, 1.6},
		{"12", "floating-point Laplace noise",
			one("float", func(side int, src rng.Source) float64 { return floatLaplace(src, float64(side), 1) }), 100_000, 5},
		{"7", "no noise", one("exact", func(side int, src rng.Source) float64 { return float64(side) }), 20_000, 5},
		{"16", "sum released with the noise of a mean",
			one("unit", func(side int, src rng.Source) float64 { return floatLaplace(src, 1000*float64(side), 1) }), 20_000, 5},
		{"29", "noise from a fixed seed", one("seeded", func(side int, _ rng.Source) float64 {
			return mech.NewExit(replay.Seeded(1, "")).Release("", half, values[side]...)[0]
		}), 20_000, 5},
	} {
		t.Run(c.bug, func(t *testing.T) {
			if r := replayed(t, c.sub, dp.Nano, runs(c.runs, max(c.runs, 500_000))); r.Verdict != Refuted ||
				r.LowerBound < c.at {
				t.Errorf("row %s: %s at %g, want REFUTED at %g or more", c.row, r.Verdict, r.LowerBound, c.at)
			}
		})
	}
}

// Two numbers that tell only together are looked at together: noise that is
// used twice (the difference of the two outputs is exact).
func TestNumbersAreSearchedTogether(t *testing.T) {
	sub := Subject{Name: "one noise for two numbers",
		Pairs: []Pair{{Name: "0, 0 against 0, 1", Outputs: []string{"a", "b"},
			Draw: Each(2, func(_ context.Context, side int, src rng.Source, out []float64) error {
				noise := floatLaplace(src, 0, 4)
				out[0], out[1] = noise, noise+float64(side)+floatLaplace(src, 0, 0.05)
				return nil
			})}}}
	if r := replayed(t, sub, dp.Nano, 100_000); r.Verdict != Refuted || !strings.Contains(r.Event, "(a, b)") {
		t.Errorf("%s by %s", r.Verdict, r.Event)
	}
}

// The worst pair is found among others, and one on which the program fails is
// as good as any.
func TestThePairIsSearched(t *testing.T) {
	mute := func(int, rng.Source) float64 { return 0 }
	loud := func(side int, _ rng.Source) float64 {
		if side == 1 {
			return math.NaN()
		}
		return 0
	}
	sub := one("pairs", mute)
	sub.Pairs = append(sub.Pairs, one("", loud).Pairs[0], one("", mute).Pairs[0])
	sub.Pairs[1].Name = "the worst"
	if r := replayed(t, sub, dp.Nano, 2000); r.Pair != "the worst" || r.Verdict != Refuted {
		t.Errorf("%s on %q", r.Verdict, r.Pair)
	}
}

// G-AUDIT-1, measured: of many audits of a correct mechanism at a coarse alpha
// no more are false alarms than alpha allows.
func TestFalseAlarmsStayBelowAlpha(t *testing.T) {
	needsManyRuns(t)
	const audits, alpha = 400, 0.05
	alarms := func(true_ dp.Epsilon) (k int) {
		sub, err := Mechanism("laplace", true_, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range audits {
			r, err := Run(context.Background(), sub, Options{
				Epsilon: dp.Nano, Alpha: alpha, Runs: 3000,
				Source: func(batch uint64) rng.Source { return replay.Seeded(batch, fmt.Sprint("false alarms", i, true_)) },
			})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict == Refuted {
				k++
			}
		}
		return k
	}
	claim := stattest.Claim{FalsePositive: 1e-9, Detects: "ε = 1.5 where 1 is claimed"}
	check := func(t stattest.T, k int) {
		// One-sided: fewer alarms than alpha are welcome.
		if stats.Lower(k, audits, claim.FalsePositive) > alpha {
			t.Errorf("%d false alarms in %d audits at alpha %g", k, audits, alpha)
		}
	}
	k := alarms(dp.Nano)
	t.Logf("%d false alarms in %d audits at alpha %g", k, audits, alpha)
	check(t, k)
	stattest.Rejects(t, func(t stattest.T) { check(t, alarms(dp.Nano*3/2)) })
}

func TestOptionsAreRefused(t *testing.T) {
	sub, _ := Mechanism("laplace", dp.Nano, 0)
	good := Options{Epsilon: dp.Nano, Alpha: DefaultAlpha, Runs: 1000}
	for param, spoil := range map[string]func(*Options){
		"epsilon": func(o *Options) { o.Epsilon = 0 },
		"delta":   func(o *Options) { o.Delta = math.NaN() },
		"alpha":   func(o *Options) { o.Alpha = math.NaN() },
		"runs":    func(o *Options) { o.Runs = 10 },
		"limit":   func(o *Options) { o.Runs = 0 },
	} {
		o := good
		spoil(&o)
		_, err := Run(context.Background(), sub, o)
		if p, ok := errors.AsType[*dp.ParamError](err); !ok || p.Param != param {
			t.Errorf("%s: error %v", param, err)
		}
	}
	if _, err := Run(context.Background(), Subject{}, good); err == nil {
		t.Error("a subject without pairs was accepted")
	}
}

// A time limit bounds the number of runs, and a cancelled audit ends.
func TestLimitAndCancellation(t *testing.T) {
	sub, _ := Mechanism("laplace", dp.Nano, 0)
	r, err := Run(context.Background(), sub, Options{Epsilon: dp.Nano, Alpha: DefaultAlpha, Limit: 100 * time.Millisecond})
	if err != nil || r.Runs > MaxRuns || r.Verdict != NotRefuted {
		t.Errorf("%+v, %v", r, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, sub, Options{Epsilon: dp.Nano, Alpha: DefaultAlpha,
		Runs: 1000}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	fault := errors.New("a fault")
	broken := Subject{Pairs: []Pair{{Outputs: []string{"x"},
		Draw: func(context.Context, int, rng.Source, []float64) error { return fault }}}}
	if _, err := Run(context.Background(), broken,
		Options{Epsilon: dp.Nano, Alpha: DefaultAlpha, Runs: 1000}); !errors.Is(err, fault) {
		t.Errorf("error %v", err)
	}
}

// The same audit with any number of workers is the same audit.
func TestReplayDoesNotDependOnWorkers(t *testing.T) {
	sub, _ := Mechanism("permute-and-flip", dp.Nano, 0)
	var first *Report
	for _, workers := range []int{1, 3} {
		r, err := Run(context.Background(), sub, Options{Epsilon: dp.Nano, Alpha: DefaultAlpha, Runs: 5000, Workers: workers,
			Source: func(batch uint64) rng.Source { return replay.Seeded(batch, "workers") }})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = r
		} else if r.Counts != first.Counts || r.Event != first.Event {
			t.Errorf("%v with one worker, %v with three", first, r)
		}
	}
}

func TestLowestBit(t *testing.T) {
	for x, want := range map[float64]float64{1: 0, 3: 0, -6: 1, 0.75: -2, 0x1p-1074: -1074, 1 + 0x1p-52: -52,
		0: math.Inf(1), math.Inf(-1): math.Inf(1)} {
		if got := lowestBit(x); got != want {
			t.Errorf("lowestBit(%g) = %g, want %g", x, got, want)
		}
	}
}

// Shares add up to one on each side, few values stand each for itself.
func TestShape(t *testing.T) {
	sub, _ := Mechanism("exponential", dp.Nano, 0)
	s := replayed(t, sub, dp.Nano, 2000).Shape
	for side := range s.Share {
		sum := 0.0
		for _, x := range s.Share[side] {
			sum += x
		}
		if math.Abs(sum-1) > 1e-9 || len(s.Share[side]) != len(s.At) {
			t.Errorf("side %d: %v", side, s)
		}
	}
	sub, _ = Mechanism("laplace", dp.Nano, 0)
	if s := replayed(t, sub, dp.Nano, 2000).Shape; len(s.At) < 2 || len(s.At) > 24 {
		t.Errorf("%d cells", len(s.At))
	}
}
