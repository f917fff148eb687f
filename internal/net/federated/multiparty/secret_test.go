// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// A secret sum says what the combiner would have read off the votes, within its
// noise, absent parties included.
func TestSecretSum(t *testing.T) {
	const parties, present, honest = 160, 150, 140
	for world, tab := range worlds() {
		p := params(func(p *Params) { p.Parties, p.Epsilon, p.Reg = parties, 30*dp.Nano, 0.05 })
		pl := plan(t, p, tab)
		s, err := pl.Secret(context.Background(), auxiliary(tab), honest)
		if err != nil {
			t.Fatal(err)
		}
		src := replay.Seeded(4, world)
		exit := mech.NewExit(src)
		sum := make([]uint64, s.Law.Dim())
		var files [][]byte
		for k := range present {
			f := labelFile(t, tab, fmt.Sprint(k), noisyLabels(tab, src))
			files = append(files, f)
			add, err := s.Addend(context.Background(), bytes.NewReader(f), exit)
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range add {
				sum[i] += x
			}
		}
		if _, err := s.Combine(context.Background(), sum, present); err == nil {
			t.Errorf("%s: a sum that nobody was charged for is combined", world)
		}
		if err := s.Charge(t.Context(), &purse{pl.Epsilon - 1}); !errors.Is(err, errEmpty) {
			t.Errorf("%s: a purse with less than epsilon: %v, want a refusal", world, err)
		}
		if err := s.Charge(t.Context(), guard.Uncounted{}); err != nil {
			t.Fatal(err)
		}
		m, err := s.Combine(context.Background(), sum, present)
		if err != nil {
			t.Fatal(err)
		}
		learntest.Bytes(t, m) // complete and consistent
		exact, _ := combine(t, params(func(p *Params) { p.Parties, p.Epsilon, p.NotPrivate, p.Reg = parties, 0, true, 0.05 }),
			tab, nil, files...)
		a, errA := m.Scores(tab.Cols, tab.Rows)
		b, errB := exact.Scores(tab.Cols, tab.Rows)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		far := 0.0
		for i := range a {
			far = max(far, math.Abs(a[i]-b[i]))
		}
		if !(far < 0.25 && far > 0) {
			t.Errorf("%s: a score differs by %.3f from the one without noise, want a little", world, far)
		}
		if _, err := s.Combine(context.Background(), sum, honest-1); err == nil {
			t.Errorf("%s: a sum with too little noise is combined", world)
		}
	}
}

// Two hand-ins of one party lie no further apart than the law is sized for.
func TestSecretVectorsAreShort(t *testing.T) {
	for world, tab := range worlds() {
		pl := plan(t, params(nil), tab)
		s, err := pl.Secret(context.Background(), auxiliary(tab), 5)
		if err != nil {
			t.Fatal(err)
		}
		var seen []mechtest.Passage
		for k := range 2 {
			rec := &mechtest.Recorder{}
			if _, err := s.Addend(context.Background(),
				bytes.NewReader(labelFile(t, tab, "a", bytes.Repeat([]byte{byte(k)}, tab.Rows))),
				mech.NewTapedExit(replay.Seeded(1, world), rec)); err != nil {
				t.Fatal(err)
			}
			seen = append(seen, rec.Passages...)
		}
		l1, l2 := 0.0, 0.0
		for i := range seen[0].Values {
			d := seen[0].Values[i].Float() - seen[1].Values[i].Float()
			l1, l2 = l1+math.Abs(d), l2+d*d
		}
		if !(math.Sqrt(l2) <= pl.largestChange()*s.t.reach && math.Sqrt(l2) > 0.99*pl.largestChange()) {
			t.Errorf("%s: the ends of a party lie %.4f apart, want nearly %.4f", world, math.Sqrt(l2),
				pl.largestChange()*s.t.reach)
		}
		if steps := l1/2*float64(s.Law.Steps) +
			float64(pl.outputLength()); !(steps <= float64(s.Law.Scale)*pl.Epsilon.Float()) {
			t.Errorf("%s: they lie %.0f steps apart, the noise is sized for %.0f", world, steps,
				float64(s.Law.Scale)*pl.Epsilon.Float())
		}
		// Vectors of this length whose moves are spread over all coordinates are the worst.
		worst := min(pl.largestChange()*s.t.reach*math.Sqrt(float64(pl.outputLength())), 2*float64(pl.outputLength()))
		if need := worst/2*float64(s.Law.Steps) +
			float64(pl.outputLength()); !(need <= float64(s.Law.Scale)*pl.Epsilon.Float()) {
			t.Errorf("%s: two may lie %.0f steps apart, the noise is sized for %.0f", world, need,
				float64(s.Law.Scale)*pl.Epsilon.Float())
		}
		if cut := float64(s.price().Delta) / dp.Femto; !(s.Law.Delta() > 0 && s.Law.Delta() <= cut) {
			t.Errorf("%s: noise is cut with probability %g, the price says %g", world, s.Law.Delta(), cut)
		}
	}
}
