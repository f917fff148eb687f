// SPDX-License-Identifier: Apache-2.0

package frontier

import (
	"fmt"
	"math"
	"strings"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// invention is a table that no one has: numbers in [-4, 4], of which some repeat each other, some
// lie in a small part of their bounds, and some say nothing. One column is public.
type invention struct {
	name    string
	rows    int
	groups  int // of columns that repeat each other
	copies  int // columns in each
	silent  int // columns that say nothing
	crammed bool
	base    float64 // log-odds in the middle
	effect  float64 // of a group, nats for one deviation
}

// inventions reproduce what was reported: columns that repeat each other, bins that are nearly
// empty, labels that are rare, and from 5 to 100 columns.
var inventions = []invention{
	{name: "5 columns", rows: 10_000, groups: 4, copies: 1, base: -0.5, effect: 0.6},
	{name: "repeated", rows: 20_000, groups: 2, copies: 10, silent: 5, base: -3.3, effect: 0.9},
	{name: "repeated, balanced", rows: 20_000, groups: 1, copies: 15, silent: 5, base: 0, effect: 1},
	{name: "empty ranges", rows: 24_000, groups: 3, copies: 1, silent: 30, crammed: true, base: -2.6, effect: 0.3},
	{name: "rare", rows: 100_000, groups: 32, copies: 1, base: -2.3, effect: 0.2},
	{name: "100 columns", rows: 30_000, groups: 20, copies: 2, silent: 60, base: -1, effect: 0.3},
}

const (
	inventedValues = 321 // of a number
	inventedStep   = 0.025
)

// generate draws the table again; equal seeds give equal tables.
func (v *invention) generate(seed uint64) (*dataset.Table, error) {
	private := v.groups*v.copies + v.silent
	var text strings.Builder
	text.WriteString("name: invented\nunit: one row\nrelation: replace-one\n" +
		"file: {delimiter: \",\", quote: '\"', header: true}\ncolumns:\n")
	for k := range private + 1 {
		role := "private"
		if k == private {
			role = "public"
		}
		fmt.Fprintf(&text, "  - {name: c%d, role: %s, number: {lower: -4, upper: 4.001, default: 0}}\n", k, role)
	}
	text.WriteString("  - {name: y, role: public, label: {levels: [n, p], positive: p, default: n}}\n")
	s, err := schema.Parse([]byte(text.String()))
	if err != nil {
		return nil, err
	}
	t := &dataset.Table{Schema: s, Rows: v.rows, Labels: make([]uint8, v.rows), Cols: make([]column.Column, private+1)}
	src := replay.Seeded(seed, "invented, "+v.name)
	cells := make([][]uint32, private+1)
	put := func(k int, x float64) {
		cells[k] = append(cells[k], uint32(math.Min(inventedValues-1, math.Max(0, math.Round((x+4)/inventedStep)))))
	}
	width := 1.0
	if v.crammed {
		width = 0.25
	}
	for i := range v.rows {
		public := drawNormal(src)
		odds := v.base + 0.5*public
		put(private, public)
		for g := range v.groups {
			common := drawNormal(src)
			odds += v.effect * common
			for c := range v.copies {
				x := common
				if v.copies > 1 {
					x += drawNormal(src) / 2
				}
				put(g*v.copies+c, width*x)
			}
		}
		for c := range v.silent {
			put(v.groups*v.copies+c, width*drawNormal(src))
		}
		if drawUniform(src) < 1/(1+math.Exp(-odds)) {
			t.Labels[i] = 1
		}
	}
	for k := range cells {
		t.Cols[k].Codes = column.Narrow(cells[k], inventedValues)
		for x := range inventedValues {
			t.Cols[k].Values = append(t.Cols[k].Values, float64(x)*inventedStep-4)
		}
	}
	return t, nil
}

func drawUniform(src rng.Source) float64 { return (float64(src.Uint64()>>11) + 0.5) / (1 << 53) }

func drawNormal(src rng.Source) float64 {
	return math.Sqrt(-2*math.Log(drawUniform(src))) * math.Cos(2*math.Pi*drawUniform(src))
}
