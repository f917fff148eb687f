// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones mean the same on every machine
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

// ParseDate parses a date into days since 1970-01-01. In format, YYYY, MM and DD stand for so many
// digits, M and D for one or two, and all other characters for themselves. A time of day may follow
// after a space or a T.
func ParseDate[T string | []byte](format string, cell T) (days int, ok bool) {
	days, _, ok = CutDate(format, cell)
	return days, ok
}

// CutDate is ParseDate, and returns what follows the date.
func CutDate[T string | []byte](format string, cell T) (days int, rest T, ok bool) {
	var year, month, day int
	from := 0
	for i := range len(format) {
		letter, part := format[i], &day
		switch letter {
		case 'Y':
			part = &year
		case 'M':
			part = &month
		case 'D':
		default:
			if from == len(cell) || cell[from] != letter {
				return 0, rest, false
			}
			from++
			continue
		}
		if from == len(cell) || cell[from]-'0' > 9 {
			return 0, rest, false
		}
		*part = 10**part + int(cell[from]-'0')
		from++
		alone := (i == 0 || format[i-1] != letter) && (i+1 == len(format) || format[i+1] != letter)
		if alone && from < len(cell) && cell[from]-'0' <= 9 {
			*part = 10**part + int(cell[from]-'0')
			from++
		}
	}
	rest = cell[from:]
	if len(rest) > 0 && rest[0] != ' ' && rest[0] != 'T' {
		return 0, rest, false
	}
	at := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return int(at.Unix() / secondsOfDay), rest, at.Day() == day && int(at.Month()) == month && year > 0
}

// FormatDate formats a number of days since 1970-01-01.
func FormatDate(format string, days int) string {
	return WriteDate(format, time.Unix(int64(days)*secondsOfDay, 0).UTC())
}

// Zone is a time zone, by whose clock instants have days.
type Zone struct{ of *time.Location }

// FindZone returns the zone with an IANA name, such as Europe/Berlin; nil if there is none.
func FindZone(name string) *Zone {
	of, err := time.LoadLocation(name)
	if err != nil || name == "" || of == time.Local {
		return nil
	}
	return &Zone{of}
}

// DayOf returns the day, in days since 1970-01-01, and the second of the day of a point in time:
// seconds since 1970, in a zone so many seconds east of UTC, which is used if z is nil.
func (z *Zone) DayOf(seconds int64, east int) (days, second int) {
	if z != nil {
		_, east = time.Unix(seconds, 0).In(z.of).Zone()
	}
	at := seconds + int64(east)
	if days, second = int(at/secondsOfDay), int(at%secondsOfDay); second < 0 {
		days, second = days-1, second+secondsOfDay
	}
	return days, second
}

// FormatClock formats a second of a day.
func FormatClock(second int) string {
	return time.Unix(int64(second), 0).UTC().Format(time.TimeOnly)
}

// DayAt returns the day in z of a time of day in UTC or with an offset, such as 23:30:00.5+02:00. Of
// another clock it is the day that is given.
func (z *Zone) DayAt(days int, clock string) int {
	midnight := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	clock = clockWords.Replace(clock)
	for _, layout := range clocks {
		if at, err := time.Parse(layout, clock); err == nil {
			days, _ = z.DayOf(int64(days)*secondsOfDay+at.Unix()-midnight.Unix(), 0)
			return days
		}
	}
	return days
}

var (
	clocks     = []string{"15:04:05Z07:00", "15:04:05Z07", "15:04:05Z0700", "15:04Z07:00", "15:04Z07", "15:04Z0700"}
	clockWords = strings.NewReplacer(" ", "", "UTC", "Z", "GMT", "Z", "z", "Z")
)

// Month returns the month, as YYYY-MM, of a cell of a date column, x days after its earliest date.
func (c *Column) Month(x float64) string { return FormatDate("YYYY-MM", c.Since+int(math.Floor(x))) }

// WriteDate formats the day of a time, in the time's own zone.
func WriteDate(format string, at time.Time) string {
	return at.Format(dateLetters.Replace(format))
}

// dateLetters translates a format into a layout of package time.
var dateLetters = strings.NewReplacer("YYYY", "2006", "MM", "01", "DD", "02", "M", "1", "D", "2")

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
		"special", "zone", "days", "edges", "bins")
	const formats = "write how cells are written, e.g. format: DD.MM.YYYY, or D.M.YYYY if zeros are left out"
	c.Kind = Number
	if c.Date = f.text("format", formats); c.Date != "" && !isDateFormat(c.Date) {
		f.refuse("format", "must have YYYY, MM and DD once each, or M and D if - . / or a space stands on both sides",
			strconv.Quote(c.Date), formats)
	}
	day := func(key string) float64 {
		hint := "write " + key + ": and a day like 2015-01-01, from documentation or common knowledge, not from the data"
		n := f.requireNode(key, hint)
		if n == nil {
			return math.NaN()
		}
		return r.parseDay(n, f.where+key, hint)
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
	r.readMarks(f, c, "write the days that are no dates by the documentation, e.g. special: [9999-12-31], or remove the line",
		func(n *node, param, hint string) float64 { return r.parseDay(n, param, hint) - since })
	r.readDays(f, c)
	switch {
	case f.has("default"):
		x := day("default") - since
		if x < c.Lower || x > c.Upper {
			f.refuse("default", "must lie within lower and upper", FormatDate(isoDate, c.Since+int(x)), "")
		}
		c.Default = &x
	case c.Role == Private, c.Marks() > 0:
		f.refuse("default", "must be given for a private date, and with missing or special", nil,
			"write default: and the day that stands in for a missing or unreadable one, chosen without looking at the data")
	}
}

// readDays reads which day an instant has, and whether numbers are days.
func (r *reader) readDays(f fields, c *Column) {
	if f.has("zone") {
		const hint = "write the name of a time zone, e.g. zone: Europe/Berlin, or remove the line"
		c.Zone = f.text("zone", hint)
		if c.Zone != "" && FindZone(c.Zone) == nil {
			f.refuse("zone", "must be a name of the IANA time zone database", strconv.Quote(c.Zone), hint)
		}
	}
	if f.has("days") {
		c.Days = f.boolean("days", "write days: true if cells that are numbers count days since 1970-01-01, or remove the line")
	}
	if c.Days && strings.Trim(c.Date, "YMD") == "" {
		f.refuse("days", "must not be combined with a format of digits alone", strconv.Quote(c.Date),
			"a number would have two meanings: remove days, or write another format")
	}
}

// parseDay parses a day in the format of schemas into days since 1970-01-01; NaN after a report.
func (r *reader) parseDay(n *node, param, hint string) float64 {
	text, ok := r.scalarText(n, param, hint)
	if !ok {
		return math.NaN()
	}
	days, ok := ParseDate(isoDate, text)
	if !ok || len(text) != len(isoDate) {
		r.refuse(n.line, param, "must be a day like 2015-01-01", strconv.Quote(text), hint)
		return math.NaN()
	}
	return float64(days)
}

var dateFormat = regexp.MustCompile(`^[-./ ]*(YYYY|MM?|DD?)([-./ ]*)(YYYY|MM?|DD?)([-./ ]*)(YYYY|MM?|DD?)[-./ ]*$`)

// isDateFormat reports whether ParseDate and FormatDate support a format.
func isDateFormat(format string) bool {
	m := dateFormat.FindStringSubmatch(format)
	if m == nil {
		return false
	}
	a, b, c := m[1], m[3], m[5]
	return a[0] != b[0] && b[0] != c[0] && c[0] != a[0] &&
		(len(a) > 1 && len(b) > 1 || m[2] != "") && (len(b) > 1 && len(c) > 1 || m[4] != "") // where one part ends
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
	if len(c.Special) > 0 {
		special := &node{form: list}
		for _, x := range c.Special {
			special.items = append(special.items, day(x))
		}
		m.addPair("special", special)
	}
	m.addPair("zone", optionalNode(c.Zone))
	m.addFlag("days", c.Days)
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
