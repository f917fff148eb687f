// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/simulate"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// fitOwn trains in one of discreet's own modes, each row an owner. In mode local
// it sends one report, at ε for its class and all its columns together.
func fitOwn(ctx context.Context, r frame.Repeat, use string, train *dataset.Table, mode wire.Mode, c wire.Classifier,
	eps dp.Epsilon) (*model.Model, error) {
	res, err := simulate.Run(ctx, train, simulate.Params{Mode: mode, Classifier: c, Epsilon: eps,
		Source: func(part int) rng.Source {
			return r.Stream(fmt.Sprintf("%s, ε = %s, part %d", use, eps, part))
		}})
	if err != nil {
		return nil, err
	}
	return res.Model, nil
}

// testLocal is the accuracy on the test rows of a model trained in mode local.
func testLocal(ctx context.Context, r frame.Repeat, p frame.Point, train, test *dataset.Table,
	c wire.Classifier) (frame.Measurement, error) {
	m, err := fitOwn(ctx, r, p.Series, train, wire.Local, c, p.Epsilon)
	if err != nil {
		return frame.Measurement{}, err
	}
	scores, err := m.Scores(test.Cols, test.Rows)
	if err != nil {
		return frame.Measurement{}, err
	}
	return frame.Measurement{Bill: p.Epsilon,
		Values: []frame.Value{{Metric: accuracy, Value: accuracyOf(m.Labels(scores), test.Labels)}}}, nil
}

// schemaOf is a table of numbers in [-1, 1], all private.
func schemaOf(name string, width, classes int) *schema.Schema {
	s := &schema.Schema{
		Name: name, Unit: "one row", Relation: dp.ReplaceOne,
		Dialect: schema.Dialect{Delimiter: ',', Quote: '"', Header: true},
		Label:   schema.Label{Name: "class", Position: width, Role: schema.Private, Positive: -1},
	}
	for k := range classes {
		s.Label.Levels = append(s.Label.Levels, schema.Level{Value: strconv.Itoa(k)})
	}
	if classes == 2 {
		s.Label.Positive = 1
	}
	zero := 0.0
	for j := range width {
		s.Columns = append(s.Columns, schema.Column{Name: fmt.Sprintf("x%d", j+1), Role: schema.Private, Kind: schema.Number,
			Lower: -1, Upper: 1, Default: &zero})
	}
	return s
}

// tableOf is the same rows as a table. Few numbers occur, for an image has few
// blocks.
func tableOf(name string, l labelled) *dataset.Table {
	t := &dataset.Table{Schema: schemaOf(name, l.Dim(), l.classes), Rows: l.Len(), Labels: l.y,
		Cols: make([]column.Column, l.Dim())}
	cells := make([]float64, l.Len()*l.Dim())
	for i := range l.Len() {
		l.Row(i, cells[i*l.Dim():(i+1)*l.Dim()])
	}
	values := slices.Compact(slices.SortedFunc(slices.Values(cells), cmp.Compare[float64]))
	codes := make([]uint32, l.Len())
	for j := range t.Cols {
		for i := range codes {
			at, _ := slices.BinarySearch(values, cells[i*l.Dim()+j])
			codes[i] = uint32(at)
		}
		t.Cols[j] = column.Column{Values: values, Codes: column.Narrow(codes, len(values))}
	}
	return t
}

// tableOfBits is rows of binary attributes as a table of the numbers -1 and 1.
func tableOfBits(name string, b bits) *dataset.Table {
	t := &dataset.Table{Schema: schemaOf(name, b.d, 2), Rows: len(b.y), Labels: b.y, Cols: make([]column.Column, b.d)}
	for j := range t.Cols {
		codes := make([]uint8, len(b.y))
		for i := range codes {
			codes[i] = b.is[i*b.d+j]
		}
		t.Cols[j] = column.Column{Values: []float64{-1, 1}, Codes: column.Codes{U8: codes}}
	}
	return t
}
