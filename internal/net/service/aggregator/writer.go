// SPDX-License-Identifier: Apache-2.0

package aggregator

import (
	"context"
	"sync/atomic"

	"github.com/discreet-dp/discreet/internal/net/service/admission"
	"github.com/discreet-dp/discreet/internal/net/service/aggregator/store"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
)

// writer collects the reports of many uploads in one transaction, so that reports that arrive during a
// write share the next one.
type writer struct {
	store   *store.Store
	metrics *metrics
	clock   *clock
	jobs    chan *job
	waiting atomic.Int64 // reports in jobs
}

type job struct {
	reports  []store.Report
	outcomes []store.Outcome
	err      error
	done     chan struct{}
}

// mostAtOnce is the largest number of reports per transaction.
const mostAtOnce = 5000

func newWriter(s *store.Store, m *metrics, c *clock) *writer {
	return &writer{store: s, metrics: m, clock: c, jobs: make(chan *job, maxInFlight)}
}

// storeReports stores reports and returns an outcome for each.
func (w *writer) storeReports(ctx context.Context, reports []store.Report) ([]store.Outcome, error) {
	if len(reports) == 0 {
		return nil, nil
	}
	n := int64(len(reports))
	if w.waiting.Add(n) > maxWaiting {
		w.waiting.Add(-n)
		w.clock.noteMissing()
		return nil, problem.New(problem.Overloaded, "%d reports wait for the disk", maxWaiting)
	}
	defer w.waiting.Add(-n)
	j := &job{reports: reports, done: make(chan struct{})}
	select {
	case w.jobs <- j:
	case <-ctx.Done():
		return nil, problem.New(problem.Overloaded, "")
	}
	select {
	case <-j.done:
		return j.outcomes, j.err
	case <-ctx.Done(): // it may be stored or not: sending it again is safe
		return nil, problem.New(problem.Overloaded, "")
	}
}

func (w *writer) runWriter(ctx context.Context) {
	for {
		select {
		case j := <-w.jobs:
			w.commitJobs(ctx, w.gatherJobs(j))
		case <-ctx.Done():
			return
		}
	}
}

// gatherJobs collects the other waiting jobs.
func (w *writer) gatherJobs(first *job) []*job {
	jobs, n := []*job{first}, len(first.reports)
	for n < mostAtOnce {
		select {
		case j := <-w.jobs:
			jobs, n = append(jobs, j), n+len(j.reports)
		default:
			return jobs
		}
	}
	return jobs
}

func (w *writer) commitJobs(ctx context.Context, jobs []*job) {
	var all []store.Report
	for _, j := range jobs {
		all = append(all, j.reports...)
	}
	stored := w.clock.noteStoring(min(len(all)*perReport, mostRoom))
	ctx, cancel := context.WithTimeout(ctx, admission.Timeout)
	defer cancel()
	outcomes, err := w.store.Accept(ctx, all)
	stored(err)
	if err != nil {
		w.metrics.storage.Inc()
		err = problem.New(problem.Storage, "")
	}
	for _, j := range jobs {
		if err == nil {
			j.outcomes, outcomes = outcomes[:len(j.reports)], outcomes[len(j.reports):]
		}
		j.err = err
		close(j.done)
	}
}
