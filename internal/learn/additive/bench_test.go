// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"context"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine"
)

// benchTables are plans with their rows: invented ones, as many as Adult has,
// and Adult if the data sets are present.
func benchTables(b *testing.B, do func(b *testing.B, pl *Plan, tab engine.Table)) {
	for _, name := range []string{"partly private, in turn", "partly private, boosted"} {
		b.Run(name, func(b *testing.B) {
			tab, plan := with(settings()[name], 32_561)
			pl, err := plan()
			if err != nil {
				b.Fatal(err)
			}
			do(b, pl.(*Plan), learntest.Engine(b, tab))
		})
	}
	for _, eps := range []dp.Epsilon{10_000_000, 100_000_000, dp.Nano} {
		b.Run("Adult, ε = "+eps.String(), func(b *testing.B) {
			tab := learntest.ReadReal(b, "adult.yaml", "adult/adult.data.gz")
			pl, err := Params{Epsilon: eps}.Plan(tab.Schema, tab.Rows)
			if err != nil {
				b.Fatal(err)
			}
			do(b, pl, learntest.Engine(b, tab))
		})
	}
}

// The private part alone: all rounds from a public start.
func BenchmarkPrivatePart(b *testing.B) {
	benchTables(b, func(b *testing.B, pl *Plan, tab engine.Table) {
		exit := mech.NewExit(rng.System())
		st, err := newFit(pl, learntest.Open(b, pl, tab, exit)).startBinary(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			r := newBinaryFit(newFit(pl, learntest.Open(b, pl, tab, exit)), st)
			for t := range pl.rules.rounds {
				if err := r.makeRound(t); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// The counts that bins follow from, of four numbers on as many rows.
func BenchmarkCounts(b *testing.B) {
	tab, plan := with(settings()["private label, bins paid"], 32_561)
	anyPlan, err := plan()
	if err != nil {
		b.Fatal(err)
	}
	pl, eng, exit := anyPlan.(*Plan), learntest.Engine(b, tab), mech.NewExit(rng.System())
	for b.Loop() {
		if err := newFit(pl, learntest.Open(b, pl, eng, exit)).findBins(float64(tab.Rows)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPublicPart(b *testing.B) {
	benchTables(b, func(b *testing.B, pl *Plan, tab engine.Table) {
		for b.Loop() {
			if _, err := newFit(pl, learntest.Open(b, pl, tab, nil)).startPublic(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
