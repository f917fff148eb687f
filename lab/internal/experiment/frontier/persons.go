// SPDX-License-Identifier: Apache-2.0

package frontier

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/sample"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// Units of privacy on one table. All but rowUnit protect a person at ε.
const (
	personUnit  = "a person, weights"
	rowUnit     = "a row"
	groupUnit   = "a person, ε/20 a row"
	groupOfFive = "a person, 5 rows drawn, ε/5 a row"
	oneRowUnit  = "a person, 1 row drawn"
)

const (
	visitors       = 28_600 // persons, of whom 70 % train
	mostVisits     = 20
	visitorColumns = 8
)

var (
	personBudgets = []dp.Epsilon{100_000_000, 200_000_000, 500_000_000, 1_000_000_000, 2_000_000_000, 4_000_000_000}
	// groupShares is what the ε of a person is divided by for that of a row.
	groupShares = map[string]dp.Epsilon{groupUnit: mostVisits, groupOfFive: 5}
)

// newPersons is frontier/persons.
func newPersons() *frame.Figure {
	in := panel{
		table: "invented visits", how: "20,020 persons train, half with 1 to 20 rows", metric: auc, budgets: personBudgets,
		lines: []line{singleLine(personUnit, true), singleLine(rowUnit, false), singleLine(oneRowUnit, false),
			singleLine(groupOfFive, false), singleLine(groupUnit, false)},
	}
	return &frame.Figure{
		Name: "frontier/persons", Paper: "our claim, against rows as units and group privacy",
		Title: "All rows of a person protected together, invented visits, AUC against ε", Data: "invented visits",
		Repeats: 25,
		Claim: "With 20,000 persons, protecting a person at ε = 1 costs at most .01 of AUC against protecting a row, " +
			"and is ahead of group privacy at every ε.",
		Protocol: "Each repeat draws a table anew: half of the persons have one row, half 1 to 20, uniformly; 8 numbers, " +
			"two of them the person's, four partly, and a tendency of the person that no column has. 70 % of the persons " +
			"train, all rows of the others test. Everything private, replace-one, pure ε, nothing tuned. Group privacy " +
			"trains on all rows at ε/20, or on at most 5 rows of each person, drawn at random, at ε/5.",
		Points: in.listPoints(), Open: openPersons, Draw: in.drawChart, Judge: judgePersons, Notes: in.listNotes,
	}
}

// judgePersons compares by repeats.
func judgePersons(s *frame.Summary) (out []frame.Check) {
	const one dp.Epsilon = dp.Nano
	d := s.Difference(personUnit, rowUnit, one, auc)
	out = append(out, frame.Check{
		What: fmt.Sprintf("%s less %s: AUC at ε = %s", personUnit, rowUnit, one), Paper: "at least −.01",
		Ours: fmt.Sprintf("%+.4f ± %.4f", d.Mean, d.StdErr), Holds: d.Mean >= -0.01,
	})
	for _, eps := range personBudgets {
		d := s.Difference(personUnit, groupUnit, eps, auc)
		out = append(out, frame.Check{
			What:  fmt.Sprintf("%s less %s: AUC at ε = %s", personUnit, groupUnit, eps),
			Paper: "above (with 95 % confidence)", Ours: fmt.Sprintf("%+.4f ± %.4f", d.Mean, d.StdErr), Holds: d.IsAbove(0),
		})
	}
	return out
}

func openPersons(_ context.Context, w *frame.World) (frame.Setup, error) {
	s, err := visitSchema()
	if err != nil {
		return nil, err
	}
	return func(_ context.Context, r frame.Repeat) (frame.Measure, error) {
		all := generateVisits(s, visitors, r.Stream("visits"))
		w.PermuteLabels(all.Labels)
		train, test := sample.HoldOutUnits(all, 0.3, r.Stream("hold out"))
		trained := all.Subset(train)
		tables := map[string]engine.Table{}
		for _, series := range []string{personUnit, rowUnit, notPrivate, groupUnit, groupOfFive, oneRowUnit} {
			tab, err := memory.New(trained)
			if err != nil {
				return nil, err
			}
			src := r.Stream("draw")
			below := func(n uint64) uint64 { return rng.Below(src, n) }
			switch series {
			case personUnit:
				tables[series] = tab
			case groupOfFive:
				tables[series] = tab.Persons().Draw(5, false, below)
			case oneRowUnit:
				tables[series] = tab.Persons().Draw(1, false, below)
			default:
				tables[series] = tab.Persons().Ignore()
			}
		}
		held := all.Subset(test)
		return func(ctx context.Context, p frame.Point) (frame.Measurement, error) {
			tab := tables[p.Series]
			return (&trial{repeat: r, train: tab, test: held, rows: guard.PublicUnits(tab)}).measurePoint(ctx, p)
		}, nil
	}, nil
}

func visitSchema() (*schema.Schema, error) {
	var text strings.Builder
	text.WriteString("name: visits\nunit: one visit\nrelation: replace-one\nperson: {column: who, rows: 1}\n" +
		"file: {delimiter: \",\", quote: '\"', header: true}\ncolumns:\n  - {name: who, role: ignored}\n")
	for k := range visitorColumns {
		fmt.Fprintf(&text, "  - {name: c%d, role: private, number: {lower: -4, upper: 4.001, default: 0}}\n", k)
	}
	text.WriteString("  - {name: y, role: private, label: {levels: [n, p], positive: p, default: n}}\n")
	return schema.Parse([]byte(text.String()))
}

// generateVisits draws a table of so many persons.
func generateVisits(s *schema.Schema, persons int, src rng.Source) *dataset.Table {
	effects := [visitorColumns]float64{0.6, -0.4, 0.7, -0.5, 0.4, 0.3} // nats for one deviation; the last two say nothing
	t := &dataset.Table{Schema: s, Cols: make([]column.Column, visitorColumns+1)}
	cells := make([][]uint32, visitorColumns)
	for person := range persons {
		visits := 1
		if rng.Below(src, 2) == 0 {
			visits += int(rng.Below(src, mostVisits))
		}
		var own [visitorColumns]float64
		for k := range own {
			own[k] = drawNormal(src)
		}
		tendency := drawNormal(src) / 2
		for range visits {
			odds := tendency - 0.8
			for k := range cells {
				x := own[k]
				if k >= 2 { // half of the variance is the person's
					x = (x + drawNormal(src)) / math.Sqrt2
				}
				odds += effects[k] * x
				cells[k] = append(cells[k], uint32(math.Min(inventedValues-1, math.Max(0, math.Round((x+4)/inventedStep)))))
			}
			label := uint8(0)
			if drawUniform(src) < 1/(1+math.Exp(-odds)) {
				label = 1
			}
			t.Labels, t.Persons = append(t.Labels, label), append(t.Persons, uint32(person+1))
		}
	}
	t.Rows = len(t.Labels)
	var values []float64
	for x := range inventedValues {
		values = append(values, float64(x)*inventedStep-4)
	}
	for k := range cells {
		t.Cols[k+1] = column.Column{Codes: column.Narrow(cells[k], inventedValues), Values: slices.Clone(values)}
	}
	return t
}
