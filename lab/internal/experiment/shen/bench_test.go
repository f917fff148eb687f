// SPDX-License-Identifier: Apache-2.0

package shen

import (
	"context"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/realdata"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn/brc"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// world skips where the real data are absent.
func world(t testing.TB) *frame.World {
	t.Helper()
	return frame.NewWorld(realdata.File(t, "."))
}

func readAdult(t testing.TB, w *frame.World) *dataset.Table {
	t.Helper()
	all, err := w.Read(context.Background(), "adult.yaml", "adult/adult.data.gz", "adult/adult.test.gz")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// fixedRows are 21,037 rows of balanced Adult that need no dice: every positive
// row and the first rows that are not, without every tenth of them. The rival in
// lab/peers/numpy takes the same.
func fixedRows(all *dataset.Table) (rows []int) {
	positive := uint8(all.Schema.Label.Positive)
	var yes, no []int
	for i, l := range all.Labels {
		if l == positive {
			yes = append(yes, i)
		} else {
			no = append(no, i)
		}
	}
	for i, r := range append(yes, no[:len(yes)]...) {
		if i%10 != 9 {
			rows = append(rows, r)
		}
	}
	return rows
}

func trainOnce(b *testing.B, t *memory.Table) {
	p := brc.Printed()
	p.Epsilon, p.Encoding = 160_000_000, feature.Ordinal
	plan, err := p.Plan(t.Schema(), t.Rows())
	if err != nil {
		b.Fatal(err)
	}
	if _, err := guard.Train(context.Background(), plan, t, guard.Uncounted{}, mech.NewExit(rng.System())); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkBRCAdult trains as the paper does: 21,037 rows, 25 rounds, ordinal
// encoding. "train" starts from a table in memory, "read+train" from the files.
func BenchmarkBRCAdult(b *testing.B) {
	w := world(b)
	balanced := func() *memory.Table {
		all := readAdult(b, w)
		t, err := memory.New(all.Subset(fixedRows(all)))
		if err != nil {
			b.Fatal(err)
		}
		if t.Rows() != 21_037 {
			b.Fatalf("%d rows, want 21,037", t.Rows())
		}
		return t
	}
	b.Run("train", func(b *testing.B) {
		t := balanced()
		b.ReportAllocs()
		for b.Loop() {
			trainOnce(b, t)
		}
	})
	b.Run("read+train", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			trainOnce(b, balanced())
		}
	})
}
