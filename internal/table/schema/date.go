// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A date is a number of days since a declared one.

// The parts of a date that a derived column may contain.
const (
	Year    Derivation = "year"
	Month   Derivation = "month"   // 1 to 12
	Weekday Derivation = "weekday" // 1 for Monday to 7 for Sunday
)

var dateParts = []Derivation{Year, Month, Weekday}

// isoDate is the format of dates in a schema.
const isoDate = "YYYY-MM-DD"

// secondsOfDay is the number of seconds of a day, without leap seconds.
const secondsOfDay = 24 * 60 * 60

// ParseDate parses a date into days since 1970-01-01. In format, YYYY, MM and DD stand for digits, and
// all other characters for themselves. A time of day may follow after a space or a T.
func ParseDate[T string | []byte](format string, cell T) (days int, ok bool) {
	if len(cell) < len(format) || len(cell) > len(format) && cell[len(format)] != ' ' && cell[len(format)] != 'T' {
		return 0, false
	}
	var year, month, day int
	for i := range len(format) {
		part := &day
		switch format[i] {
		case 'Y':
			part = &year
		case 'M':
			part = &month
		case 'D':
		default:
			if cell[i] != format[i] {
				return 0, false
			}
			continue
		}
		if cell[i]-'0' > 9 {
			return 0, false
		}
		*part = 10**part + int(cell[i]-'0')
	}
	at := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return int(at.Unix() / secondsOfDay), at.Day() == day && int(at.Month()) == month && year > 0
}

// FormatDate formats a number of days since 1970-01-01.
func FormatDate(format string, days int) string {
	return WriteDate(format, time.Unix(int64(days)*secondsOfDay, 0).UTC())
}

// Month returns the month, as YYYY-MM, of a cell of a date column, x days after its earliest date.
func (c *Column) Month(x float64) string { return FormatDate("YYYY-MM", c.Since+int(math.Floor(x))) }

// WriteDate formats the day of a time, in the time's own zone.
func WriteDate(format string, at time.Time) string {
	layout := strings.NewReplacer("YYYY", "2006", "MM", "01", "DD", "02").Replace(format)
	return at.Format(layout)
}

// DatePart returns the part of a date that a derived column contains. The date is x days after since,
// which is in days since 1970-01-01.
func DatePart(part Derivation, since int, x float64) float64 {
	at := time.Unix(int64(since+int(math.Floor(x)))*secondsOfDay, 0).UTC()
	switch part {
	case Year:
		return float64(at.Year())
	case Month:
		return float64(at.Month())
	}
	return float64((at.Weekday()+6)%7 + 1)
}

// IsDatePart reports whether the column is derived from a date alone.
func (c *Column) IsDatePart() bool { return slices.Contains(dateParts, c.Derived) }

// readDate reads a column of dates.
func (r *reader) readDate(parent fields, c *Column) {
	f := r.openMapping(parent.values["date"], parent.where, "format", "lower", "upper", "since", "default", "missing",
		"edges", "bins")
	const formats = "write how cells are written, e.g. format: DD.MM.YYYY, with YYYY, MM and DD once each"
	c.Kind = Number
	if c.Date = f.text("format", formats); c.Date != "" && !isDateFormat(c.Date) {
		f.refuse("format", "must have YYYY, MM and DD once each, with no letters between", strconv.Quote(c.Date), formats)
	}
	day := func(key string) float64 {
		hint := "write " + key + ": and a day like 2015-01-01, from documentation or common knowledge, not from the data"
		text := f.text(key, hint)
		if text == "" {
			return math.NaN()
		}
		days, ok := ParseDate(isoDate, text)
		if !ok || len(text) != len(isoDate) {
			f.refuse(key, "must be a day like 2015-01-01", strconv.Quote(text), hint)
			return math.NaN()
		}
		return float64(days)
	}
	lower, upper := day("lower"), day("upper")
	since := lower
	if f.has("since") {
		since = day("since")
	}
	c.Lower, c.Upper = lower-since, upper-since
	if !math.IsNaN(since) {
		c.Since = int(since)
	}
	if c.Lower >= c.Upper {
		f.refuse("lower", "must be before upper", FormatDate(isoDate, int(lower)), "")
	}
	r.readCuts(f, c)
	r.readMarks(f, c)
	switch {
	case f.has("default"):
		x := day("default") - since
		if x < c.Lower || x > c.Upper {
			f.refuse("default", "must lie within lower and upper", FormatDate(isoDate, c.Since+int(x)), "")
		}
		c.Default = &x
	case c.Role == Private, c.Missing:
		f.refuse("default", "must be given for a private date, and with missing", nil,
			"write default: and the day that stands in for a missing or unreadable one, chosen without looking at the data")
	}
}

// isDateFormat reports whether ParseDate and FormatDate support a format.
func isDateFormat(format string) bool {
	rest := format
	for _, part := range []string{"YYYY", "MM", "DD"} {
		if strings.Count(rest, part) != 1 {
			return false
		}
		rest = strings.Replace(rest, part, "", 1)
	}
	return strings.IndexFunc(rest, func(c rune) bool { return !strings.ContainsRune("-./ ", c) }) < 0
}

// dateTree is the inverse of readDate.
func (c *Column) dateTree() *node {
	m := &node{form: mapping}
	day := func(x float64) *node { return textNode(FormatDate(isoDate, c.Since+int(x))) }
	m.addPair("format", textNode(c.Date))
	m.addPair("lower", day(c.Lower))
	m.addPair("upper", day(c.Upper))
	m.addPair("since", day(0))
	c.cutsTree(m)
	if c.Default != nil {
		m.addPair("default", day(*c.Default))
	}
	m.addFlag("missing", c.Missing)
	return m
}

// boundPart sets the bounds of a part of a date.
func (c *Column) boundPart(from *Column) {
	c.Integer = true
	switch c.Derived {
	case Year:
		c.Lower, c.Upper = DatePart(Year, from.Since, from.Lower), DatePart(Year, from.Since, from.Upper)
		c.Upper = max(c.Upper, c.Lower+1) // a column of one year has nothing to tell
	case Month:
		c.Lower, c.Upper = 1, 12
	case Weekday:
		c.Lower, c.Upper = 1, 7
	}
}
