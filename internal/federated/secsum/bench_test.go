// SPDX-License-Identifier: Apache-2.0

package secsum

import (
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
