// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/train/audit"
)

// Membership holds the options of an attack on the rows of a table.
type Membership struct {
	// Epsilon and Delta are the claim; Epsilon 0 if there is none.
	Epsilon dp.Epsilon
	Delta   dp.Delta
	Targets int // number of attacked rows, or persons, of each kind; at least 1
	Runs    int // number of trainings; the attacker learns from half of them, and the others are measured
	// Source returns the randomness for one training and its coins, numbered from 0; nil for
	// rng.System.
	Source func(run uint64) rng.Source
	// Progress, if set, receives the number of finished trainings, one call at a time.
	Progress func(done, of int)
}

// MinMembershipRuns is the smallest number of trainings from which to learn and measure.
const MinMembershipRuns = 40

// MembershipReport is the result of an attack. It is computed from the rows of the table without
// noise, and is not private.
type MembershipReport struct {
	Claim  dp.Price // Epsilon 0 if there is none
	Scope  dp.Scope // the part of a row in which the worlds differ
	Unit   string   // unit of the targets: "a row", or "all rows of a person"
	Runs   int      // measured trainings
	Taught int      // trainings from which the attacker learned
	Kinds  []Kind   // unchanged rows, then rows made to stand out
	// Bound is a lower bound on ε from the most exposed row. It holds with probability Confidence.
	Bound      float64
	Confidence float64
	Verdict    string // Bound compared with the claim; "" if there is none
}

// Kind is the attack on one kind of rows.
type Kind struct {
	Name    string
	Targets int
	Loss    Curve // one threshold on the model's confidence in the row's label
	Ratio   Curve // a likelihood ratio for each row, learned from trainings
	Bound   float64
}

// AttackMembership guesses for each target, after every training, whether its protected part was in
// the table. A coin decides that before the training: the row keeps its own part (world 1), or gets
// another one (world 0); under add-remove the row is present or left out. The coins of all targets are
// independent, so that one training serves every target. For each target the claim bounds the
// attacker's success:
//
//	TPR ≤ e^ε·FPR + δ and TPR ≤ 1 − e^(−ε)·(1 − δ − FPR)
//
// The attacker sees the model, and knows every row, both parts of every target and the coins of half
// of the trainings. From these it learns the distribution, in each world, of the model's confidences
// in the row with either part, as normal distributions with a common covariance. It attacks the other
// half by their likelihood ratio (Carlini et al., "Membership inference attacks from first
// principles", 2022, with two confidences instead of one).
//
// If the schema declares persons, a target is all rows of one person: the coin applies to all of them,
// each row gets another person's protected part in world 0, and the attacker queries the model about
// the first of them.
//
// Targets are random rows of tab, and equally many rows that are made to stand out: a random corner of
// the table, with each cell at one end of its column, against the opposite corner with another label.
// Neither the table nor the result is private.
//
// Claim G-AUDIT-2. If the training is (ε, δ)-DP, Bound exceeds ε with probability at most
// audit.DefaultAlpha.
func AttackMembership(ctx context.Context, pl learn.Plan, tab *dataset.Table, o Membership) (*MembershipReport, error) {
	bad := func(param, want string, got any) (*MembershipReport, error) {
		return nil, &dp.ParamError{Op: "attack", Param: param, Want: want, Got: got}
	}
	units := tab.Rows
	if tab.Persons != nil {
		_, units = tab.CountPersons()
	}
	switch {
	case o.Targets < 1 || 4*o.Targets > units:
		return bad("targets", "must be at least 1 and at most a quarter of the rows, or of the persons", o.Targets)
	case o.Runs < MinMembershipRuns:
		return bad("runs", fmt.Sprintf("must be at least %d", MinMembershipRuns), o.Runs)
	case o.Epsilon < 0 || o.Epsilon > dp.MaxEpsilon || o.Delta < 0 || o.Delta > dp.MaxDelta:
		return bad("epsilon", "must be 0 to "+dp.MaxEpsilon.String()+", with 0 <= delta < 1",
			dp.Price{Epsilon: o.Epsilon, Delta: o.Delta})
	}
	if o.Source == nil {
		o.Source = func(uint64) rng.Source { return rng.System() }
	}
	src := o.Source(0)
	first, err := audit.TrainOnce(ctx, pl, tab, src)
	if err != nil {
		return nil, fmt.Errorf("attack: a first training: %w", err)
	}
	scope := first.Privacy.Scope
	if scope == dp.Nothing {
		scope = audit.Scope(tab.Schema)
	}
	w := newWorlds(tab, scope, o.Targets, src)
	runs, err := o.collectSightings(ctx, pl, w)
	if err != nil {
		return nil, err
	}
	taught := o.Runs / 2
	r := &MembershipReport{
		Claim: dp.Price{Epsilon: o.Epsilon, Delta: o.Delta}, Scope: scope,
		Unit: "a row", Runs: o.Runs - taught, Taught: taught, Confidence: 1 - audit.DefaultAlpha,
	}
	kinds := []string{"rows as they are", "rows made to stand out"}
	if tab.Persons != nil {
		r.Unit = "all rows of a person"
		kinds = []string{"persons as they are", "persons made to stand out"}
	}
	for k, name := range kinds {
		kind := attackTargets(runs, taught, k*o.Targets, (k+1)*o.Targets, o.Delta.Float(), audit.DefaultAlpha/2)
		kind.Name = name
		r.Kinds = append(r.Kinds, kind)
		r.Bound = max(r.Bound, kind.Bound)
	}
	if o.Epsilon > 0 {
		if r.Verdict = audit.NotRefuted; r.Bound > o.Epsilon.Float() {
			r.Verdict = audit.Refuted
		}
	}
	return r, nil
}

// sighting is what the attacker observes about one target after one training.
type sighting struct {
	member bool       // the coin
	seen   [2]float64 // confidence in the row with its own part, and with the other
}

// collectSightings trains and observes: it returns a sighting of each target for every run.
func (o *Membership) collectSightings(ctx context.Context, pl learn.Plan, w *worlds) ([][]sighting, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := make([][]sighting, o.Runs)
	var next, done atomic.Int64
	var told sync.Mutex
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), o.Runs) {
		workers.Go(func() {
			for ctx.Err() == nil {
				k := int(next.Add(1)) - 1
				if k >= o.Runs {
					return
				}
				seen, err := w.trainAndLook(ctx, pl, o.Source(uint64(k)+1))
				if err != nil {
					cancel(fmt.Errorf("attack: %w", err))
					return
				}
				out[k] = seen
				if o.Progress != nil {
					told.Lock()
					o.Progress(int(done.Add(1)), o.Runs)
					told.Unlock()
				}
			}
		})
	}
	workers.Wait()
	return out, context.Cause(ctx)
}

// trainAndLook draws the coins, trains and queries the model about every target.
func (w *worlds) trainAndLook(ctx context.Context, pl learn.Plan, src rng.Source) ([]sighting, error) {
	seen := make([]sighting, len(w.targets))
	for i := range seen {
		seen[i].member = src.Uint64()&1 == 1
	}
	tab, err := memory.New(w.tableOf(seen))
	if err != nil {
		return nil, err
	}
	m, err := guard.Train(ctx, pl, tab, guard.Uncounted{}, mech.NewExit(src))
	if err != nil {
		return nil, err
	}
	for version := range 2 {
		c, err := logOddsOfLabels(m, w.versions[version])
		if err != nil {
			return nil, err
		}
		for i := range seen {
			seen[i].seen[version] = c[i]
		}
	}
	return seen, nil
}

// logOddsOfLabels returns the log-odds that m gives to the rows' own labels, clamped because a score
// of 0 or 1 has none.
func logOddsOfLabels(m *model.Model, t *dataset.Table) ([]float64, error) {
	b, err := m.Bind(t.Schema)
	if err != nil {
		return nil, err
	}
	scores, err := b.Scores(t.Cols, t.Rows)
	if err != nil {
		return nil, err
	}
	out := make([]float64, t.Rows)
	for i, label := range t.Labels {
		var p float64
		if width := m.Width(); width > 1 {
			p = scores[i*width+int(label)]
		} else if p = scores[i]; int(label) != t.Schema.Label.Positive {
			p = 1 - p
		}
		p = min(max(p, 1e-12), 1-1e-12)
		out[i] = math.Log(p / (1 - p))
	}
	return out, nil
}
