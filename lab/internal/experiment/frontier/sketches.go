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

// sketch is a law that tables are drawn from, of a kind that examples lack.
type sketch struct {
	name    string
	rows    int  // persons if they have several rows
	trains  int  // of them; 0 for 70 %
	numbers int  // normal, of which the first two are public
	every   int  // so-many-th number is public instead
	counts  int  // small whole numbers, most of them 0
	wide    bool // counts have a median of middleCount instead
	median  bool // which is their default
	levels  int  // of a category whose levels are as frequent as Zipf has it
	missing bool
	most    int // rows of a person
	visits  int // rows of each person
	base    float64
	effect  func(k int) float64 // of a number or a count, nats for one deviation; nil for none
	product float64             // of the product of each number and the next one
	// Numbers have commonPart of their variance from so many values that no column has, one after another.
	latents int
	latent  func(g int) float64 // effect of such a value; nil for none
	classes int                 // of the label, in order; 0 for two
}

var sketches = []sketch{
	{name: "drawn: counts", rows: 20_000, numbers: 2, counts: 24, base: -3, effect: falling(1, 0.75)},
	{name: "drawn: wide and rare", rows: 20_000, numbers: 36, base: -2.9, effect: falling(0.5, 0.85)},
	{name: "drawn: few rows", rows: 8_000, numbers: 12, base: 0, effect: falling(0.8, 0.8)},
	{name: "drawn: products", rows: 20_000, numbers: 12, base: -0.3, effect: falling(0.5, 0.6), product: 0.8},
	{name: "drawn: levels, missing", rows: 20_000, numbers: 10, levels: 177, missing: true, base: -1.5, effect: falling(0.7, 0.8)},
	{name: "drawn: persons", rows: 5_000, numbers: 8, most: 8, base: -1.7, effect: falling(0.6, 0.8)},
	{name: "drawn: half public", rows: 20_000, trains: 7_000, numbers: 24, every: 2, base: -1, effect: falling(0.5, 0.85)},
	{name: "drawn: half public, copies", rows: 20_000, trains: 7_000, numbers: 24, every: 2, base: -1, latents: 5, latent: falling(0.8, 0.8)},
	{name: "drawn: half public, overlapping", rows: 20_000, trains: 14_000, numbers: 16, every: 2, base: -0.5, latents: 3,
		effect: falling(0.4, 0.9)},
	{name: "drawn: half public, 3 %", rows: 20_000, trains: 14_000, numbers: 16, every: 2, base: -4, latents: 3,
		effect: falling(0.4, 0.9), latent: falling(0.5, 0.8)},
	{name: "drawn: 5 %", rows: 20_000, trains: 14_000, numbers: 20, base: -3.4, effect: falling(0.7, 0.7)},
	{name: "drawn: 2 %, copies", rows: 20_000, trains: 14_000, numbers: 20, base: -4.3, latents: 4, latent: falling(0.7, 0.8)},
	{name: "drawn: 800 rows", rows: 8_000, trains: 800, numbers: 20, every: 2, base: -1, effect: falling(0.7, 0.7)},
	{name: "drawn: 800 rows, copies", rows: 8_000, trains: 800, numbers: 12, every: 2, base: 0, latents: 3, latent: falling(1, 0.7)},
	{name: "drawn: 652 rows, 110 columns", rows: 8_000, trains: 652, numbers: 110, every: 4, base: -2.2, effect: falling(0.6, 0.8)},
	{name: "drawn: 1,000 rows, 110 columns", rows: 8_000, trains: 1_000, numbers: 110, every: 4, base: -1, latents: 7,
		latent: falling(0.7, 0.8)},
	{name: "drawn: 32 overlapping", rows: 20_000, trains: 14_000, numbers: 32, base: -1, latents: 3, latent: falling(0.8, 0.8)},
	{name: "drawn: 32 overlapping, own effects", rows: 20_000, trains: 14_000, numbers: 32, base: -2.5, latents: 3, effect: falling(0.25, 0.95)},
	{name: "drawn: wide counts", rows: 20_000, trains: 7_000, numbers: 2, counts: 16, wide: true, base: -1, effect: falling(0.6, 0.8)},
	{name: "drawn: wide counts, median", rows: 20_000, trains: 7_000, numbers: 2, counts: 16, wide: true, median: true, base: -1, effect: falling(0.6, 0.8)},
	{name: "drawn: 15 visits", rows: 2_000, trains: 600, numbers: 8, every: 2, visits: 15, base: -0.3, effect: falling(0.6, 0.8)},
	{name: "drawn: 15 visits, copies", rows: 2_000, trains: 1_000, numbers: 16, every: 2, visits: 15, base: -1.5, latents: 3,
		latent: falling(0.7, 0.8)},
	{name: "drawn: 4 classes", rows: 20_000, trains: 7_000, numbers: 16, every: 2, base: 0, effect: falling(0.8, 0.8), classes: 4},
	{name: "drawn: 5 classes, copies", rows: 20_000, trains: 14_000, numbers: 20, every: 2, base: 0, latents: 3, latent: falling(1, 0.8),
		classes: 5},
	{name: "drawn: no effect", rows: 20_000, trains: 7_000, numbers: 12, every: 2, base: -1},
	{name: "drawn: no effect, few rows", rows: 8_000, trains: 652, numbers: 60, every: 2, base: -2.5},
}

// falling is an effect that changes its sign from column to column and falls by a factor.
func falling(first, by float64) func(int) float64 {
	return func(k int) float64 { return first * math.Pow(-by, float64(k)) }
}

const (
	mostCount    = 20
	mostWide     = 255 // of counts with a median of middleCount
	middleCount  = 20
	commonPart   = 0.6
	missingPart  = 0.5
	levelSpread  = 0.7 // of the effects of levels, nats
	classStep    = 1.5 // nats from one class to the next
	clusterShift = 1.2 // log-odds of a person with the most rows less those of one with a single row
)

func (sk *sketch) schema() (*schema.Schema, error) {
	var text strings.Builder
	text.WriteString("name: drawn\nunit: one row\nrelation: replace-one\n")
	if sk.persons() {
		text.WriteString("person: {column: who, rows: 1}\n")
	}
	text.WriteString("file: {delimiter: \",\", quote: '\"', header: true}\ncolumns:\n")
	for k := range sk.numbers {
		role := "private"
		if sk.isPublic(k) {
			role = "public"
		}
		fmt.Fprintf(&text, "  - {name: x%d, role: %s, number: {lower: -4, upper: 4.001, default: 0}}\n", k, role)
	}
	for k := range sk.counts {
		fmt.Fprintf(&text, "  - {name: n%d, role: private, number: {lower: 0, upper: %d, default: %d, integer: true}}\n", k, sk.mostCount(),
			map[bool]int{true: middleCount}[sk.median])
	}
	if sk.levels > 0 {
		text.WriteString("  - {name: l, role: private, category: {levels: [0")
		for l := 1; l < sk.levels; l++ {
			fmt.Fprintf(&text, ", %d", l)
		}
		text.WriteString("]}}\n")
	}
	if sk.persons() {
		text.WriteString("  - {name: who, role: ignored}\n")
	}
	label := "{levels: [n, p], positive: p, default: n}"
	if sk.classes > 2 {
		label = "{levels: [0"
		for k := 1; k < sk.classes; k++ {
			label += fmt.Sprintf(", %d", k)
		}
		label += "], default: 0}"
	}
	text.WriteString("  - {name: y, role: public, label: " + label + "}\n")
	return schema.Parse([]byte(text.String()))
}

func (sk *sketch) persons() bool { return sk.most+sk.visits > 0 }

func (sk *sketch) isPublic(k int) bool {
	if sk.every > 0 {
		return k%sk.every == 0
	}
	return k < 2
}

func (sk *sketch) mostCount() int {
	if sk.wide {
		return mostWide
	}
	return mostCount
}

// draw draws a table; equal seeds give equal tables.
func (sk *sketch) draw(seed uint64) (*dataset.Table, error) {
	s, err := sk.schema()
	if err != nil {
		return nil, err
	}
	src := replay.Seeded(seed, strings.TrimSuffix(sk.name, ", median"))
	t := &dataset.Table{Schema: s, Cols: make([]column.Column, len(s.Columns))}
	cells := make([][]uint32, sk.numbers+sk.counts+min(1, sk.levels))
	ofLevel := make([]float64, sk.levels)
	for l := range ofLevel {
		ofLevel[l] = levelSpread * drawNormal(src)
	}
	own, latents := make([]float64, sk.numbers), make([]float64, sk.latents)
	for unit := range sk.rows {
		visits := max(1, sk.visits)
		if sk.most > 0 && rng.Below(src, 2) == 0 {
			visits += int(rng.Below(src, uint64(sk.most)))
		}
		for g := range latents {
			latents[g] = drawNormal(src)
		}
		for k := range own {
			own[k] = drawNormal(src)
			if sk.latents > 0 {
				own[k] = math.Sqrt(commonPart)*latents[k%sk.latents] + math.Sqrt(1-commonPart)*own[k]
			}
		}
		for range visits {
			odds := sk.base
			if sk.persons() {
				t.Persons = append(t.Persons, uint32(unit+1))
			}
			if sk.most > 0 {
				odds += clusterShift * float64(visits-1) / float64(sk.most)
			}
			for g, z := range latents {
				if sk.latent != nil {
					odds += sk.latent(g) * z
				}
			}
			u, label := drawUniform(src), uint8(0)
			odds += sk.drawRow(src, own, ofLevel, cells, visits > 1)
			for k := 1; k < max(2, sk.classes); k++ {
				if u < 1/(1+math.Exp(classStep*(float64(k)-float64(max(2, sk.classes))/2)-odds)) {
					label++
				}
			}
			t.Labels = append(t.Labels, label)
		}
	}
	t.Rows = len(t.Labels)
	for k := range cells {
		c := column.Column{Codes: column.Narrow(cells[k], sk.levels)}
		if k < sk.numbers+sk.counts {
			n, step, from := inventedValues, inventedStep, -4.0
			if k >= sk.numbers {
				n, step, from = sk.mostCount()+1, 1, 0
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
	before, effect := 0.0, sk.effect
	if effect == nil {
		effect = func(int) float64 { return 0 }
	}
	for k := range sk.numbers {
		x := own[k]
		if again && k >= 2 { // half of the variance is the person's
			x = (x + drawNormal(src)) / math.Sqrt2
		}
		odds += effect(k) * x
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
		if sk.wide {
			z := drawNormal(src)
			n = int(math.Min(mostWide, middleCount*math.Exp(0.8*z)+0.5))
			odds += effect(k) * z
		} else {
			for n < mostCount && drawUniform(src) < 0.33 {
				n++
			}
			odds += 1.6 * math.Abs(effect(k)) * (1 - math.Pow(0.5, float64(n)))
		}
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
