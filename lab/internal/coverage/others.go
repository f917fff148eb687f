// SPDX-License-Identifier: Apache-2.0

package coverage

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// otherSources are tables of other guarantees, of persons, of several classes, and of populations
// that change.
func otherSources() (out []source) {
	for _, change := range []struct {
		name string
		of   func(p *pool)
	}{
		{"delta", func(p *pool) { p.delta = 1e9 }}, // 1e-6
		{"add-remove", func(p *pool) { p.t.Schema.Relation = dp.AddRemove }},
		{"label only", func(p *pool) { p.t.Schema.Columns[0].Role = schema.Public }},
		{"persons", shareRows},
	} {
		out = append(out, source{change.name, func(context.Context, string) (*pool, error) {
			p, err := generated{change.name, 200_000, -1, 1.2, 1, 0, false}.generate()
			if err == nil {
				change.of(p)
			}
			return p, err
		}})
	}
	return append(out,
		source{"three classes", openThreeClasses},
		source{"wisdm", openWISDM},
		source{"in order", func(ctx context.Context, datasets string) (*pool, error) { return openOrdered(ctx, datasets, false) }},
		source{"drift", func(ctx context.Context, datasets string) (*pool, error) { return openOrdered(ctx, datasets, true) }},
	)
}

// shareRows gives each person one row or four, of which some are copies of one: persons count for one
// row each, so the true numbers are those of a table that has the row of a person with one row four
// times.
func shareRows(p *pool) {
	src := rand.New(rand.NewPCG(7, 7))
	s := p.t.Schema
	s.Person = &schema.Person{Column: "id", Rows: 1}
	s.Columns = append(s.Columns, schema.Column{Name: "id", Role: schema.Ignored})
	p.t.Cols = append(p.t.Cols, column.Column{})
	var rows, weighed []int
	var persons []uint32
	for person, row := uint32(1), 0; row+4 <= p.t.Rows; person++ {
		k := 1 + 3*src.IntN(2)
		for i := range k {
			at := row
			if src.IntN(2) == 0 {
				at += i
			}
			rows, persons = append(rows, at), append(persons, person)
			for range 4 / k {
				weighed = append(weighed, at)
			}
		}
		row += k
	}
	p.t, p.truth = p.t.Subset(rows), p.t.Subset(weighed)
	p.t.Persons = persons
}

// openThreeClasses has two numbers, and fits a model to some of the rows.
func openThreeClasses(ctx context.Context, _ string) (*pool, error) {
	s, err := schema.Parse([]byte(`name: three classes
unit: one row
relation: replace-one
file: {delimiter: ",", quote: "", header: true}
columns:
  - {name: x, role: private, number: {lower: -3, upper: 3, default: 0}}
  - {name: z, role: private, number: {lower: -3, upper: 3, default: 0}}
  - {name: y, role: private, label: {levels: ["a", "b", "c"], default: "a"}}
`))
	if err != nil {
		return nil, err
	}
	src := rand.New(rand.NewPCG(7, 3))
	values := make([]float64, 601)
	for i := range values {
		values[i] = -3 + float64(i)/100
	}
	const rows = 220_000
	codes, labels := [2][]uint32{make([]uint32, rows), make([]uint32, rows)}, make([]uint8, rows)
	for i := range labels {
		var at [2]float64
		for k := range at {
			codes[k][i] = uint32(math.Round((max(-3, min(3, src.NormFloat64())) + 3) * 100))
			at[k] = values[codes[k][i]]
		}
		b, c := math.Exp(1.2*at[0]-0.5), math.Exp(1.5*at[1]-1.5)
		switch u := src.Float64() * (1 + b + c); {
		case u < b:
			labels[i] = 1
		case u < b+c:
			labels[i] = 2
		}
	}
	t := &dataset.Table{Schema: s, Rows: rows, Labels: labels}
	for _, of := range codes {
		t.Cols = append(t.Cols, column.Column{Codes: column.Narrow(of, len(values)), Values: values})
	}
	return fitBefore(ctx, "three classes", t, 20_000, rows, rows)
}

// openWISDM has six classes that are public; each window counts for itself.
func openWISDM(ctx context.Context, datasets string) (*pool, error) {
	t, err := frame.NewWorld(datasets).Read(ctx, "wisdm.yaml", "wisdm/WISDM_ar_v1.1_transformed.arff.gz")
	if err != nil {
		return nil, err
	}
	t.Schema.Person, t.Persons = nil, nil
	order := rand.New(rand.NewPCG(7, 6)).Perm(t.Rows)
	return fitBefore(ctx, "wisdm", t.Subset(order), t.Rows/2, t.Rows, t.Rows)
}

// openOrdered is Bank (20 columns), whose rows are in the order of time. Held-out rows are from the
// later half. If the population drifts they are from the third quarter, and the true numbers are
// those of the fourth.
func openOrdered(ctx context.Context, datasets string, drift bool) (*pool, error) {
	t, err := frame.NewWorld(datasets).Read(ctx, "bank-additional.yaml", "bank/bank-additional-full.csv.gz")
	if err != nil {
		return nil, err
	}
	if drift {
		return fitBefore(ctx, "drift", t, t.Rows/2, t.Rows*3/4, t.Rows)
	}
	return fitBefore(ctx, "in order", t, t.Rows/2, t.Rows, t.Rows)
}

// fitBefore fits a model to the rows before first. Those from there to drawn are held out; if there are
// rows behind them, the true numbers are those.
func fitBefore(ctx context.Context, name string, t *dataset.Table, first, drawn, last int) (*pool, error) {
	between := func(from, to int) *dataset.Table {
		of := make([]int, to-from)
		for i := range of {
			of[i] = from + i
		}
		return t.Subset(of)
	}
	m, err := fit(ctx, between(0, first))
	p := &pool{name: name, t: between(first, drawn), m: m}
	if drawn < last {
		p.truth = between(drawn, last)
	}
	return p, err
}
