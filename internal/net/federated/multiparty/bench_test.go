// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// wide100 is a generated auxiliary table of a hundred numbers with a thousand
// values each.
func wide100(rows int) *dataset.Table {
	s := &schema.Schema{Name: "wide", Unit: "one row", Relation: dp.ReplaceOne,
		Label: schema.Label{Name: "y", Role: schema.Public, Levels: []schema.Level{{Value: "0"}, {Value: "1"}}, Positive: 1,
			Default: -1, Position: 100}}
	t := &dataset.Table{Schema: s, Rows: rows, Labels: make([]uint8, rows)}
	values := make([]float64, 1000)
	for i := range values {
		values[i] = float64(i)/500 - 1
	}
	src := replay.Seeded(1, "wide")
	for j := range 100 {
		codes := make([]uint32, rows)
		for i := range codes {
			codes[i] = uint32(src.Uint64() % 1000)
		}
		s.Columns = append(s.Columns, schema.Column{Name: fmt.Sprint("x", j), Role: schema.Public, Kind: schema.Number,
			Lower: -1, Upper: 1})
		t.Cols = append(t.Cols, column.Column{Codes: column.Narrow(codes, 1000), Values: values})
	}
	return t
}

// BenchmarkMillion combines a thousand parties' votes about a million rows of a
// hundred features: the time of making the votes is left out.
func BenchmarkMillion(b *testing.B) {
	const rows, parties = 1_000_000, 1000
	tab := wide100(rows)
	p := params(func(p *Params) { p.Parties, p.Encoding = parties, feature.Ordinal })
	for b.Loop() {
		pl := plan(b, p, tab)
		aux := auxiliary(tab)
		ta := tally(b, pl, tab)
		src := replay.Seeded(2, "votes")
		codes := make([]uint8, rows)
		for k := range parties {
			b.StopTimer()
			for i := 0; i < rows; i += 64 {
				for j, w := 0, src.Uint64(); j < 64; j, w = j+1, w>>1 {
					codes[i+j] = uint8(w & 1)
				}
			}
			f := labelFile(b, tab, fmt.Sprint(k), codes)
			b.StartTimer()
			if _, err := ta.Add(bytes.NewReader(f)); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := pl.Combine(context.Background(), aux, ta, guard.Uncounted{}, mech.NewExit(rng.System())); err != nil {
			b.Fatal(err)
		}
	}
}
