// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"fmt"
	"reflect"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Learner audits any learner on small tables of the schema that differ in one row, or in all rows of
// one person if the schema declares persons. The pairs are extreme rows among equal ones, and random
// pairs drawn from src. It searches every number that affects a model's predictions. rows is the
// number of rows or persons of the tables, at least 2. The pairs have the scope that the learner's own
// models state; for a learner without one, it is derived from the schema's roles.
func Learner(ctx context.Context, name string, pl learn.Plan, s *schema.Schema, rows int,
	src rng.Source) (Subject, error) {
	if rows < 2 {
		return Subject{}, dp.Refuse("audit", "rows", "must be at least 2", rows)
	}
	first, err := TrainOnce(ctx, pl, equalRows(s, rows, lowestCode), src)
	if err != nil {
		return Subject{}, fmt.Errorf("audit: a first training: %w", err)
	}
	scope := first.Privacy.Scope
	if scope == dp.Nothing {
		scope = Scope(s)
	}
	sub := Subject{Name: fmt.Sprintf("learner %s on %d rows", name, rows)}
	if s.Person != nil {
		sub.Name = fmt.Sprintf("learner %s on the rows of %d persons", name, rows)
	}
	for _, n := range AllNeighbours(s, rows, scope, src) {
		p, err := tablePair(ctx, pl, n, src)
		if err != nil {
			return Subject{}, err
		}
		sub.Pairs = append(sub.Pairs, p)
	}
	return sub, nil
}

// tablePair is the pair of training on two neighbouring tables.
func tablePair(ctx context.Context, pl learn.Plan, n Neighbours, src rng.Source) (Pair, error) {
	var tabs [2]engine.Table
	for side, t := range n.Tables {
		tab, err := memory.New(t)
		if err != nil {
			return Pair{}, err
		}
		tabs[side] = tab
	}
	return modelPair(ctx, pl, n.Name, tabs, src)
}

// modelPair is the pair of trainings on two tables; its outputs are the numbers of the models.
func modelPair(ctx context.Context, pl learn.Plan, name string, tabs [2]engine.Table, src rng.Source) (Pair, error) {
	// The longest of a few models says how many numbers to keep.
	var names []string
	for i := range 8 {
		m, err := guard.Train(ctx, pl, tabs[i%2], guard.Uncounted{}, mech.NewExit(src))
		if err != nil {
			continue // on one side only it is an output, and Draw says so
		}
		if found := listNumbers(m); len(found) > len(names) {
			names = names[:0]
			for _, x := range found {
				names = append(names, x.name)
			}
		}
	}
	names = append([]string{"failed"}, names...)
	return Pair{
		Name: name, Outputs: names, Batch: 64,
		Draw: Each(len(names), func(ctx context.Context, side int, src rng.Source, out []float64) error {
			clear(out)
			m, err := guard.Train(ctx, pl, tabs[side], guard.Uncounted{}, mech.NewExit(src))
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				out[0] = 1 // that training fails is something everyone sees
				return nil
			}
			for k, x := range listNumbers(m) {
				if k+1 < len(out) {
					out[k+1] = x.value
				}
			}
			return nil
		}),
	}, nil
}

// TrainOnce trains on t with the coins of src. No ledger counts it.
func TrainOnce(ctx context.Context, pl learn.Plan, t *dataset.Table, src rng.Source) (*model.Model, error) {
	tab, err := memory.New(t)
	if err != nil {
		return nil, err
	}
	return guard.Train(ctx, pl, tab, guard.Uncounted{}, mech.NewExit(src))
}

// number is one number of a model and its position.
type number struct {
	name  string
	value float64
}

// listNumbers lists every number that affects a model's predictions. It walks the model's exported
// fields, so that new kinds of models are included. It omits numbers that the schema and the plan
// determine.
func listNumbers(m *model.Model) (list []number) {
	var walk func(name string, v reflect.Value)
	walk = func(name string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				walk(name, v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				f := v.Type().Field(i)
				switch {
				case !f.IsExported():
				case f.Anonymous:
					walk(name, v.Field(i))
				default:
					walk(name+"."+f.Name, v.Field(i))
				}
			}
		case reflect.Slice, reflect.Array:
			for i := range v.Len() {
				walk(fmt.Sprintf("%s[%d]", name, i), v.Index(i))
			}
		case reflect.Float32, reflect.Float64:
			list = append(list, number{name, v.Float()})
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			list = append(list, number{name, float64(v.Int())})
		case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			list = append(list, number{name, float64(v.Uint())})
		case reflect.Bool:
			x := 0.0
			if v.Bool() {
				x = 1
			}
			list = append(list, number{name, x})
		}
	}
	c := reflect.ValueOf(m.Classifier).Elem()
	walk(c.Type().Name(), c)
	return list
}
