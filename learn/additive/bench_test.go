// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"context"
	"testing"

	"github.com/discreet-dp/discreet/learn/learntest"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/rng"
)

// The private part alone, in turn and boosted, on as many rows as Adult has.
func BenchmarkPrivatePart(b *testing.B) {
	for _, name := range []string{"partly private, in turn", "partly private, boosted"} {
		b.Run(name, func(b *testing.B) {
			tab, plan := with(settings()[name], 32_561)
			anyPlan, err := plan()
			if err != nil {
				b.Fatal(err)
			}
			pl, eng, exit := anyPlan.(*Plan), learntest.Engine(b, tab), mech.NewExit(rng.System())
			st, err := pl.begin(context.Background(), eng, exit)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				r := newRounds(pl, eng, st, exit)
				for t := range pl.rules.rounds {
					if err := r.run(context.Background(), t); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func BenchmarkPublicPart(b *testing.B) {
	tab, plan := with(settings()["partly private"], 32_561)
	pl, err := plan()
	if err != nil {
		b.Fatal(err)
	}
	eng := learntest.Engine(b, tab)
	for b.Loop() {
		if _, err := pl.(*Plan).publicStart(context.Background(), eng); err != nil {
			b.Fatal(err)
		}
	}
}
