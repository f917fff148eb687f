// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/discreet-dp/discreet/internal/ground/dp"
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
	var open []jobName
	// As a writer, so as to wait for a step that a killed process had sent to its
	// server already.
	err = l.update(ctx, func(b *books) error { open = b.unfinished(); return nil })
	if err != nil {
		return nil, err
	}
	for _, name := range open {
		s, err := l.settleJob(ctx, name, gone)
		if err != nil {
			return out, err
		}
		out = append(out, s)
	}
	return out, nil
}

func (l *Ledger) settleJob(ctx context.Context, name jobName, gone func(string) bool) (s Settled, err error) {
	var now past
	var r reserved
	var result []byte
	err = l.view(ctx, func(b *books) (err error) {
		now = b.job(name.dataset, name.job)
		if err = now.reserved.decode(&r); err == nil && now.kind == Committed {
			result, err = b.result(now.request, name.job)
		}
		return err
	})
	s = Settled{Dataset: name.dataset, Job: name.job, Was: now.kind, Now: now.kind}
	if err != nil {
		return s, err
	}
	if !gone(r.Worker) {
		s.Why = fmt.Sprintf("left alone: its process (%s) may still be running", r.Worker)
		return s, nil
	}
	switch now.kind {
	case Reserved:
		err = l.refundJob(ctx, name, now.request)
		s.Now, s.Why = Refunded, "refunded: it never began to read"
	case Began:
		err = l.closeJob(ctx, name, now.request, "interrupted")
		s.Now, s.Why = Closed, "closed: it may have read, so its price stays spent"
	case Committed:
		return l.finishJob(ctx, name, now.request, r.Output, result, s)
	default:
		s.Why = "left alone: it went on meanwhile"
	}
	if conflict := (*Conflict)(nil); errors.As(err, &conflict) {
		s.Now, s.Why = conflict.State, "left alone: it went on meanwhile"
		return s, nil
	}
	return s, err
}

// finishJob publishes committed bytes.
func (l *Ledger) finishJob(ctx context.Context, name jobName, request, path string, b []byte, s Settled) (Settled,
	error) {
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
	return s, l.notePublished(ctx, name, request)
}

// refundJob releases the price of a job that provably never began (1.4): it has no began entry, and
// cannot get one later.
func (l *Ledger) refundJob(ctx context.Context, name jobName, request string) error {
	return l.moveJob(ctx, "refund", name, request, Reserved, func(now past) Entry {
		return Entry{Kind: Refunded, Epsilon: now.price.Epsilon, Delta: now.price.Delta}
	})
}

func (l *Ledger) closeJob(ctx context.Context, name jobName, request, reason string) error {
	return l.moveJob(ctx, "close", name, request, Began, func(past) Entry {
		return Entry{Kind: Closed, Detail: encodeDetail(closed{reason})}
	})
}

// notePublished records that the result was written to its file. It leaves a job that is already
// published unchanged.
func (l *Ledger) notePublished(ctx context.Context, name jobName, request string) error {
	err := l.moveJob(ctx, "publish", name, request, Committed, func(past) Entry { return Entry{Kind: Published} })
	if c := (*Conflict)(nil); errors.As(err, &c) && c.State == Published {
		return nil
	}
	return err
}

// moveJob moves a job from one state to the next, in one step.
func (l *Ledger) moveJob(ctx context.Context, step string, name jobName, request string, from Kind,
	to func(now past) Entry) error {
	return l.runStep(ctx, step, func(b *books) error {
		now := b.job(name.dataset, name.job)
		if now.kind != from || now.request != request {
			return &Conflict{name.dataset, name.job, now.kind, fmt.Sprintf("must be %s before this step", from), dp.Step{}}
		}
		e := to(now)
		e.Dataset, e.Part, e.Job, e.Request = name.dataset, now.part, name.job, request
		return l.addEntry(b, e)
	})
}
