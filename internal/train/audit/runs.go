// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// collectRuns makes n runs on each side and returns their numbers. from and to are the shares of the
// audit that it covers, for Progress.
func (a *auditor) collectRuns(ctx context.Context, p *Pair, n int, from, to float64) (out [2][]float64, err error) {
	width := len(p.Outputs)
	for side := range out {
		out[side] = make([]float64, n*width)
	}
	err = a.eachBatch(ctx, p, n, from, to, func(ctx context.Context, side, first, runs int, src rng.Source) error {
		return p.Draw(ctx, side, src, out[side][first*width:(first+runs)*width])
	})
	return out, err
}

// countEvent makes n runs on each side and counts those in which ev occurred.
func (a *auditor) countEvent(ctx context.Context, p *Pair, ev *event, n int) (counts [2]int, err error) {
	var total [2]atomic.Int64
	width := len(p.Outputs)
	err = a.eachBatch(ctx, p, n, searchUntil, 1, func(ctx context.Context, side, first, runs int, src rng.Source) error {
		out := make([]float64, runs*width)
		if err := p.Draw(ctx, side, src, out); err != nil {
			return err
		}
		k := 0
		for i := range runs {
			if ev.happenedIn(out[i*width:][:width]) {
				k++
			}
		}
		total[side].Add(int64(k))
		return nil
	})
	return [2]int{int(total[0].Load()), int(total[1].Load())}, err
}

// eachBatch calls do for batches of n runs on each side, the sides in turn, on all
// workers. The first error ends it.
func (a *auditor) eachBatch(ctx context.Context, p *Pair, n int, from, to float64,
	do func(ctx context.Context, side, first, runs int, src rng.Source) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	batch := p.Batch
	if batch == 0 {
		batch = 256
	}
	batches := (n + batch - 1) / batch
	offset := a.batches
	a.batches += uint64(2 * batches)
	var next atomic.Int64
	var workers sync.WaitGroup
	var told sync.Mutex
	for range min(a.workerCount(), 2*batches) {
		workers.Go(func() {
			src := rng.System()
			for ctx.Err() == nil {
				k := int(next.Add(1)) - 1
				if k >= 2*batches {
					return
				}
				if a.Source != nil {
					src = a.Source(offset + uint64(k))
				}
				first := k / 2 * batch
				if err := do(ctx, k%2, first, min(batch, n-first), src); err != nil {
					cancel(err)
					return
				}
				if a.Progress != nil {
					told.Lock()
					a.Progress(from + (to-from)*float64(k+1)/float64(2*batches))
					told.Unlock()
				}
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

// Each turns a function for one run into one for many, for Pair.Draw.
func Each(width int, run func(ctx context.Context, side int, src rng.Source, out []float64) error) func(context.Context,
	int, rng.Source, []float64) error {
	return func(ctx context.Context, side int, src rng.Source, out []float64) error {
		for ; len(out) > 0; out = out[width:] {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := run(ctx, side, src, out[:width]); err != nil {
				return err
			}
		}
		return nil
	}
}
