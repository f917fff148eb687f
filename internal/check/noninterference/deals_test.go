// SPDX-License-Identifier: Apache-2.0

package noninterference

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
	"github.com/discreet-dp/discreet/internal/tune"
)

// dealt are coins of which the first deal rows in a chosen way, and the rest are replayed.
type dealt struct {
	rng.Source
	words []uint64
}

func (d *dealt) Uint64() uint64 {
	if len(d.words) == 0 {
		return d.Source.Uint64()
	}
	w := d.words[0]
	d.words = d.words[1:]
	return w
}

// everyDeal lists, for so many rows, coins for each order in which they can be dealt.
func everyDeal(rows int) (all [][]uint64) {
	all = [][]uint64{nil}
	for n := uint64(rows); n > 1; n-- { // as rng.Shuffle asks: below n, n-1, ...
		var more [][]uint64
		for _, words := range all {
			for j := range n {
				// The middle of the words of which rng.Below makes j.
				more = append(more, append(slices.Clone(words), j*(^uint64(0)/n)+^uint64(0)/n/2))
			}
		}
		all = more
	}
	return all
}

// transcripts are what tune shows of a table, deal by deal: what leaves, how it is labelled and
// sized, and the model.
func transcripts(t *testing.T, req *train.Request, s *schema.Schema, rows table) (all []string) {
	t.Helper()
	tab, err := read(s, rows)
	if err != nil {
		t.Fatal(err)
	}
	pl, err := req.Plan(s, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range everyDeal(len(rows)) {
		mem, err := memory.New(tab)
		if err != nil {
			t.Fatal(err)
		}
		tape := &mechtest.Recorder{Script: func(k int, p mechtest.Passage) []float64 {
			src := rand.New(rand.NewPCG(uint64(k), 5))
			if p.Choice {
				return []float64{float64(src.IntN(len(p.Values)))}
			}
			out := make([]float64, len(p.Values))
			for i := range out {
				out[i] = src.Float64()
			}
			return out
		}}
		m, err := guard.Train(context.Background(), pl, mem, guard.Uncounted{},
			mech.NewTapedExit(&dealt{replay.Seeded(3, "dealt"), words}, tape))
		if err != nil {
			t.Fatal(err)
		}
		file, err := model.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		for _, p := range tape.Passages {
			fmt.Fprintln(&b, p.Label, p.Name, p.Loss, p.Bound, p.Norm, p.Choice, len(p.Values))
		}
		b.Write(file)
		all = append(all, b.String())
	}
	return all
}

// TestTuneShowsTheSameOverAllDeals: on one set of coins a neighbour's rows are dealt in another
// way, so a learner that reads the public cells of its part for free shows another transcript
// there. Over all deals, which are equally likely, neighbours show the same ones equally often,
// under any answers of the exit.
func TestTuneShowsTheSameOverAllDeals(t *testing.T) {
	differ, coins := 0, 0
	for _, method := range tune.Methods() {
		for seed := range byte(4) {
			p := tune.Defaults()
			p.Method, p.Patience, p.HeldOut, p.Loss = method, 3, 0.5, lossOf[method]
			req, err := train.Tune(p, []string{"brc", "brc:rounds=2"}, "2")
			if err != nil {
				t.Fatal(err)
			}
			s := parse(setting{classes: 2, relation: dp.ReplaceOne})
			a := readTable(&choices{1, 0, seed}, setting{classes: 2, relation: dp.ReplaceOne}, 4)
			b := slices.Clone(a)
			b[seed%4][2], b[seed%4][3], b[seed%4][4] = "9.99999999", "z", "77777" // its private cells
			one, other := transcripts(t, req, s, a), transcripts(t, req, s, b)
			if !slices.Equal(one, other) {
				coins++
			}
			slices.Sort(one)
			slices.Sort(other)
			if !slices.Equal(one, other) {
				t.Errorf("%s, table %d: neighbours show other transcripts, or the same not equally often", method, seed)
			}
			if len(slices.Compact(one)) > 1 {
				differ++
			}
		}
	}
	if differ == 0 || coins == 0 {
		t.Errorf("%d tables show several transcripts, %d others deal by deal: too little was compared", differ, coins)
	}
}
