// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Type is what a source declares about all cells of a column. It is public.
type Type struct {
	Form Form
	Name string // in the source's words, such as int64 or DECIMAL(9,2)
	// Least and Most bound integers, and the digits of decimals before the point; both are 0 if there is no
	// bound but int64's. Those of a uint64 are 0 and the most of an int64,
	// and those of a float of 16 bits are of the whole numbers that it has without gaps.
	Least, Most int64
	Scale       int  // of decimals: the digits behind the point; -1 if each cell has its own
	Words       bool // of texts: they are neither numbers nor dates, such as UUIDs
}

// CannotCarry returns why a column of a declared type cannot hold what the schema declares, as a
// requirement that ends in what to do; "" if it can. Nothing is refused where each cell has its own
// type, since that would tell of a cell.
func (c *Coder) CannotCarry(t Type) string {
	refuse := func(of, instead string) string {
		return fmt.Sprintf("must be of a type that can hold %s: %s cannot; %s", of, t.Name, instead)
	}
	switch {
	case t.Words && c.Number:
		return refuse("what the schema declares", "leave the column out, or make a number or a date of it (a cast)")
	case t.Form == Any || t.Form == Text || t.Form == None && !c.isLabel:
		return ""
	case t.Form == Unknown:
		return refuse("one number, text, date or truth value in each row", "leave the column out, or turn its cells into one of these")
	case c.identify != nil && t.Form == Instant:
		return refuse("what identifies a person, to every digit", "make text of the column (a cast)")
	case c.identify != nil:
		return ""
	case c.date != "":
		return c.cannotDate(t, refuse)
	case c.Number && (t.Form == Day || t.Form == Instant):
		return refuse("the number that the schema declares", "declare a date, or make a number of it (a cast)")
	case c.Number:
		if k := slices.IndexFunc(c.special, func(x float64) bool { return !t.holdsFloat(x) }); k >= 0 {
			return refuse("the special value "+strconv.FormatFloat(c.special[k], 'g', -1, 64), "make a double of the column (a cast)")
		}
		return ""
	}
	if text := c.unwritable(t); text != "" {
		instead := "make text of the column (a cast, or dtype=str where a file is read)"
		if c.isLabel {
			instead = "map its values to the levels, or declare them as the levels (levels: yes_no reads 0, 1, false and true)"
		}
		return refuse("every level, such as "+strconv.Quote(text), instead)
	}
	return ""
}

// holds reports whether an integer is within the type's bounds.
func (t *Type) holds(x int64) bool { return t.Least == t.Most || x >= t.Least && x <= t.Most }

// holdsFloat reports whether a number can be in a type of floats: of 16 bits are only those that have bounds,
// within which they have whole numbers alone.
func (t *Type) holdsFloat(x float64) bool {
	return t.Form != Single || t.Least == t.Most || x == math.Trunc(x) && t.holds(int64(x))
}

func (c *Coder) cannotDate(t Type, refuse func(of, instead string) string) string {
	const instead = "make a date or text of the column (a cast), or write days: true in the schema if its numbers are days since 1970-01-01"
	switch first, last := int64(c.since)+int64(c.lower), int64(c.since)+int64(c.upper); {
	case t.Form == Day || t.Form == Instant:
		return ""
	case c.days && t.Form != Truth:
		if t.Least != t.Most && (first > t.Most || last < t.Least) {
			return refuse("days since 1970-01-01", "make a date or an integer of 32 bits of the column (a cast)")
		}
		return ""
	case t.Form == Truth:
		return refuse("dates", "make a date of the column (a cast)")
	case c.digits == 0:
		return refuse("dates as "+c.date, instead)
	case t.Form == Single, !t.holds(99_991_231): // 24 bits are less than eight digits
		return refuse("all digits of "+c.date, "make an integer, a date or text of the column (a cast)")
	}
	return ""
}

// unwritable returns the first level, in the order of the codes, that no cell of a type is read as; ""
// if there is none.
func (c *Coder) unwritable(t Type) string {
	first, firstText := -1, ""
	for text, at := range c.levels {
		if at.fate != Read || first >= 0 && (at.code > first || at.code == first && text >= firstText) {
			continue
		}
		if !c.isWritable(at.code, t) {
			first, firstText = at.code, text
		}
	}
	return firstText
}

// isWritable reports whether some cell of a type is read as the level of a code.
func (c *Coder) isWritable(code int, t Type) bool {
	if c.buckets > 0 && code >= c.unknown-c.buckets && code < c.unknown {
		return true // of any text
	}
	if slices.ContainsFunc(c.prefixes, func(p prefix) bool { return int(p.code) == code && strings.Trim(p.text, "0123456789.") == "" }) {
		return t.Form != Truth
	}
	texts := []string{"0", "1"}
	for text, at := range c.levels {
		if at.code == code {
			texts = append(texts, text)
		}
	}
	return slices.ContainsFunc(texts, func(text string) bool {
		v, fate := c.readAs(text, t)
		return fate == Read && int(v.Code) == code
	})
}

// readAs reads the cell of a type that comes nearest to a level's text.
func (c *Coder) readAs(text string, t Type) (column.Cell, Fate) {
	x, isNumber := ParseDecimal(text)
	switch {
	case t.Form == Truth && truthOf(text) >= 0:
		return c.ReadTruth(truthOf(text) == 1)
	case t.Form == Truth && (text == "0" || text == "1"):
		return c.ReadTruth(text == "1")
	case t.Form == Day || t.Form == Instant:
		if days, ok := schema.ParseDate("YYYY-MM-DD", text); ok && t.Form == Day {
			return c.ReadDay(days)
		} else if ok {
			return c.ReadInstant(int64(days)*24*60*60, 0)
		}
	case t.Form == Integer:
		n, err := strconv.ParseInt(text, 10, 64)
		if err == nil && t.holds(n) {
			return c.ReadInteger(n)
		}
		if x, err := strconv.ParseUint(text, 10, 64); err == nil && t.Least == 0 && t.Most == math.MaxInt64 { // a uint64
			return ReadDecimal(c, strconv.FormatUint(x, 10))
		}
	case t.Form == Float && isNumber:
		return c.ReadFloat(x)
	case t.Form == Single && isNumber && t.holdsFloat(x):
		return c.ReadSingle(float32(x))
	case t.Form == Decimal && isNumber && !strings.ContainsAny(text, "eE"):
		whole, rest, _ := strings.Cut(text, ".")
		unsigned := strings.TrimPrefix(whole, "-")
		n, err := strconv.ParseInt(whole, 10, 64)
		if unsigned == "" || unsigned[0] == '+' || unsigned[0] == '0' && len(unsigned) > 1 || // no number is written so
			t.Scale >= 0 && len(rest) > t.Scale || t.Least != t.Most && (err != nil || !t.holds(n)) {
			break
		}
		digits := whole
		if t.Scale < 0 {
			digits = text
		} else if t.Scale > 0 {
			digits += "." + rest + string(bytes.Repeat([]byte("0"), t.Scale-len(rest)))
		}
		return ReadDecimal(c, digits)
	}
	return column.Cell{}, Unreadable
}
