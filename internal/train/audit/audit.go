// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/stats"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// Subject is the subject of an audit: something that can be run repeatedly, and the pairs of
// neighbours to run it on.
type Subject struct {
	Name  string
	Pairs []Pair
}

// Pair is two neighbouring inputs, side 0 and side 1.
type Pair struct {
	Name string
	// Outputs names the numbers of one run, in order.
	Outputs []string
	// Draw makes len(out)/len(Outputs) independent runs on one side and writes their numbers, one run
	// after another. It is called concurrently, each time with its own source. An error ends the
	// audit: if a run may fail on one side only, a number must show that.
	Draw func(ctx context.Context, side int, src rng.Source, out []float64) error
	// Batch is the number of runs that one Draw should make; 0 for 256.
	Batch int
	// Score, if set, returns how strongly a run is evidence for side 0, for example a likelihood
	// ratio.
	Score func(run []float64) float64
	// Maximum is the largest bound on ε that the pair can show if the code is correct; 0 if unknown.
	Maximum float64
}

// Options are the options of one audit.
type Options struct {
	Epsilon dp.Epsilon // the claim; required
	Delta   float64    // for an (ε, δ) claim; in [0, 1)
	// Alpha bounds the probability that a true claim is refuted; in (0, 0.5].
	Alpha float64
	// Runs is the number of runs on each side, of which at most half are used to choose the event; 0
	// for as many as fit into Limit, up to MaxRuns.
	Runs int
	// Limit is how long an audit without Runs should take.
	Limit time.Duration
	// Source returns the randomness for a batch of runs, numbered from 0, so that a replayed audit
	// does not depend on Workers; nil for rng.System.
	Source func(batch uint64) rng.Source
	// Workers is the number of goroutines; 0 for one per processor.
	Workers int
	// Progress, if set, receives the finished share of the audit, in [0, 1], one call at a time.
	Progress func(share float64)
}

const (
	// DefaultAlpha causes about one false alarm in ten thousand nights of a hundred audits.
	DefaultAlpha = 1e-6
	// MaxRuns is the largest number of runs on each side if Runs is 0.
	MaxRuns = 1_600_000
	// MinRuns is the smallest number of runs that can show anything at DefaultAlpha.
	MinRuns = 64
	// maxSearch is the largest number of runs on each side for choosing an event: more runs are better
	// used for counting.
	maxSearch = 150_000
)

// Verdicts.
const (
	NotRefuted = "not refuted"
	Refuted    = "REFUTED"
)

// Report is the result of an audit.
type Report struct {
	Subject    string
	Pair       string  // the pair that was measured
	Claim      float64 // ε
	Delta      float64
	LowerBound float64 // on ε
	Confidence float64 // 1 − alpha
	Runs       int     // on each side, both halves, of the measured pair
	Event      string  // the event that was counted
	Likely     int     // the side on which it was expected more often
	Counts     [2]int  // its frequency in the measured half, by side
	Measured   int     // runs on each side in the measured half
	Maximum    float64 // of the pair; 0 if unknown
	Verdict    string
	Shape      Shape
}

// Run audits a subject. It takes about opts.Limit if opts.Runs is 0. The number of measured runs is
// fixed before the first of them, so that it cannot depend on their results.
func Run(ctx context.Context, sub Subject, opts Options) (*Report, error) {
	if err := opts.checkRanges(); err != nil {
		return nil, err
	}
	if len(sub.Pairs) == 0 {
		return nil, fmt.Errorf("audit: %s: needs a pair of neighbours", sub.Name)
	}
	a := &auditor{Options: opts, began: time.Now()}
	p, rate, err := a.scoutPairs(ctx, sub.Pairs)
	if err != nil {
		return nil, err
	}
	n := min(a.Runs/2, maxSearch)
	if a.Runs == 0 {
		n = int(min(max(rate*a.secondsLeft(searchUntil), MinRuns), maxSearch))
	}
	began := time.Now()
	search, err := a.collectRuns(ctx, p, n, scoutUntil, searchUntil)
	if err != nil {
		return nil, err
	}
	rate = float64(n) / max(time.Since(began).Seconds(), 1e-9)
	ev := chooseEvent(p, search, opts)
	searched := n
	n = a.Runs - n
	if a.Runs == 0 { // at least as many as were searched, were it to take longer
		n = int(min(max(rate*a.secondsLeft(1), float64(searched)), float64(MaxRuns-searched)))
	}
	counts, err := a.countEvent(ctx, p, ev, n)
	if err != nil {
		return nil, err
	}
	r := &Report{
		Subject: sub.Name, Pair: p.Name, Claim: opts.Epsilon.Float(), Delta: opts.Delta, Confidence: 1 - opts.Alpha,
		Runs: searched + n, Event: ev.String(), Likely: ev.likely, Counts: counts, Measured: n,
		Maximum: p.Maximum, Verdict: NotRefuted, Shape: describeEvent(ev, p, search),
		LowerBound: stats.EpsilonLowerBound(counts[ev.likely], n, counts[1-ev.likely], n, opts.Delta, opts.Alpha),
	}
	if r.LowerBound > r.Claim {
		r.Verdict = Refuted
	}
	return r, nil
}

func (o *Options) checkRanges() error {
	bad := dp.RefuseFor("audit")
	switch { // written so that NaN fails
	case o.Epsilon < 1 || o.Epsilon > dp.MaxEpsilon:
		return bad("epsilon", "must be > 0 and at most "+dp.MaxEpsilon.String(), o.Epsilon)
	case !(o.Delta >= 0 && o.Delta < 1):
		return bad("delta", "must be at least 0 and below 1", o.Delta)
	case !(o.Alpha > 0 && o.Alpha <= 0.5):
		return bad("alpha", "must be > 0 and at most 0.5", o.Alpha)
	case o.Runs != 0 && o.Runs < MinRuns:
		return bad("runs", fmt.Sprintf("must be at least %d", MinRuns), o.Runs)
	case o.Runs == 0 && o.Limit <= 0:
		return bad("limit", "must be > 0 if the number of runs is not given", o.Limit)
	}
	return nil
}

// The ends of the stages of an audit, as shares of Limit.
const (
	scoutUntil  = 0.15
	searchUntil = 0.4
)

// auditor is one running audit.
type auditor struct {
	Options
	began   time.Time
	batches uint64 // number started so far
}

// scoutPairs runs every pair briefly and returns the one that seems to show most, and its number of
// runs per second on both sides together. These runs are not counted later, so that any choice is
// valid.
func (a *auditor) scoutPairs(ctx context.Context, pairs []Pair) (best *Pair, rate float64, err error) {
	const enough = 1 << 15
	most := math.Inf(-1)
	for i := range pairs {
		p := &pairs[i]
		until := scoutUntil * float64(i+1) / float64(len(pairs))
		for n := MinRuns; ; n *= 4 {
			began := time.Now()
			out, err := a.collectRuns(ctx, p, n, until-scoutUntil/float64(len(pairs)), until)
			if err != nil {
				return nil, 0, fmt.Errorf("audit: %s: %w", p.Name, err)
			}
			took := time.Since(began).Seconds()
			if n < enough && (a.Runs > 0 && 4*n*len(pairs) <= a.Runs || a.Runs == 0 && a.secondsLeft(until) > 5*took) {
				continue
			}
			if shows := chooseEvent(p, out, a.Options).shows; shows > most || best == nil {
				best, rate, most = p, float64(n)/max(took, 1e-9), shows
			}
			break
		}
	}
	return best, rate, nil
}

// secondsLeft returns the number of seconds until a share of Limit has passed.
func (a *auditor) secondsLeft(until float64) float64 {
	return until*a.Limit.Seconds() - time.Since(a.began).Seconds()
}

func (a *auditor) workerCount() int {
	if a.Workers > 0 {
		return a.Workers
	}
	return runtime.GOMAXPROCS(0)
}
