// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model/metrics"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/sample"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Run compares the learners on a labelled table. It trains
// Repeats·(private·len(Epsilons) + others) models, on all processors.
func Run(ctx context.Context, t *dataset.Table, o Options) (*Result, error) {
	if err := o.Check(t.Schema); err != nil {
		return nil, err
	}
	r := &Result{Options: &o, Points: o.listPoints()}
	done, total := 0, len(r.Points)*o.Repeats
	for i := range o.Repeats {
		train, test := sample.HoldOutUnits(t, o.HeldOut, splitSource(o.Seed, i))
		if r.Train, r.Test = len(train), len(test); r.Train < 1 || r.Test < 1 {
			return nil, fmt.Errorf("compare: the table must have rows enough to train on some and hold out others")
		}
		tab, err := memory.New(t.Subset(train))
		if err != nil {
			return nil, err
		}
		s := &split{repeat: i, train: tab, test: t.Subset(test)}
		if err := s.measureAll(ctx, r.Points, func() {
			if done++; o.Progress != nil {
				o.Progress(done, total)
			}
		}); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// splitSource returns the random words of one split. They determine only which rows are held out.
func splitSource(seed uint64, repeat int) rng.Source {
	return replay.Seeded(seed, fmt.Sprintf(", repeat %d, hold out", repeat))
}

// split is one random split of the table.
type split struct {
	repeat int
	train  *memory.Table
	test   *dataset.Table
}

// measureAll measures every point on the split, one worker per processor.
func (s *split) measureAll(ctx context.Context, points []*Point, tick func()) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	plans := make([]learn.Plan, len(points))
	rows := guard.PublicUnits(s.train)
	for i, p := range points {
		var err error
		if plans[i], err = p.learner.Plan(p.Epsilon, s.test.Schema, rows); err != nil {
			return fmt.Errorf("compare: %s: %w", p.Learner, err)
		}
	}
	var workers sync.WaitGroup
	var turn sync.Mutex
	next := 0
	for range min(runtime.GOMAXPROCS(0), len(points)) {
		workers.Go(func() {
			for {
				turn.Lock()
				i := next
				next++
				turn.Unlock()
				if i >= len(points) || ctx.Err() != nil {
					return
				}
				if err := s.measurePoint(ctx, points[i], plans[i]); err != nil {
					stop(fmt.Errorf("compare: %s: %w", points[i].Learner, err))
					return
				}
				turn.Lock()
				tick()
				turn.Unlock()
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

func (s *split) measurePoint(ctx context.Context, p *Point, plan learn.Plan) error {
	exit := mech.NewExit(rng.System()) // never seeded: noise is not part of a split
	m, err := guard.Train(ctx, plan, s.train, guard.Uncounted{}, exit)
	if err != nil {
		return err
	}
	if m.Privacy.Seeded {
		return errors.New("its noise must not follow from a seed")
	}
	scores, err := m.Scores(s.test.Cols, s.test.Rows)
	if err != nil {
		return err
	}
	label := &m.Schema.Label
	classes := schema.Values(label.Levels)
	r, err := metrics.Evaluate(s.test.Labels, scores, classes, label.Positive, m.Threshold())
	if err != nil {
		return err
	}
	p.Accuracy[s.repeat], p.AUC[s.repeat] = r.Accuracy, r.AUC
	return nil
}
