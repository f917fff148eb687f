// SPDX-License-Identifier: Apache-2.0

package collect

import (
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
)

// On either side of every number of owners at which a plan changes, it has the bins and the rounds
// that it should.
func TestPlansChangeAtTheirBounds(t *testing.T) {
	planned := func(mode wire.Mode, c wire.Classifier, owners int) *wire.Task {
		t.Helper()
		p := Params{Schema: testSchemaOf(t), Mode: mode, Classifier: c, Epsilon: 3 * dp.Nano, Owners: owners,
			Nonce: strings.Repeat("ab", 16)}
		task, err := Plan(p)
		if err != nil {
			t.Fatal(err)
		}
		return task
	}
	// Owners at which a question is worth so many, by the task that asks with so many bins.
	at := func(worth float64, c wire.Classifier, bins int) int {
		task := planned(wire.Local, c, 1000)
		task.Questions = listQuestions(Params{Schema: testSchemaOf(t)}, bins)
		return int(math.Ceil(worth / effectiveOwners(task, 1)))
	}
	for owners, want := range map[int]int{1: fewBins, at(worthManyBins, wire.Stump, manyBins) - 1: fewBins,
		at(worthManyBins, wire.Stump, manyBins): manyBins, at(worthManyBins, wire.Stump, manyBins) + 1: manyBins,
		1 << 24: manyBins} {
		if got := len(planned(wire.Local, wire.Stump, owners).Questions[0].Edges) + 1; got != want {
			t.Errorf("%d owners: %d bins, want %d", owners, got, want)
		}
	}
	for c, rounds := range map[wire.Classifier][4]int{wire.Stump: {1, 2, 3, 3}, wire.Centroid: {1, manyCentroids, manyCentroids,
		manyCentroids}} {
		for k, want := range rounds {
			first := at(float64(k*worthARound), c, manyBins)
			if got := planned(wire.Local, c, first+1); k > 0 && len(got.Rounds) != want {
				t.Errorf("%s, %d owners: %d rounds, want %d", c, first+1, len(got.Rounds), want)
			}
			if k > 0 {
				if got := planned(wire.Local, c, first-1); len(got.Rounds) != rounds[k-1] {
					t.Errorf("%s, %d owners: %d rounds, want %d", c, first-1, len(got.Rounds), rounds[k-1])
				}
			}
			for _, s := range planned(wire.Local, c, first+1).Rounds {
				if s.Table != tableShare || s.Error != errorShare {
					t.Errorf("shares %+v", s)
				}
			}
		}
	}
	// Of a secret sum two questions at 3: so many owners a round.
	const owners = 2 * worthASum / 3
	for n, want := range map[int]int{owners - 1: 1, owners + 1: 2, 2*owners - 1: 2, 2*owners + 2: 3, 20 * owners: 3} {
		if got := planned(wire.Aggregate, wire.Stump, n); len(got.Rounds) != want {
			t.Errorf("%d owners of a secret sum: %d rounds, want %d", n, len(got.Rounds), want)
		}
	}
	for n, want := range map[int]bool{-1: false, wire.MaxRounds: true, wire.MaxRounds + 1: false} {
		p := Params{Schema: testSchemaOf(t), Classifier: wire.Stump, Epsilon: dp.Nano, Owners: 10, Rounds: n,
			Nonce: strings.Repeat("ab", 16)}
		if task, err := Plan(p); (err == nil) != want || want && len(task.Rounds) != n {
			t.Errorf("%d rounds: %v", n, err)
		}
	}
	if planned(wire.Local, wire.Centroid, 10).WeightCap != centroidCap || planned(wire.Local, wire.Stump, 10).WeightCap != 1 {
		t.Error("another cap on weights than the classifier's")
	}
}
