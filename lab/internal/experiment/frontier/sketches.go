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

// sketch is a generated table of the quick panel, of a kind that examples lack.
type sketch struct {
	name    string
	rows    int // persons if they have several rows
	numbers int // normal, of which the first two are public
	counts  int // small whole numbers, most of them 0
	levels  int // of a category whose levels are as frequent as Zipf has it
	missing bool
	most    int // rows of a person
	base    float64
	effect  func(k int) float64 // of a number or a count, nats for one deviation
	product float64             // of the product of each number and the next one
}

var sketches = []sketch{
	{name: "drawn: counts", rows: 20_000, numbers: 2, counts: 24, base: -3, effect: falling(1, 0.75)},
	{name: "drawn: wide and rare", rows: 20_000, numbers: 36, base: -2.9, effect: falling(0.5, 0.85)},
	{name: "drawn: few rows", rows: 8_000, numbers: 12, base: 0, effect: falling(0.8, 0.8)},
	{name: "drawn: products", rows: 20_000, numbers: 12, base: -0.3, effect: falling(0.5, 0.6), product: 0.8},
	{name: "drawn: levels, missing", rows: 20_000, numbers: 10, levels: 177, missing: true, base: -1.5, effect: falling(0.7, 0.8)},
	{name: "drawn: persons", rows: 5_000, numbers: 8, most: 8, base: -1.7, effect: falling(0.6, 0.8)},
}

// falling is an effect that changes its sign from column to column and falls by a factor.
func falling(first, by float64) func(int) float64 {
	return func(k int) float64 { return first * math.Pow(-by, float64(k)) }
}

const (
	mostCount    = 20
	missingPart  = 0.5
	levelSpread  = 0.7 // of the effects of levels, nats
	clusterShift = 1.2 // log-odds of a person with the most rows less those of one with a single row
)

func (sk *sketch) schema() (*schema.Schema, error) {
	var text strings.Builder
	text.WriteString("name: drawn\nunit: one row\nrelation: replace-one\n")
	if sk.most > 0 {
		text.WriteString("person: {column: who, rows: 1}\n")
	}
	text.WriteString("file: {delimiter: \",\", quote: '\"', header: true}\ncolumns:\n")
	for k := range sk.numbers {
		role := "private"
		if k < 2 {
			role = "public"
		}
		fmt.Fprintf(&text, "  - {name: x%d, role: %s, number: {lower: -4, upper: 4.001, default: 0}}\n", k, role)
	}
	for k := range sk.counts {
		fmt.Fprintf(&text, "  - {name: n%d, role: private, number: {lower: 0, upper: %d, default: 0, integer: true}}\n", k, mostCount)
	}
	if sk.levels > 0 {
		text.WriteString("  - {name: l, role: private, category: {levels: [0")
		for l := 1; l < sk.levels; l++ {
			fmt.Fprintf(&text, ", %d", l)
		}
		text.WriteString("]}}\n")
	}
	if sk.most > 0 {
		text.WriteString("  - {name: who, role: ignored}\n")
	}
	text.WriteString("  - {name: y, role: public, label: {levels: [n, p], positive: p, default: n}}\n")
	return schema.Parse([]byte(text.String()))
}

// draw draws the table, the same each time.
func (sk *sketch) draw() (*dataset.Table, error) {
	s, err := sk.schema()
	if err != nil {
		return nil, err
	}
	src := replay.Seeded(1, sk.name)
	t := &dataset.Table{Schema: s, Cols: make([]column.Column, len(s.Columns))}
	cells := make([][]uint32, sk.numbers+sk.counts+min(1, sk.levels))
	ofLevel := make([]float64, sk.levels)
	for l := range ofLevel {
		ofLevel[l] = levelSpread * drawNormal(src)
	}
	for unit := range sk.rows {
		visits := 1
		if sk.most > 0 && rng.Below(src, 2) == 0 {
			visits += int(rng.Below(src, uint64(sk.most)))
		}
		own := make([]float64, sk.numbers)
		for k := range own {
			own[k] = drawNormal(src)
		}
		for range visits {
			odds := sk.base
			if sk.most > 0 {
				t.Persons = append(t.Persons, uint32(unit+1))
				odds += clusterShift * float64(visits-1) / float64(sk.most)
			}
			if drawUniform(src) < 1/(1+math.Exp(-odds-sk.drawRow(src, own, ofLevel, cells, visits > 1))) {
				t.Labels = append(t.Labels, 1)
			} else {
				t.Labels = append(t.Labels, 0)
			}
		}
	}
	t.Rows = len(t.Labels)
	for k := range cells {
		c := column.Column{Codes: column.Narrow(cells[k], sk.levels)}
		if k < sk.numbers+sk.counts {
			n, step, from := inventedValues, inventedStep, -4.0
			if k >= sk.numbers {
				n, step, from = mostCount+1, 1, 0
			}
			c.Codes = column.Narrow(cells[k], n)
			for x := range n {
				c.Values = append(c.Values, float64(x)*step+from)
			}
		}
		t.Cols[k] = c
	}
	return t, nil
}

// drawRow draws the cells of one row and returns what they add to its log-odds.
func (sk *sketch) drawRow(src rng.Source, own, ofLevel []float64, cells [][]uint32, again bool) (odds float64) {
	before := 0.0
	for k := range sk.numbers {
		x := own[k]
		if again && k >= 2 { // half of the variance is the person's
			x = (x + drawNormal(src)) / math.Sqrt2
		}
		odds += sk.effect(k) * x
		if sk.product > 0 && k%2 == 1 {
			odds += sk.product * before * x
		}
		before = x
		if sk.missing && drawUniform(src) < missingPart { // the default stands in its place
			x = 0
		}
		cells[k] = append(cells[k], uint32(math.Min(inventedValues-1, math.Max(0, math.Round((x+4)/inventedStep)))))
	}
	for k := range sk.counts {
		n := 0
		for n < mostCount && drawUniform(src) < 0.33 {
			n++
		}
		odds += 1.6 * math.Abs(sk.effect(k)) * (1 - math.Pow(0.5, float64(n)))
		cells[sk.numbers+k] = append(cells[sk.numbers+k], uint32(n))
	}
	if sk.levels > 0 { // density of 1/(1 + level)
		l := min(sk.levels-1, int(math.Pow(float64(sk.levels), drawUniform(src)))-1)
		odds += ofLevel[l]
		last := len(cells) - 1
		cells[last] = append(cells[last], uint32(l))
	}
	return odds
}
