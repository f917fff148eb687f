// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
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
		{[]string{"2015-01-31"}, InstantCell(16466*86400, 0), 0}, {[]string{"2015-01-31"}, InstantCell(16466*86400+1, 0), -1},
		{[]string{"2015-01-31"}, InstantCell(16466*86400-3600, 3600), 0},
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
		{number, NumberCell(math.Inf(1)), 0, Unreadable}, {number, NumberCell(math.NaN()), 0, Missing}, {number, DecimalCell("NaN"), 0, Missing}, {number, DayCell(3), 0, Unreadable},
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

// A declared day, zone and kind of number means the same in every type.
func TestSpellingsOfCells(t *testing.T) {
	date := schema.Column{Kind: schema.Number, Date: "D.M.YYYY", Since: 16436, Lower: 0, Upper: 4000, Special: []float64{2916460}} // 9999-12-31
	berlin, york, days := date, date, date
	berlin.Zone, york.Zone, days.Days = "Europe/Berlin", "America/New_York", true
	amount := schema.Column{Kind: schema.Number, Lower: -5000, Upper: 5000}
	english := schema.Dialect{Thousands: ',', TrailingMinus: true}
	german := schema.Dialect{Decimal: ',', Thousands: '.', Missing: []string{"9999-12-31", "-9.999"}}
	const mark = math.MaxFloat64 / 2
	for i, row := range []struct {
		column schema.Column
		d      schema.Dialect
		cell   Cell
		want   float64
		fate   Fate
	}{
		{date, english, TextCell("3.7.2021"), 2375, Read}, {date, english, TextCell("03.07.2021"), 2375, Read}, {date, english, TextCell("3.7.21"), 0, Unreadable},
		{date, english, TextCell("31.12.9999"), mark, Read}, {date, english, TextCell("31.12.9999 00:00:00"), mark, Read},
		{date, english, TextCell("9999-12-31"), mark, Read}, {date, english, TextCell("9999-12-31 00:00:00"), mark, Read},
		{date, english, TextCell("2021-07-03"), 0, Unreadable}, {date, german, TextCell("9999-12-31T00:00"), 0, Missing},
		{date, english, DayCell(2932896), mark, Read}, {date, english, InstantCell(2932896*86400, 0), mark, Read}, {date, english, DayCell(2932895), 4000, Clamped},
		{date, german, DayCell(2932896), 0, Missing}, {date, german, TextCell("31.12.9999"), 0, Missing}, {date, german, TextCell("9999-12-31"), 0, Missing},
		{days, english, IntegerCell(18811), 2375, Read}, {days, english, TextCell("18,811"), 2375, Read}, {days, english, NumberCell(2932896), mark, Read},
		{days, german, TextCell("18811"), 2375, Read}, {days, english, TextCell("3.7.2021"), 2375, Read}, {days, english, TextCell("18811.5"), 0, Unreadable},
		{days, german, IntegerCell(2932896), 0, Missing}, {date, english, IntegerCell(18811), 0, Unreadable}, {date, english, TextCell("18811"), 0, Unreadable},
		{berlin, english, TextCell("3.7.2021 23:30:00Z"), 2376, Read}, {berlin, english, TextCell("3.7.2021T23:30:00.25+01:00"), 2376, Read},
		{berlin, english, TextCell("3.7.2021 23:30 +02"), 2375, Read}, {berlin, english, TextCell("4.7.2021 00:30:00 +0300"), 2375, Read},
		{berlin, english, TextCell("3.7.2021 23:30:00"), 2375, Read}, {berlin, english, TextCell("3.7.2021 23:30 UTC"), 2376, Read},
		{york, english, TextCell("3.7.2021 03:59:59Z"), 2374, Read}, {york, english, TextCell("3.7.2021"), 2375, Read}, {date, english, TextCell("3.7.2021 23:30:00Z"), 2375, Read},
		{berlin, english, TextCell("3.7.2021 23:30 Z and more"), 2375, Read},
		{amount, english, TextCell("2,745.48"), 2745.48, Read}, {amount, english, TextCell("12-"), -12, Read}, {amount, english, TextCell("1,5"), 0, Unreadable},
		{amount, english, TextCell("\u221212"), -12, Read}, {amount, english, NumberCell(1.5), 1.5, Read},
		{amount, german, TextCell("2.745,48"), 2745.48, Read}, {amount, german, TextCell("-9999"), 0, Missing}, {amount, german, NumberCell(-9999), 0, Missing},
	} {
		got, fate := newCoder(t, row.column, row.d).ReadCell(row.cell)
		if fate != row.fate || got.Number != row.want && !(row.want == mark && got.Number > mark) {
			t.Errorf("row %d, cell %+v: %g and fate %d, want %g and %d", i, row.cell, got.Number, fate, row.want, row.fate)
		}
	}
	// Where a category has whole numbers for levels, their digits may be in groups.
	for _, row := range []struct {
		d    schema.Dialect
		cell Cell
		want uint32
	}{
		{english, TextCell("2,020"), 1}, {english, TextCell("1-"), 2}, {english, TextCell("\u22121"), 2}, {english, TextCell("2,02"), 4}, {english, IntegerCell(2020), 1},
		{german, TextCell("2.020"), 1}, {german, TextCell("1.0"), 4}, {german, TextCell("1,0"), 0}, {german, DecimalCell("1.000"), 0}, {german, NumberCell(2.5), 3},
		{schema.Dialect{Decimal: ','}, TextCell("1.000"), 4},
	} {
		c := newCoder(t, schema.Column{Kind: schema.Category, Levels: levels("1", "2020", "-1", "2.5")}, row.d)
		if got, _ := c.ReadCell(row.cell); got.Code != row.want {
			t.Errorf("cell %+v in %+v: code %d, want %d", row.cell, row.d, got.Code, row.want)
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
	short, cents := Type{Form: Integer, Least: -1 << 15, Most: 1<<15 - 1}, Type{Form: Decimal, Scale: 2, Least: -9_999_999, Most: 9_999_999}
	half := Type{Form: Single, Least: -2048, Most: 2048}
	days := schema.Column{Kind: schema.Number, Date: "YYYY-MM-DD", Days: true, Since: 10957, Upper: 1}
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
		{ymd, short, false}, {ymd, cents, false}, {days, small, false}, {days, short, true}, {days, cents, true}, {days, truth, false},
		{category("10000000"), cents, false}, {category("9999999"), cents, true}, {category("9007199254740993"), Type{Form: Decimal}, true},
		{category("12345678901234567890"), Type{Form: Integer, Most: math.MaxInt64}, true}, {category("12345678901234567890"), integer, false},
		{category("1", "2"), half, true}, {category("0.1"), half, false}, {category("0.1"), single, true}, {category("4000"), half, false}, {days, half, false},
		{schema.Column{Kind: schema.Number, Upper: 1, Special: []float64{99.9}}, half, false}, {schema.Column{Kind: schema.Number, Upper: 1, Special: []float64{96}}, half, true},
		{category("01", "10"), Type{Form: Decimal}, false}, {category("+1"), Type{Form: Decimal}, false}, {category("0", "-0.50"), money, true},
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

// A number is the nearest one to its digits, however few or many they are.
func TestDecimalsAreNearest(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 2))
	for range size.Of(20_000, 5_000_000) {
		digits := strconv.FormatUint(src.Uint64()>>src.IntN(64), 10)
		digits = digits[:min(len(digits), 17)]
		at := src.IntN(len(digits) + 1)
		text := []string{"", "+", "-", "00"}[src.IntN(4)] + digits[:at] + "." + digits[at:]
		if src.IntN(8) == 0 {
			text = strings.Replace(text, ".", "", 1)
		}
		got, ok := ParseDecimal(text)
		want, err := strconv.ParseFloat(text, 64)
		if !ok || err != nil || math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%q is %v %t, want %v %v", text, got, ok, want, err)
		}
	}
}
