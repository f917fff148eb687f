// SPDX-License-Identifier: Apache-2.0

package aggregator

import (
	"context"
	"errors"
	"time"

	core "github.com/discreet-dp/discreet/local/aggregator"
	"github.com/discreet-dp/discreet/local/wire"
	"github.com/discreet-dp/discreet/service/store"
)

// first is the broadcast of a task's first slot.
func first(t *wire.Task) ([]byte, error) {
	c, err := core.New(t)
	if err != nil {
		return nil, err
	}
	return c.Broadcast()
}

// heard notes reports that this process has stored.
func (l *live) heard(fresh int, now time.Time) {
	if fresh == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stored += fresh
	l.news = now
}

// keepTime moves the tasks until ctx ends. Whatever fails is tried again: the
// store holds all there is.
func (s *Server) keepTime(ctx context.Context) {
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if err := s.discover(ctx); err != nil && ctx.Err() == nil {
			s.Log.Error("reading tasks failed", "error", err)
		}
		for _, l := range s.all() {
			if err := s.move(ctx, l); err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrMoved) {
				s.Log.Error("moving a task failed", "task", l.String(), "error", err)
			}
		}
	}
}

// move does what is due for a task.
func (s *Server) move(ctx context.Context, l *live) error {
	l.mu.RLock()
	state := l.state
	l.mu.RUnlock()
	if state != store.Open {
		return nil
	}
	closing, ending := l.due(s.Now())
	sealed, err := l.sealed(ctx, s.Store)
	if err != nil {
		return err
	}
	switch {
	case ending && !sealed:
		s.Log.Info("a task ended without a model", "task", l.String())
		if err := s.Store.End(ctx, l.id); err != nil {
			return err
		}
	case closing || sealed:
		if err := s.advance(ctx, l); err != nil {
			return err
		}
	}
	return l.refresh(ctx, s.Store, s.Now())
}

// sealed reports whether somebody has closed the open slot and then stopped.
func (l *live) sealed(ctx context.Context, s *store.Store) (bool, error) {
	_, r, err := s.Task(ctx, l.id)
	return r.State == store.Sealed, err
}

// advance closes the open slot and stores what follows from its reports. Two
// processes may do this at once: both compute the same.
func (s *Server) advance(ctx context.Context, l *live) error {
	l.mu.RLock()
	slot := l.slot
	l.mu.RUnlock()
	if err := s.Store.Seal(ctx, l.id, slot); err != nil {
		return errors.Join(err, l.refresh(ctx, s.Store, s.Now()))
	}
	broadcast, file, err := l.compute(ctx, s.Store, slot)
	if err != nil {
		return err
	}
	var next *store.Round
	if broadcast != nil {
		next = &store.Round{Number: slot + 1, Broadcast: broadcast, Deadline: l.slotDeadline(s.Now())}
	}
	if err := s.Store.Advance(ctx, l.id, slot, next, file); err != nil {
		return errors.Join(err, l.refresh(ctx, s.Store, s.Now()))
	}
	s.Log.Info("a slot was closed", "task", l.String(), "slot", slot)
	return nil
}
