// SPDX-License-Identifier: Apache-2.0

package secsum

import (
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// A thousand owners, 64 coordinates of 16 bits: everything all parties do.
func BenchmarkThousandOwners(b *testing.B) {
	for _, w := range both {
		b.Run(w.name, func(b *testing.B) {
			task := Task{Round: "bench", Owners: 1000, AtLeast: 667, Holders: 10, Length: 64, Range: 1 << 16}
			p := protocol(b, w.make, task)
			values := vectors(replay.Seeded(1, ""), task)
			for b.Loop() {
				c, err := carry(b, p, values, drops{})
				if err != nil {
					b.Fatal(err)
				}
				if _, _, ok, err := c.Sum(); !ok || err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What one owner does.
func BenchmarkSplit(b *testing.B) {
	for _, w := range both {
		b.Run(w.name, func(b *testing.B) {
			task := Task{Round: "bench", Owners: 1000, AtLeast: 667, Holders: 10, Length: 64, Range: 1 << 16}
			p := protocol(b, w.make, task)
			src := replay.Seeded(1, "")
			values := vectors(src, task)
			n := 0
			for b.Loop() {
				out, err := p.Split(src, 0, values[0])
				if err != nil {
					b.Fatal(err)
				}
				n = 0
				for _, m := range out {
					n += len(m.Body)
				}
			}
			b.ReportMetric(float64(n), "bytes/owner")
		})
	}
}

// What an owner and a holder do where ranges are proven, and without.
func BenchmarkThousandCells(b *testing.B) {
	for _, proven := range []bool{false, true} {
		task := Task{Round: "cells", Owners: 5000, AtLeast: 3334, Holders: 5, Length: 1000,
			Range: 1<<16 + 192*1024 + 1, Proven: proven}
		p := protocol(b, Shamir, task)
		src := replay.Seeded(1, "cells")
		values := vectors(src, Task{Owners: 1, Length: 1000, Range: task.Range})[0]
		out, err := p.Split(src, 0, values)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("split/%t", proven), func(b *testing.B) {
			for b.Loop() {
				if _, err := p.Split(src, 0, values); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(out[0].Body)), "bytes/share")
			b.ReportMetric(float64(len(p.Bare(out[0]).Body)), "bytes/kept")
		})
		b.Run(fmt.Sprintf("verify/%t", proven), func(b *testing.B) {
			for b.Loop() {
				h, err := p.NewHolder(0)
				if err == nil {
					_, err = h.Handle(out[0])
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
