// SPDX-License-Identifier: Apache-2.0

package printed

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/net/federated/secsum"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// SecureSum adds up one vector of numbers from 0 to most of each owner, which write writes to x; name is one of this sum
// alone.
type SecureSum func(ctx context.Context, name string, owners, length int, most float64,
	write func(owner int, x []float64)) ([]float64, error)

// InTheClear adds up without secrets.
func InTheClear(_ context.Context, _ string, owners, length int, _ float64,
	write func(owner int, x []float64)) ([]float64, error) {
	total, x := make([]float64, length), make([]float64, length)
	for o := range owners {
		clear(x)
		write(o, x)
		for j, v := range x {
			total[j] += v
		}
	}
	return total, nil
}

// OverShares adds up by Shamir's sharing among so many holders (package secsum), all in this process. Numbers are
// rounded to multiples of a part of most, which the number of owners leaves room for.
func OverShares(holders int, src rng.Source) SecureSum {
	return func(ctx context.Context, name string, owners, length int, most float64,
		write func(owner int, x []float64)) ([]float64, error) {
		room := uint64(math.MaxInt64) / uint64(owners)
		unit := most / float64(min(room/2, 1<<52)) // exact as float64
		p, err := secsum.Shamir(secsum.Task{Round: name, Owners: owners, AtLeast: owners, Holders: holders, Length: length,
			Range: room})
		if err != nil {
			return nil, err
		}
		c := &carrier{collector: p.NewCollector()}
		for i := range holders {
			h, err := p.NewHolder(i)
			if err != nil {
				return nil, err
			}
			c.holders = append(c.holders, h)
		}
		x, values := make([]float64, length), make([]uint64, length)
		for o := range owners {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			clear(x)
			write(o, x)
			for j, v := range x {
				values[j] = uint64(math.Round(v / unit))
			}
			shares, err := p.Split(src, o, values)
			if err != nil {
				return nil, err
			}
			if err := c.deliver(shares); err != nil {
				return nil, err
			}
		}
		for _, h := range c.holders {
			if err := c.deliver(h.Close()); err != nil {
				return nil, err
			}
		}
		sum, of, ok, err := c.collector.Sum()
		if err != nil || !ok || len(of) != owners {
			return nil, fmt.Errorf("printed: sum %s has %d of %d owners: %w", name, len(of), owners, err)
		}
		total := make([]float64, length)
		for j, v := range sum {
			total[j] = float64(v) * unit
		}
		return total, nil
	}
}

// carrier delivers messages of a secret sum at once.
type carrier struct {
	collector *secsum.Collector
	holders   []*secsum.Holder
}

func (c *carrier) deliver(messages []secsum.Message) error {
	for _, m := range messages {
		handle := c.collector.Handle
		if m.To != secsum.ToCollector {
			handle = c.holders[m.To].Handle
		}
		next, err := handle(m)
		if err != nil {
			return err
		}
		if err := c.deliver(next); err != nil {
			return err
		}
	}
	return nil
}

// Weights are the weights of all owners' rows in Algorithm 2, with a mean of 1: the paper's times the number of rows,
// which is public. Owners share the rows evenly, in order.
type Weights struct {
	Of      []float64
	classes int
	owners  int
	round   int
	sum     SecureSum
}

// NewWeights are line 3.
func NewWeights(rows, classes, owners int, sum SecureSum) *Weights {
	w := &Weights{make([]float64, rows), classes, owners, 0, sum}
	for i := range w.Of {
		w.Of[i] = 1
	}
	return w
}

// ownerRows are the first row of owner o and the first of the next.
func (w *Weights) ownerRows(o int) (from, to int) {
	return o * len(w.Of) / w.owners, (o + 1) * len(w.Of) / w.owners
}

// Update is lines 11 to 21 for a classifier that errs where miss is true: its weighted error over all owners, its vote,
// and the sum that weights were divided by. A classifier no better than guessing, for which the paper has no rule, has
// vote 0 and leaves the weights.
func (w *Weights) Update(ctx context.Context, miss []bool) (err, vote, growth float64, failed error) {
	w.round++
	n := float64(len(w.Of))
	sums, failed := w.sum(ctx, fmt.Sprintf("round %d, errors", w.round), w.owners, 2, 2*n, func(o int, x []float64) {
		from, to := w.ownerRows(o)
		for i := from; i < to; i++ {
			if miss[i] {
				x[0] += w.Of[i]
			}
			x[1] += w.Of[i]
		}
	})
	if failed != nil {
		return 0, 0, 0, failed
	}
	err = sums[0] / sums[1]
	// One row right or wrong at the ends, where the logarithm has none.
	inside := min(max(err, 0.5/n), 1-0.5/n)
	if vote = math.Log((1-inside)/inside) + math.Log(float64(w.classes-1)); !(vote > 0) {
		return err, 0, 1, nil
	}
	up := math.Exp(vote)
	for i := range w.Of {
		if miss[i] {
			w.Of[i] *= up
		}
	}
	sums, failed = w.sum(ctx, fmt.Sprintf("round %d, weights", w.round), w.owners, 1, 2*n*up, func(o int, x []float64) {
		from, to := w.ownerRows(o)
		for _, v := range w.Of[from:to] {
			x[0] += v
		}
	})
	if failed != nil {
		return 0, 0, 0, failed
	}
	for i := range w.Of {
		w.Of[i] *= n / sums[0]
	}
	return err, vote, sums[0] / n, nil
}
