// SPDX-License-Identifier: Apache-2.0

package dataset_test

import (
	"reflect"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// The same rows out of two tables that differ elsewhere are the same table, and
// no cell changes.
func TestForgetLeavesAFunctionOfTheRows(t *testing.T) {
	table := func(values []float64, codes ...uint32) *dataset.Table {
		category := column.Column{Codes: column.Narrow([]uint32{1, 0, 1, 2}, 3)}
		number := column.Column{Codes: column.Narrow(codes, len(values)), Values: values}
		return &dataset.Table{Rows: 4, Cols: []column.Column{category, number}, Labels: []uint8{0, 1, 1, 0}}
	}
	rows := []int{2, 0, 1}
	one := table([]float64{7, 2.5, 9}, 0, 1, 0, 2).Subset(rows)
	two := table([]float64{-3, 2.5, 7}, 2, 1, 2, 0).Subset(rows)
	want := table([]float64{2.5, 7}, 1, 0, 1, 0).Subset(rows)
	if reflect.DeepEqual(one, two) {
		t.Fatal("the tables are alike before: nothing is tested")
	}
	one.Forget()
	two.Forget()
	if !reflect.DeepEqual(one, two) || !reflect.DeepEqual(one, want) {
		t.Errorf("%+v and %+v, want %+v", one, two, want)
	}
}
