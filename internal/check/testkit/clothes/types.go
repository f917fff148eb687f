// SPDX-License-Identifier: Apache-2.0

package clothes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/table/read/coding"
)

// Type is a type that a form can give a column, or a cell.
type Type struct {
	Form     coding.Form
	Bits     int // of integers; 16 of a float of half the bits of a single one
	Unsigned bool
	// Of decimals.
	Precision, Scale int
}

// Types are all types.
func Types() []Type {
	list := []Type{{Form: coding.Text}, {Form: coding.Float}, {Form: coding.Single}, {Form: coding.Truth}, {Form: coding.Day}, {Form: coding.Instant},
		{Form: coding.Decimal, Precision: 9, Scale: 2}, {Form: coding.Decimal, Precision: 18, Scale: 4}, {Form: coding.Decimal, Precision: 38, Scale: 6},
		{Form: coding.Decimal, Precision: 18}, {Form: coding.Decimal, Precision: 38}}
	for _, bits := range []int{8, 16, 32, 64} {
		list = append(list, Type{Form: coding.Integer, Bits: bits}, Type{Form: coding.Integer, Bits: bits, Unsigned: true})
	}
	return list
}

// Day is a cell of days since 1970-01-01, and Digits one of an exact number.
type (
	Day    int
	Digits string
)

// Hold returns a cell as a value of a type: string, float64, float32, bool, int64, uint64, Day,
// time.Time, Digits, or nil if it is missing. ok is false if it is no such value.
func (t Type) Hold(src *rand.Rand, c *Column, x *Cell) (v any, ok bool) {
	if x.None {
		return nil, true
	}
	exact := func(digits string) bool { // what a category compares
		whole, rest, _ := strings.Cut(digits, ".")
		return c.Kind != Category || digits == x.Text || strings.Trim(rest, "0") == "" && (whole == x.Text || whole == x.Digits) || digits == x.Digits && x.Text != x.Digits
	}
	switch t.Form {
	case coding.Text:
		if x.Also != nil && src.IntN(3) == 0 {
			return x.Also[src.IntN(len(x.Also))], true
		}
		return x.Text, true
	case coding.Truth:
		return x.Truth == "true", x.Truth != ""
	case coding.Day:
		return Day(dayOf(x.Date)), x.Date != ""
	case coding.Instant:
		hour := src.IntN(22)
		if c.Kind != Date {
			hour = 0
		}
		return time.Unix(int64(dayOf(x.Date))*86400+int64(hour)*3600, 0).UTC(), x.Date != ""
	}
	if x.Digits == "" {
		return nil, false
	}
	switch t.Form {
	case coding.Integer:
		if t.Unsigned {
			n, err := strconv.ParseUint(x.Digits, 10, t.Bits)
			return n, err == nil
		}
		n, err := strconv.ParseInt(x.Digits, 10, t.Bits)
		return n, err == nil
	case coding.Float:
		f, err := strconv.ParseFloat(x.Digits, 64)
		return f, err == nil && exact(strconv.FormatFloat(f, 'f', -1, 64))
	case coding.Single:
		f, err := strconv.ParseFloat(x.Digits, 32)
		if t.isHalf() && (f != math.Trunc(f) || math.Abs(f) > 2048) {
			return nil, false
		}
		if c.Kind == Date && len(x.Digits) > 6 {
			return nil, false
		}
		same := c.Kind == Category || c.Kind == Label || strconv.FormatFloat(f, 'f', -1, 64) == x.Digits || x.Text == "99.9"
		return float32(f), err == nil && same && exact(strconv.FormatFloat(f, 'f', -1, 32))
	}
	whole, rest, _ := strings.Cut(x.Digits, ".")
	if c.Kind == Person && t.Scale > 0 && c.Cells[0].Also == nil { // a text, which says 5.00 of 5
		return nil, false
	}
	if len(rest) > t.Scale || len(strings.TrimPrefix(whole, "-"))+t.Scale > t.Precision {
		return nil, false
	}
	digits := whole
	if t.Scale > 0 {
		digits += "." + rest + strings.Repeat("0", t.Scale-len(rest))
	}
	return Digits(digits), exact(digits)
}

// Any is a value of a type that aims at what readers look for.
func (t Type) Any(src *rand.Rand) any {
	texts := []string{"", " ", "x", "NA", "-99", "true", "1", "0", "1e999", "nan", "9007199254740993", "29.02.2021", "2020-02-14", "20200214", "00.00.0000", "\xff", "Zu\u0308rich",
		"a,b;c|d\te", "\"", "'", "#", "\n", "\r", "\x00", "\ufeff", "PAR1", "12-", "1.234,5", "'1'000", "NULL", "2020-02-14T23:30:00Z", strings.Repeat("9", 400)}
	floats := []float64{0, 1, -1, 2.5, 20200214, 18306.7, -99, 96, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 5e-324, 1e300, 1 << 53}
	switch whole := []int64{0, 1, -1, 7, 96, -99, 20200214, 18306, math.MaxInt64, math.MinInt64, 1 << 31, 1 << 53}[src.IntN(12)]; t.Form {
	case coding.Text:
		return texts[src.IntN(len(texts))]
	case coding.Truth:
		return src.IntN(2) == 0
	case coding.Day:
		return Day(int32(whole))
	case coding.Instant:
		return time.Unix(whole>>src.IntN(40), 0).UTC()
	case coding.Float:
		return floats[src.IntN(len(floats))]
	case coding.Single:
		return float32(floats[src.IntN(len(floats))])
	case coding.Decimal:
		digits := strings.Repeat("9", 1+src.IntN(t.Precision-t.Scale))
		if t.Scale > 0 {
			digits += "." + strings.Repeat("7", t.Scale)
		}
		return Digits(digits)
	default:
		if t.Unsigned {
			return uint64(whole) >> (64 - t.Bits)
		}
		return whole >> (64 - t.Bits)
	}
}

// Carries reports whether a type can hold what the schema declares of a column, in words of its own: all
// levels of a category, and days of a date.
func (t Type) Carries(c *Column) bool {
	src := rand.New(rand.NewPCG(0, 0))
	of := c.Cells[:c.Levels]
	switch c.Kind {
	case Number:
		return t.Form != coding.Day && t.Form != coding.Instant && !(t.isHalf() && strings.Contains(c.Facts, "99.9"))
	case Date:
		of = c.Cells
	case Person:
		return t.Form != coding.Instant
	case Ignored:
		return true
	}
	for i := range of {
		if _, ok := t.Hold(src, c, &of[i]); !ok && !of[i].Free {
			return false
		}
	}
	return true
}

func (t Type) isHalf() bool { return t.Form == coding.Single && t.Bits == 16 }

func (t Type) String() string {
	switch t.Form {
	case coding.Integer:
		return fmt.Sprintf("integer of %d bits (unsigned: %t)", t.Bits, t.Unsigned)
	case coding.Decimal:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	}
	return map[coding.Form]string{coding.Text: "text", coding.Float: "double", coding.Single: "single", coding.Truth: "truth", coding.Day: "day", coding.Instant: "instant"}[t.Form]
}
