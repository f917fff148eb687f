// SPDX-License-Identifier: Apache-2.0

package aggregator

import (
	"context"
	"errors"
	"sync"
	"time"

	core "github.com/discreet-dp/discreet/internal/net/federated/collect"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/aggregator/store"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
)

// firstBroadcast returns the broadcast of a task's first slot. In mode aggregate the real one depends
// on the participants; a trial with the smallest permitted number is made here.
func firstBroadcast(ann *tasks.Announcement) ([]byte, error) {
	c, err := core.New(ann.Task)
	if err != nil {
		return nil, err
	}
	if ann.Task.Mode == wire.Local {
		return c.Broadcast()
	}
	if err := c.Assemble(ann.Minimum, 1); err != nil {
		return nil, problem.New(problem.UnsafeTask, "%v", err)
	}
	return []byte{}, nil
}

// noteReports records reports of a slot that this process has stored.
func (l *live) noteReports(slot, fresh int) {
	if fresh == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if slot == l.slot {
		l.stored += fresh // if the store was asked in between, it is asked again
		l.fresh = true
	}
}

// keepTime advances the tasks until ctx ends. Failures are retried, because all state is in the store.
func (s *Server) keepTime(ctx context.Context) {
	t := time.NewTicker(tick)
	defer t.Stop()
	var gathering sync.WaitGroup
	defer gathering.Wait()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		open := s.clock.moveClock(ctx)
		if n%ticksToDiscover == 0 {
			if err := s.discoverTasks(ctx); err != nil && ctx.Err() == nil {
				s.clock.noteFailed()
				s.Log.Error("reading tasks failed", "error", err)
			}
		}
		for _, l := range s.allTasks() {
			if l.gathering.Load() {
				continue
			}
			if err := s.moveTask(ctx, l, open, &gathering); err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrMoved) {
				if errors.Is(err, store.ErrFailed) {
					s.clock.noteFailed()
				}
				s.Log.Error("moving a task failed", "task", l.String(), "error", err)
			}
		}
	}
}

// moveTask does what is due for a task. The store has the final decision, because this process may
// have missed some reports or counted some twice.
func (s *Server) moveTask(ctx context.Context, l *live, open reading, gathering *sync.WaitGroup) error {
	l.mu.RLock()
	state, counted := l.state, l.counted
	l.mu.RUnlock()
	if state != store.Open {
		l.core = nil // what it counted is stored
		return nil
	}
	slot, what := l.dueNow(s.Now(), open)
	now, err := s.Store.Now(ctx, l.id)
	if err != nil {
		return err
	}
	switch {
	case now.Task != store.Open || now.Number != slot: // someone else has moved it
	case now.Round == store.Sealed && l.isSecret():
		s.launchSum(ctx, l, slot, gathering)
	case now.Round == store.Sealed: // someone has closed the slot, and may have died since
		err = s.advanceTask(ctx, l, slot)
	case what == ended:
		err = s.endTask(ctx, l, slot, s.Store.End)
	case what == overdue:
		if err = s.Store.Seal(ctx, l.id, slot, l.ann.Minimum); errors.Is(err, store.ErrFew) {
			err = s.endTask(ctx, l, slot, s.Store.End)
		} else if err == nil && !l.isSecret() {
			err = s.advanceTask(ctx, l, slot)
		}
	case what == quiet:
		var news bool
		if news, err = l.countReports(ctx, s.Store, slot); news || err != nil {
			return err
		}
		if err = s.Store.Seal(ctx, l.id, slot, l.ann.Minimum); err == nil && !l.isSecret() {
			err = s.advanceTask(ctx, l, slot)
		}
	case time.Since(counted) >= recount:
		_, err = l.countReports(ctx, s.Store, slot)
		return err
	default:
		return nil
	}
	return errors.Join(err, l.refreshState(ctx, s.Store))
}

// launchSum starts collecting a secret sum in the background. It may be called again after a failure.
func (s *Server) launchSum(ctx context.Context, l *live, slot int, gathering *sync.WaitGroup) {
	if time.Now().Before(l.retry) {
		return
	}
	l.gathering.Store(true)
	gathering.Go(func() {
		defer l.gathering.Store(false)
		err := s.gatherSum(ctx, l, slot)
		if err == nil {
			err = l.refreshState(ctx, s.Store)
		}
		if err != nil && ctx.Err() == nil {
			l.retry = time.Now().Add(rest)
			if !errors.Is(err, store.ErrMoved) && !errors.Is(err, errOthers) {
				s.Log.Error("a secret sum failed, and will be tried again", "task", l.String(), "slot", slot, "error", err)
			}
		}
	})
}

// endTask ends a task without a model: end stores that.
func (s *Server) endTask(ctx context.Context, l *live, slot int, end func(context.Context, store.ID, int) error) error {
	err := end(ctx, l.id, slot)
	if err == nil {
		s.Log.Info("a task ended without a model", "task", l.String(), "slot", slot)
	}
	return err
}

// advanceTask stores the result of a sealed slot. Two processes may do this at once, because both
// compute the same.
func (s *Server) advanceTask(ctx context.Context, l *live, slot int) error {
	broadcast, file, err := l.computeNext(ctx, s.Store, slot)
	if err != nil {
		return err
	}
	if note, err := l.noteCore(); err != nil {
		return err
	} else if err := s.Store.Note(ctx, l.id, slot, note); err != nil {
		return err
	}
	var next *store.Round
	if file == nil {
		next = &store.Round{Number: slot + 1, Broadcast: append([]byte{}, broadcast...), Deadline: l.slotDeadline(s.Now())}
	}
	if err := s.Store.Advance(ctx, l.id, slot, next, file); err != nil {
		return err
	}
	s.Log.Info("a slot was closed", "task", l.String(), "slot", slot)
	return nil
}
