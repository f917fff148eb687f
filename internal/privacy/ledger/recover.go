// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// Settled is a job that Recover examined.
type Settled struct {
	Dataset, Job string
	Was, Now     Kind   // equal if the job was left alone
	Why          string // the reason, for readers
}

// Recover settles interrupted jobs, in the order they were started:
//
//	reserved   refunded: no began entry, so nothing was read
//	began      closed: something may have been drawn and must not be drawn again
//	committed  published: the stored bytes get the file they were meant for
//
// gone reports whether a worker, as written in Request.Worker, has ended. Jobs of running workers are
// left alone. Settling one would still be safe for privacy, since its next step would be refused. An
// existing file with other content is not replaced.
func (l *Ledger) Recover(ctx context.Context, gone func(worker string) bool) (out []Settled, err error) {
	var open []Entry
	// As a writer, so as to wait for a step that a killed process had sent to its
	// server already.
	err = l.store.update(ctx, func(t tx) (err error) {
		open, err = t.unfinished()
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, e := range open {
		s, err := l.settleJob(ctx, e, gone)
		if err != nil {
			return out, err
		}
		out = append(out, s)
	}
	return out, nil
}

func (l *Ledger) settleJob(ctx context.Context, e Entry, gone func(string) bool) (s Settled, err error) {
	s = Settled{Dataset: e.Dataset, Job: e.Job, Was: e.Kind, Now: e.Kind}
	var r reserved
	var b []byte
	err = l.store.view(ctx, func(t tx) (err error) {
		err = t.entries(e.Dataset, e.Job, func(e Entry) error {
			if e.Kind != Reserved {
				return nil
			}
			r = reserved{}
			return e.decode(&r)
		})
		if err == nil && e.Kind == Committed {
			b, err = checkResult(t, e.Dataset, e.Job, e.Request)
		}
		return err
	})
	if err != nil {
		return s, err
	}
	if !gone(r.Worker) {
		s.Why = fmt.Sprintf("left alone: its process (%s) may still be running", r.Worker)
		return s, nil
	}
	switch e.Kind {
	case Reserved:
		err = l.refundJob(ctx, e.Dataset, e.Job, e.Request)
		s.Now, s.Why = Refunded, "refunded: it never began to read"
	case Began:
		err = l.closeJob(ctx, e.Dataset, e.Job, e.Request, "interrupted")
		s.Now, s.Why = Closed, "closed: it may have read, so its price stays spent"
	case Committed:
		return l.finishJob(ctx, e, r.Output, b, s)
	}
	if conflict := (*Conflict)(nil); errors.As(err, &conflict) {
		s.Now, s.Why = conflict.State, "left alone: it went on meanwhile"
		return s, nil
	}
	return s, err
}

// finishJob publishes committed bytes.
func (l *Ledger) finishJob(ctx context.Context, e Entry, path string, b []byte, s Settled) (Settled, error) {
	if path == "" {
		s.Why = "left alone: it names no file; train with the same job ID returns its result"
		return s, nil
	}
	old, err := l.files.read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := l.replaceFile(path, b); err != nil {
			s.Why = fmt.Sprintf("left alone: %v; train with the same job ID returns its result", err)
			return s, nil
		}
	case err != nil || !bytes.Equal(old, b):
		s.Why = fmt.Sprintf("left alone: %s is there and not its result; train with the same job ID returns it", path)
		return s, nil
	}
	s.Now, s.Why = Published, "published: its result is in "+path
	return s, l.notePublished(ctx, e.Dataset, e.Job, e.Request)
}

// refundJob releases the price of a job that provably never began (1.4): it has no began entry, and
// cannot get one later.
func (l *Ledger) refundJob(ctx context.Context, dataset, job, request string) error {
	return l.moveJob(ctx, "refund", dataset, job, request, Reserved, func(now Entry) Entry {
		return Entry{Kind: Refunded, Epsilon: now.Epsilon, Delta: now.Delta}
	})
}

func (l *Ledger) closeJob(ctx context.Context, dataset, job, request, reason string) error {
	return l.moveJob(ctx, "close", dataset, job, request, Began, func(Entry) Entry {
		return Entry{Kind: Closed, Detail: encodeDetail(closed{reason})}
	})
}

// notePublished records that the result was written to its file. It leaves a job that is already
// published unchanged.
func (l *Ledger) notePublished(ctx context.Context, dataset, job, request string) error {
	err := l.moveJob(ctx, "publish", dataset, job, request, Committed, func(Entry) Entry { return Entry{Kind: Published} })
	if c := (*Conflict)(nil); errors.As(err, &c) && c.State == Published {
		return nil
	}
	return err
}

// moveJob moves a job from one state to the next, in one step.
func (l *Ledger) moveJob(ctx context.Context, step, dataset, job, request string, from Kind,
	to func(now Entry) Entry) error {
	return l.runStep(ctx, step, func(t tx) error {
		now, err := newestEntry(t, dataset, job)
		if err != nil {
			return err
		}
		if now.Kind != from || now.Request != request {
			return &Conflict{dataset, job, now.Kind, fmt.Sprintf("must be %s before this step", from)}
		}
		e := to(now)
		e.Dataset, e.Part, e.Job, e.Request = dataset, now.Part, job, request
		return l.addEntry(t, e)
	})
}
