// SPDX-License-Identifier: Apache-2.0

// Package parallel runs loops on several processors.
package parallel

import (
	"sync"
	"sync/atomic"
)

// Each calls f for 0 to n-1, at most workers calls at once, and returns after the last one.
func Each(n, workers int, f func(i int)) {
	if workers == 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(workers, n) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	all.Wait()
}
