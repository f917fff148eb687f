// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// Weights of classes move scores by their logarithms, and no release.
func TestWeightsOfClassesMoveScoresAlone(t *testing.T) {
	for _, weights := range [][]float64{{1, 5}, {2, 1, 8}} {
		var tapes [2][]mechtest.Passage
		var models [2]*model.Model
		for i, w := range [][]float64{nil, weights} {
			tab := learntest.Levels(censustest.Table(1, 400), len(weights), w)
			pl, err := Params{Epsilon: dp.Nano}.Plan(tab.Schema, 400)
			if err != nil {
				t.Fatal(err)
			}
			tape := &mechtest.Recorder{}
			models[i] = learntest.Fit(t, pl, tab, tape, 5)
			tapes[i] = tape.Passages
		}
		same := slices.EqualFunc(tapes[0], tapes[1], func(a, b mechtest.Passage) bool {
			return a.Label == b.Label && a.Loss == b.Loss && slices.Equal(a.Values, b.Values)
		})
		if !same || len(tapes[0]) == 0 {
			t.Errorf("%v: releases differ", weights)
		}
		if len(weights) == 2 {
			one, other := models[0].Classifier.(*model.Additive), models[1].Classifier.(*model.Additive)
			if got := other.Intercept - one.Intercept; math.Abs(got-math.Log(5)) > 1e-12 {
				t.Errorf("the intercept moves by %g, not by log 5", got)
			}
			continue
		}
		one, other := models[0].Classifier.(*model.MulticlassAdditive), models[1].Classifier.(*model.MulticlassAdditive)
		for k, w := range weights {
			if got := other.Intercepts[k] - one.Intercepts[k]; math.Abs(got-math.Log(w/8)) > 1e-12 {
				t.Errorf("class %d moves by %g, not by log %g", k, got, w/8)
			}
		}
	}
}

// If few rows are positive and public columns predict them, the clip lowers the largest weight of the other rows. Both
// classes still weigh the same, so that private columns learn nothing from the clip, and the model does not have it.
func TestPublicScoreThatWeighsRowsIsBounded(t *testing.T) {
	tab, plan := with(settings()["partly private, in turn"], 4000)
	for i := range tab.Labels {
		if i%5 > 0 {
			tab.Labels[i] = uint8(1 - tab.Schema.Label.Positive)
		}
	}
	pl, err := plan()
	if err != nil {
		t.Fatal(err)
	}
	f := newFit(pl.(*Plan), learntest.Open(t, pl, learntest.Engine(t, tab), mech.NewExit(replay.Seeded(5, "learntest"))))
	st, err := f.startBinary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := newBinaryFit(f, st)
	if free, caps := capScores(st.least, st.most), r.capWeights(); r.score.Clip == nil || caps[1] >= free[1] {
		t.Errorf("caps %v, without a clip %v", caps, free)
	}
	if pos, neg := r.totals[0], r.totals[1]; math.Abs(pos/neg-1) > 0.005 {
		t.Errorf("rows weigh %g and %g", pos, neg)
	}
	if st.score.Clip != nil || st.score.Intercept != r.first.score.Intercept {
		t.Error("the clip reached the model")
	}
}
