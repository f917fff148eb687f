// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn/brc"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// BenchmarkBRC is one whole training of the audited pair.
func BenchmarkBRC(b *testing.B) {
	s, err := schema.Load("../../../examples/adult.yaml")
	if err != nil {
		b.Fatal(err)
	}
	p := brc.Defaults()
	p.Rounds, p.C1, p.C2, p.Epsilon = 2, 2, 2, 2*dp.Nano
	src := rng.System()
	pl, err := p.Plan(s, 1000)
	if err != nil {
		panic(err)
	}
	sub, err := BRC(context.Background(), pl, s, 1000, src)
	if err != nil {
		b.Fatal(err)
	}
	out := make([]float64, len(sub.Pairs[0].Outputs))
	for b.Loop() {
		if err := sub.Pairs[0].Draw(context.Background(), 0, src, out); err != nil {
			b.Fatal(err)
		}
	}
}
