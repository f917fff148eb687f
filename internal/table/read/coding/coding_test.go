// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

func newCoder(t *testing.T, c schema.Column, d schema.Dialect) *Coder {
	t.Helper()
	if c.Kind == schema.Number {
		c.Default = new(float64)
	}
	out, err := New(&c, &d)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func levels(texts ...string) (list []schema.Level) {
	for _, text := range texts {
		list = append(list, schema.Level{Value: text})
	}
	return list
}

// A cell of any type is the level of the same text, whole number or truth value, and no other's.
func TestCellsOfCategories(t *testing.T) {
	for _, row := range []struct {
		levels []string
		cell   Cell
		want   int // -1: other
	}{
		{[]string{"0", "1"}, TextCell("1.0"), 1}, {[]string{"0", "1"}, TextCell("True"), 1}, {[]string{"0", "1"}, TruthCell(false), 0},
		{[]string{"0", "1"}, TextCell("1.50"), -1}, {[]string{"0", "1"}, TextCell("+1"), 1}, {[]string{"0", "1"}, TextCell("-0"), 0},
		{[]string{"0", "1"}, NumberCell(1), 1}, {[]string{"0", "1"}, DecimalCell("1.00"), 1}, {[]string{"0", "1"}, TextCell("01"), -1},
		{[]string{"false", "true"}, TextCell("TRUE"), 1}, {[]string{"False", "True"}, TruthCell(true), 1},
		{[]string{"false", "true"}, IntegerCell(1), 1}, {[]string{"false", "true"}, TextCell("0.0"), 0},
		{[]string{"false", "true"}, IntegerCell(2), -1}, {[]string{"true", "unknown"}, IntegerCell(1), -1},
		{[]string{"False", "false", "true"}, TextCell("FALSE"), -1}, {[]string{"1", "2", "3"}, TruthCell(true), -1},
		{[]string{"01", "10"}, IntegerCell(1), -1}, {[]string{"01", "10"}, TextCell("1"), -1}, {[]string{"01", "10"}, NumberCell(10), 1},
		{[]string{"100000"}, TextCell("1e+05"), 0}, {[]string{"12345678901234567890"}, UnsignedCell(12345678901234567890), 0},
		{[]string{"250.1"}, SingleCell(250.1), 0}, {[]string{"250.1"}, NumberCell(250.1), 0}, {[]string{"250.10"}, DecimalCell("250.10"), 0},
		{[]string{"250.00"}, NumberCell(250), -1}, {[]string{"2015-01-31"}, DayCell(16466), 0},
		{[]string{"Zürich"}, TextCell("Zu\u0308rich"), 0}, {[]string{"Zu\u0308rich"}, TextCell("Zürich"), 0}, {[]string{"Zürich"}, TextCell("Z\xfcrich"), -1},
	} {
		c := newCoder(t, schema.Column{Kind: schema.Category, Levels: levels(row.levels...)}, schema.Dialect{})
		want, fate := row.want, Read
		if want < 0 {
			want, fate = len(row.levels), Other
		}
		if got, f := c.ReadCell(row.cell); int(got.Code) != want || f != fate {
			t.Errorf("levels %q, cell %+v: code %d and fate %d, want %d and %d", row.levels, row.cell, got.Code, f, want, fate)
		}
	}
}

// A cell of any type has the fate that its column's declaration gives it.
func TestCellsOfNumbersAndDates(t *testing.T) {
	number := schema.Column{Kind: schema.Number, Lower: -10, Upper: 10, Special: []float64{96, 99.9}}
	ymd := schema.Column{Kind: schema.Number, Date: "YYYYMMDD", Lower: 0, Upper: 40000}
	dmy := schema.Column{Kind: schema.Number, Date: "DDMMYYYY", Lower: 0, Upper: 40000}
	iso := schema.Column{Kind: schema.Number, Date: "YYYY-MM-DD", Lower: 0, Upper: 40000}
	days, zone := iso, iso
	days.Days, zone.Zone = true, "Europe/Berlin"
	const mark = math.MaxFloat64 / 2
	late := time.Date(2015, 1, 30, 23, 30, 0, 0, time.UTC).Unix()
	for i, row := range []struct {
		column schema.Column
		cell   Cell
		want   float64
		fate   Fate
	}{
		{number, TextCell("3.5"), 3.5, Read}, {number, NumberCell(11), 10, Clamped}, {number, TextCell("x"), 0, Unreadable},
		{number, Cell{}, 0, Missing}, {number, TextCell(""), 0, Missing}, {number, TextCell("-9.0"), 0, Missing}, {number, IntegerCell(-9), 0, Missing},
		{number, SingleCell(99.9), mark, Read}, {number, DecimalCell("96.0"), mark, Read}, {number, TruthCell(true), 1, Read}, {number, TextCell("True"), 1, Read},
		{number, NumberCell(math.Inf(1)), 0, Unreadable}, {number, NumberCell(math.NaN()), 0, Missing}, {number, DayCell(3), 0, Unreadable},
		{ymd, IntegerCell(20150131), 16466, Read}, {ymd, NumberCell(20150131), 16466, Read}, {ymd, TextCell("20150131.0"), 16466, Read},
		{ymd, DecimalCell("20150131"), 16466, Read}, {ymd, IntegerCell(16466), 0, Unreadable}, {ymd, IntegerCell(-20150131), 0, Unreadable}, {ymd, DayCell(16466), 16466, Read},
		{dmy, IntegerCell(1022020), 18293, Read}, {dmy, TextCell("1022020"), 18293, Read}, {ymd, NumberCell(20150131.5), 0, Unreadable},
		{iso, IntegerCell(16466), 0, Unreadable}, {days, IntegerCell(16466), 16466, Read}, {days, NumberCell(16466.7), 16466, Read}, {days, TextCell("16466"), 16466, Read},
		{iso, InstantCell(late, 0), 16465, Read}, {zone, InstantCell(late, 0), 16466, Read}, {iso, InstantCell(late, 3600), 16466, Read},
		{iso, TruthCell(true), 0, Unreadable}, {iso, DayCell(50000), 40000, Clamped},
	} {
		got, fate := newCoder(t, row.column, schema.Dialect{Missing: []string{"-9"}}).ReadCell(row.cell)
		if fate != row.fate || got.Number != row.want && !(row.want == mark && got.Number > mark) {
			t.Errorf("row %d, cell %+v: %g and fate %d, want %g and %d", i, row.cell, got.Number, fate, row.want, row.fate)
		}
	}
}

// A declared type is refused if it cannot hold all that is declared, and no other is.
func TestTypesThatCannotCarry(t *testing.T) {
	category := func(texts ...string) schema.Column {
		return schema.Column{Kind: schema.Category, Levels: levels(texts...)}
	}
	number := schema.Column{Kind: schema.Number, Upper: 1}
	ymd := schema.Column{Kind: schema.Number, Date: "YYYYMMDD", Upper: 1}
	iso := schema.Column{Kind: schema.Number, Date: "YYYY-MM-DD", Upper: 1}
	integer, double, single, truth, day := Type{Form: Integer}, Type{Form: Float}, Type{Form: Single}, Type{Form: Truth}, Type{Form: Day}
	small, money := Type{Form: Integer, Least: -128, Most: 127}, Type{Form: Decimal, Scale: 2}
	for _, row := range []struct {
		column schema.Column
		of     Type
		can    bool
	}{
		{category("1", "2"), integer, true}, {category("1", "2"), double, true}, {category("1", "2"), money, true}, {category("1", "2"), truth, false},
		{category("01", "10"), integer, false}, {category("250.00", "1"), double, false}, {category("250.00", "251.10"), money, true}, {category("250.5"), money, false},
		{category("250.1"), single, true}, {category("0", "1"), truth, true}, {category("False", "True"), truth, true}, {category("false", "true"), integer, true},
		{category("a", "1"), integer, false}, {category("1", "300"), small, false}, {category("1", "100"), small, true}, {category("2015-01-31"), day, true}, {category("a"), Type{Form: Any}, true},
		{number, integer, true}, {number, truth, true}, {number, day, false}, {number, Type{Form: Text}, true}, {number, Type{Form: Unknown}, false}, {number, Type{Form: None}, true},
		{ymd, integer, true}, {ymd, double, true}, {ymd, single, false}, {ymd, truth, false}, {iso, integer, false}, {iso, day, true}, {iso, Type{Form: Instant}, true},
	} {
		why := newCoder(t, row.column, schema.Dialect{}).CannotCarry(row.of)
		if (why == "") != row.can {
			t.Errorf("%+v and %+v: %q", row.column.Levels, row.of, why)
		}
	}
	label, err := NewLabel(&schema.Label{Levels: levels("0", "1"), Role: schema.Public, Default: -1}, &schema.Dialect{})
	if err != nil || label.CannotCarry(Type{Form: None}) == "" {
		t.Errorf("a label of no values: error %v", err)
	}
	if _, fate := label.ReadCell(TextCell("x")); !fate.Refused() || fate.Kind() != Unreadable {
		t.Error(fmt.Sprint("a public label without a default: ", fate))
	}
}
