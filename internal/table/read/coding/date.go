// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"bytes"
	"strings"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

const isoDate = "YYYY-MM-DD" // of days in schemas

// digitsOf returns the length of a format of dates that consists of digits alone, such as YYYYMMDD; 0
// for any other.
func digitsOf(format string) int {
	if strings.Trim(format, "YMD") != "" {
		return 0
	}
	return len(format)
}

// parseDate parses a date into days since 1970-01-01: as the format has it, or as a number. If the
// column has a zone, a time of day with an offset from UTC makes it the day in that zone.
func parseDate[T string | []byte](c *Coder, cell T) (days int, ok bool) {
	days, clock, ok := schema.CutDate(c.date, cell)
	if !ok {
		return parseDigits(c, cell)
	}
	if c.zone != nil && len(clock) > 0 {
		days = c.zone.DayAt(days, string(clock[1:]))
	}
	return days, true
}

// parseDigits parses a number in a column of dates: as the digits of a format without other signs,
// whose first zeros may be missing, or as days since 1970-01-01 if the schema declares that.
func parseDigits[T string | []byte](c *Coder, cell T) (days int, ok bool) {
	if c.digits == 0 && !c.days {
		return 0, false
	}
	whole, ok := c.wholeDigits([]byte(cell))
	switch {
	case !ok || len(whole) == 0:
		return 0, false
	case c.days:
		x, ok := ParseDecimal(whole)
		return int(x), ok && x < 1<<40 && x > -1<<40
	case len(whole) > c.digits:
		return 0, false
	}
	return schema.ParseDate(c.date, append(bytes.Repeat([]byte("0"), c.digits-len(whole)), whole...))
}
