// SPDX-License-Identifier: Apache-2.0

package secretsum

import (
	"context"
	"sync"

	"github.com/discreet-dp/discreet/internal/net/service/problem"
)

// Delivery is the result of sending participants' shares.
type Delivery struct {
	// Kept is the number of helpers that have each participant's share on their disk.
	Kept []int
	// Late reports that a helper had ended its wait before it had all shares.
	Late bool
	// Refused lists the problems that sending again cannot fix, except lateness.
	Refused []error
}

// batchBytes is the approximate size of a request.
const batchBytes = 1 << 20

// Deliver sends shares: shares[p][h] is participant p's share for helper h, which clients[h] calls. It
// skips nil clients, and helpers whose store is not the one that the sum names. It returns when every
// helper has all shares, has refused, or has ended its wait, or when ctx ends. It may be called again
// with the same shares as often as needed.
func Deliver(ctx context.Context, id ID, clients []*Client, shares [][]Share) Delivery {
	d := Delivery{Kept: make([]int, len(shares))}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for h, c := range clients {
		if c == nil {
			continue
		}
		wg.Go(func() {
			kept, late, err := c.deliverShares(ctx, id, h, shares)
			mu.Lock()
			defer mu.Unlock()
			for p := range kept {
				d.Kept[p]++
			}
			d.Late = d.Late || late
			if err != nil {
				d.Refused = append(d.Refused, err...)
			}
		})
	}
	wg.Wait()
	return d
}

// deliverShares sends all participants' shares to one helper.
func (c *Client) deliverShares(ctx context.Context, id ID, h int,
	shares [][]Share) (kept map[int]bool, late bool, refused []error) {
	kept = map[int]bool{}
	todo := make([]int, len(shares))
	for p := range todo {
		todo[p] = p
	}
	for wait := firstPause; len(todo) > 0; wait = min(2*wait, lastPause) {
		var later []int
		for len(todo) > 0 {
			n, bytes := 0, 0
			for ; n < len(todo) && (n == 0 || bytes < batchBytes); n++ {
				bytes += len(shares[todo[n]][h].Message)
			}
			some := make([]Share, n)
			for i, p := range todo[:n] {
				some[i] = shares[p][h]
			}
			no, err := c.Share(ctx, id, some)
			if err != nil {
				return kept, late, append(refused, err)
			}
			for i, p := range todo[:n] {
				switch f := no[i]; {
				case f == nil:
					kept[p] = true
				case f.Kind == problem.Late:
					late = true
				case f.Kind.Again():
					later = append(later, p)
				default:
					refused = append(refused, f)
				}
			}
			todo = todo[n:]
		}
		if todo = later; len(todo) > 0 && problem.Pause(ctx, wait) != nil {
			return kept, late, refused
		}
	}
	return kept, late, refused
}
