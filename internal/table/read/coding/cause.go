// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// cause is a reason why texts do not fit their column.
type cause struct {
	is     func(text string) bool
	what   string // what the texts are
	mend   string // the key or the line that mends it, with layoutOf their first
	breaks bool   // the mend changes, or can change, how cells are read that fit
	format string // of dates
}

// layoutOf stands for what strptime returns. No name of a column holds it.
const layoutOf = "\x00"

// Misfits are the cells of a column, or of the label, that are unreadable or other than the declared levels.
type Misfits struct {
	Texts []string // different ones: all, or the first of many
	Cells int      // how many cells do not fit
	Fit   int      // how many cells fit
	Read  []string // texts of those, if they are numbers: all, or the first of many
}

// CauseOf describes the most likely reason why cells do not fit, and the key of the schema or the line of DuckDB
// or pandas that mends it without harm to most cells that fit. It returns "" if it knows none. The result depends
// on cells, though it quotes none but what stands for a missing cell in many tables: print it where nothing is private.
func CauseOf(s *schema.Schema, name string, m Misfits) string {
	causes, at, mostFit := commonCauses(s, name), s.Find(name), m.Fit > m.Cells
	switch {
	case at < 0:
		causes = append(causes, levelCauses(s.Label.Levels, name)...)
	case s.Columns[at].Kind == schema.Category:
		causes = append(causes, levelCauses(s.Columns[at].Levels, name)...)
	case s.Columns[at].Date != "":
		causes = append(append(causes, noDays(m.Texts)), dateCauses(&s.Columns[at])...)
	default:
		causes = append(causes, numberCauses(&s.Dialect, name, m.Read)...)
	}
	most, best := 0, cause{}
	for _, c := range causes {
		if n := c.count(m.Texts); n > most {
			most, best = n, c
		}
	}
	switch isNumber := at >= 0 && s.Columns[at].Kind == schema.Number; {
	case len(m.Texts) == 0:
	case isNumber && (most == 0 || best.format != "") && m.Fit > 0 && len(m.Texts) <= 3 && m.Cells >= 10*len(m.Texts):
		mend := "many cells repeat " + plaintext.Count(len(m.Texts), "text") + ": if it stands for a missing cell, add it to missing under file"
		if s.Columns[at].Date != "" {
			mend += ", or the day to special of this date"
		}
		return mend
	case best.format != "":
		best = orderOfParts(&s.Columns[at], best, causes, &m)
	case most == 0 && at < 0 && !mostFit:
		return "no level is spelt so: declare each text as an alias of its level, as in {value: yes, aliases: [Ja]}"
	}
	if best.breaks && mostFit {
		return best.what + "; most cells are not: write them as those are written"
	}
	if strings.Contains(best.mend, layoutOf) {
		first := m.Texts[slices.IndexFunc(m.Texts, best.is)]
		return best.what + strings.Replace(best.mend, layoutOf, strings.ReplaceAll(strptime(s.Columns[at].Date, first), "'", "''"), 1)
	}
	return best.what + best.mend
}

func (c *cause) count(texts []string) (n int) {
	for _, text := range texts {
		if c.is(text) {
			n++
		}
	}
	return n
}

func duckName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// noCell are texts that mean a missing cell in many tables, in lower case.
var noCell = []string{"?", "-", ".", "na", "n/a", "nan", "null", "none", "nil", "#n/a"}

func commonCauses(s *schema.Schema, name string) []cause {
	all := []cause{
		{is: func(text string) bool { return schema.FoldText(text) == schema.FoldText(name) },
			what: `they repeat the header; in DuckDB: WHERE ` + duckName(name) + ` IS DISTINCT FROM '` + strings.ReplaceAll(name, "'", "''") + `'`},
		{is: func(text string) bool { return strings.Contains(text, "\x00") }, what: "they hold NUL characters; in DuckDB: replace(" + duckName(name) + ", chr(0), '')"},
		{is: func(text string) bool { return !utf8.ValidString(text) }, what: "they are not UTF-8: write encoding: windows-1252, or another one, under file"},
		{is: func(text string) bool {
			bytes, err := charmap.Windows1252.NewEncoder().String(text)
			return err == nil && utf8.ValidString(bytes) && !isASCII([]byte(text))
		}, what: "they are UTF-8 that was read as Windows-1252: remove encoding under file, or in pandas: .str.encode('cp1252').str.decode('utf-8')"},
	}
	for _, word := range noCell {
		all = append(all, cause{is: func(text string) bool { return strings.ToLower(strings.TrimSpace(text)) == word },
			what: "they mean a missing cell: add " + strconv.Quote(word) + ", as it is spelt there, to missing under file"})
	}
	return all
}

// padded is the cause of texts that can be read without the white space around them.
func padded(reads func(text string) bool) cause {
	return cause{is: func(text string) bool {
		bare := Trim(text)
		return bare != text && reads(bare)
	}, what: "they have white space around them: write trim: true under file"}
}

func levelCauses(levels []schema.Level, name string) []cause {
	like := func(same func(a string) string) func(text string) bool {
		spelt := map[string]bool{}
		for _, l := range levels {
			for _, text := range append([]string{l.Value}, l.Aliases...) {
				spelt[same(text)] = true
			}
		}
		return func(text string) bool { return spelt[same(text)] }
	}
	width := 0
	for _, l := range levels {
		if strings.HasPrefix(l.Value, "0") {
			width = max(width, len(l.Value))
		}
	}
	all := []cause{
		padded(like(strings.TrimSpace)),
		{is: like(unquote), what: `they are levels in quotes: write quote: '"', or quote: "'", under file of a CSV; in DuckDB: trim(` + duckName(name) + `, '"''')`},
		{is: like(schema.FoldText), what: "they are levels in other letter case or with other spaces: declare these as aliases, as in {value: yes, aliases: [Yes]}"},
		{is: like(func(a string) string { return strings.TrimLeft(a, "0") }), what: "they are levels without the zeros in front", breaks: true,
			mend: fmt.Sprintf("; in DuckDB: lpad(%s, greatest(%d, length(%[1]s))::INTEGER, '0')", duckName(name)+"::VARCHAR", width)},
	}
	says := func(text string) bool {
		text = schema.FoldText(text)
		return slices.Contains(schema.YesNo[0], text) || slices.Contains(schema.YesNo[1], text)
	}
	switch {
	case len(levels) != 2:
	case !slices.ContainsFunc(levels, func(l schema.Level) bool {
		return len(l.Prefixes) > 0 || !says(l.Value) || slices.ContainsFunc(l.Aliases, func(a string) bool { return !says(a) })
	}):
		all = append(all, cause{is: says, what: "they are other words for no and yes: write levels: yes_no, whose levels are \"no\" and \"yes\""})
	default:
		all = append(all, cause{is: says, what: fmt.Sprintf("they are words for no and yes: declare them as aliases, as in {value: %q, aliases: [...]} and {value: %q, aliases: [...]}",
			levels[0].Value, levels[1].Value)})
	}
	return all
}

// unquote removes a pair of quotes around a text.
func unquote(text string) string {
	if n := len(text); n > 1 && text[0] == text[n-1] && strings.ContainsRune(`"'`, rune(text[0])) {
		return text[1 : n-1]
	}
	return text
}

func numberCauses(d *schema.Dialect, name string, read []string) (all []cause) {
	declared := NumeralsOf(d)
	reads := []func(text string) bool{func(text string) bool { _, ok := ParseText(&declared, text); return ok }}
	type variant struct {
		keys   []string
		is     func(text string) bool
		breaks bool
	}
	var variants []variant
	for _, thousands := range []rune{d.Thousands, ',', '.', '\'', ' '} {
		for _, decimal := range []rune{d.Decimal, ',' - d.Decimal} {
			for _, trailing := range []bool{d.TrailingMinus, true} {
				other := schema.Dialect{Decimal: decimal, Thousands: thousands, TrailingMinus: trailing}
				if thousands == cmp.Or(decimal, '.') {
					continue
				}
				var keys []string
				if thousands != d.Thousands {
					keys = append(keys, fmt.Sprintf("thousands: %q", string(thousands)))
				}
				if decimal != d.Decimal {
					keys = append(keys, fmt.Sprintf("decimal: %q", string(cmp.Or(decimal, '.'))))
				}
				if trailing != d.TrailingMinus {
					keys = append(keys, "minus: trailing")
				}
				n := NumeralsOf(&other)
				if len(keys) > 0 {
					variants = append(variants, variant{keys, func(text string) bool { _, ok := ParseText(&n, text); return ok },
						slices.ContainsFunc(read, func(text string) bool {
							x, ok := ParseText(&declared, text)
							y, same := ParseText(&n, text)
							return ok && !(same && x == y)
						})})
				}
			}
		}
	}
	// Of those that read as many, the fewest keys; and thousands before decimal, since all groups have three digits.
	slices.SortStableFunc(variants, func(a, b variant) int {
		return cmp.Or(cmp.Compare(len(a.keys), len(b.keys)), -cmp.Compare(a.keys[0], b.keys[0]))
	})
	for _, v := range variants {
		all = append(all, cause{is: v.is, what: "they are numbers in another spelling", mend: ": write " + strings.Join(v.keys, ", ") + " under file", breaks: v.breaks})
		reads = append(reads, v.is)
	}
	readable := func(text string) bool {
		return slices.ContainsFunc(reads, func(is func(string) bool) bool { return is(text) })
	}
	column := duckName(name)
	return append(all, padded(readable),
		cause{is: func(text string) bool {
			inside, ok := strings.CutPrefix(text, "(")
			inside, closed := strings.CutSuffix(inside, ")")
			return ok && closed && readable(inside)
		}, what: fmt.Sprintf("they are negative numbers in brackets; in DuckDB: regexp_replace(%s, '^\\((.*)\\)$', '-\\1')", column)},
		cause{is: func(text string) bool {
			number := strings.TrimFunc(text, func(r rune) bool {
				return unicode.IsLetter(r) || unicode.IsSpace(r) || unicode.Is(unicode.Sc, r) || r == '%'
			})
			return number != text && readable(number)
		}, what: fmt.Sprintf("they are numbers with a unit, a currency or a percent sign; in DuckDB: regexp_replace(%s, '[^-−+0-9.,]', '', 'g')", column)})
}

var (
	monthName = regexp.MustCompile(`(?i)^([0-9]{1,4}\W*)?(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\W*([0-9]{1,2}\W+)?[0-9]{2,4}$`)
	shortYear = regexp.MustCompile(`^[0-9]{1,2}[-./ ][0-9]{1,2}[-./ ][0-9]{1,2}$`)
	noDay     = regexp.MustCompile(`^([0-9]{4}[-./][0-9]{1,2}|[0-9]{1,2}[-./][0-9]{4})$`)
)

// noDate are days that mean no day in many tables.
var noDate = []string{"0001-01-01", "1111-11-11", "1753-01-01", "1800-01-01", "1899-12-30", "1899-12-31", "1900-01-01", "1901-01-01", "1970-01-01",
	"2099-12-31", "2100-01-01", "2222-02-22", "2999-12-31", "3000-01-01", "3000-12-31", "8888-08-08", "9999-01-01", "9999-09-09", "9999-12-30", "9999-12-31"}

// noDays is the cause of texts that are such days in any format, or all zeros or nines. A day as in schemas can be special.
func noDays(texts []string) cause {
	var days, others []string
	formats := dateFormats()
	for _, text := range texts {
		digits := strings.Map(func(r rune) rune {
			if strings.ContainsRune("-./ ", r) {
				return -1
			}
			return r
		}, text)
		switch {
		case slices.Contains(noDate, text):
			days = append(days, text)
		case len(digits) >= 6 && (strings.Trim(digits, "0") == "" || strings.Trim(digits, "9") == ""),
			slices.ContainsFunc(formats, func(format string) bool {
				day, ok := schema.ParseDate(format, text)
				return ok && slices.Contains(noDate, schema.FormatDate(isoDate, day))
			}):
			others = append(others, strconv.Quote(text))
		}
	}
	all := slices.Concat(days, others)
	is := func(text string) bool {
		return slices.Contains(days, text) || slices.Contains(others, strconv.Quote(text))
	}
	mend := ": add " + strings.Join(all, ", ") + " to missing under file"
	if len(others) == 0 {
		mend = ": write special: [" + strings.Join(days, ", ") + "] for this date, or add them to missing under file"
	}
	return cause{is: is, what: "they stand for no day", mend: mend}
}

func dateFormats() (all []string) {
	for _, short := range []bool{false, true} {
		for _, order := range [][]string{{"DD", "MM", "YYYY"}, {"MM", "DD", "YYYY"}, {"YYYY", "MM", "DD"}} {
			for _, sign := range []string{".", "/", "-", " ", ""} {
				format := strings.Join(order, sign)
				if short {
					format = strings.NewReplacer("DD", "D", "MM", "M").Replace(format)
				}
				if sign != "" || !short {
					all = append(all, format)
				}
			}
		}
	}
	return all
}

// orderOfParts names every order of day, month and year that fits as many texts as the best does. Orders that put
// no text within the column's bounds count only if all are such.
func orderOfParts(c *schema.Column, best cause, causes []cause, m *Misfits) cause {
	parts := func(format string) string { return string(slices.Sorted(slices.Values([]byte(format)))) }
	var all, likely []string
	for _, other := range causes {
		if parts(other.format) != parts(best.format) || other.count(m.Texts) < best.count(m.Texts) {
			continue
		}
		all = append(all, other.format)
		if slices.ContainsFunc(m.Texts, func(text string) bool {
			day, ok := schema.ParseDate(other.format, text)
			return ok && float64(day-c.Since) >= c.Lower && float64(day-c.Since) <= c.Upper
		}) {
			likely = append(likely, other.format)
		}
	}
	if len(likely) > 0 {
		all = likely
	}
	const ask = ": who made the table must say which it is"
	switch {
	case len(all) > 1:
		best.what += ", and " + strings.Join(slices.Sorted(slices.Values(all)), " and ") + " both fit"
		best.mend = ask + ". Write that format"
	case m.Fit > m.Cells && parts(best.format) == parts(c.Date):
		return cause{what: "they are " + all[0] + ", and cells that fit " + c.Date + " may be so, too" + ask}
	case m.Fit > m.Cells:
		best.what += ", " + all[0]
	default:
		best.mend = ": write format: " + all[0]
	}
	return best
}

func dateCauses(c *schema.Column) (all []cause) {
	for _, format := range dateFormats() {
		all = append(all, cause{is: func(text string) bool { _, ok := schema.ParseDate(format, text); return ok },
			what: "they are dates in another format", format: format, breaks: true})
	}
	all = append(all, padded(func(text string) bool { _, ok := schema.ParseDate(c.Date, text); return ok }))
	column := duckName(c.Name)
	lower, upper := float64(c.Since)+c.Lower, float64(c.Since)+c.Upper
	count := func(perDay, zero float64) func(text string) bool {
		return func(text string) bool {
			x, ok := ParseDecimal(text)
			return ok && x/perDay-zero >= lower && x/perDay-zero <= upper
		}
	}
	return append(all,
		cause{is: monthName.MatchString, what: "they have names of months", breaks: true,
			mend: "; in DuckDB: strptime(" + column + ", '" + layoutOf + "')::DATE"},
		cause{is: shortYear.MatchString, what: "they have years of two digits", breaks: true,
			mend: "; in DuckDB, for which 69 is 1969 and 68 is 2068, with all_varchar = true for a CSV: strptime(" + column + ", '" + layoutOf + "')::DATE, if that is the order of day, month and year"},
		cause{is: noDay.MatchString, what: "they are months without a day", breaks: true,
			mend: "; in DuckDB, for the first day: strptime(" + column + ", '" + layoutOf + "')::DATE"},
		cause{is: count(1, 0), what: "they count days since 1970-01-01", breaks: digitsOf(c.Date) > 0, mend: ": write days: true"},
		cause{is: count(1, 25569), what: "they count the days of a spreadsheet", breaks: true,
			mend: "; in DuckDB: DATE '1899-12-30' + " + column + "::INTEGER"},
		cause{is: count(24*60*60, 0), what: "they count seconds since 1970-01-01", breaks: true,
			mend: "; in DuckDB: to_timestamp(" + column + "::BIGINT)::DATE"},
		cause{is: count(24*60*60*1000, 0), what: "they count milliseconds since 1970-01-01", breaks: true,
			mend: "; in DuckDB: epoch_ms(" + column + "::BIGINT)::DATE"})
}

var (
	datePiece = regexp.MustCompile(`[0-9]+|\pL+`)
	longYear  = regexp.MustCompile(`[0-9]{4}`)
)

// strptime returns a date's format in the terms of strptime. Parts that the text does not tell apart
// have the order of a format of schemas.
func strptime(format, text string) string {
	order := []string{"%d", "%m", "%y"}
	first := func(part string) int { return strings.IndexByte(strings.ToLower(format), part[1]) }
	if declared := !strings.HasPrefix(format, "Y") || strings.Contains(text, "-"); declared {
		slices.SortFunc(order, func(a, b string) int { return cmp.Compare(first(a), first(b)) })
	} else if strings.Contains(text, "/") {
		order = []string{"%m", "%d", "%y"}
	}
	if monthName.MatchString(text) {
		order = []string{"%d", "%y"}
	} else if noDay.MatchString(text) {
		order = []string{"%m"}
	}
	if longYear.MatchString(text) {
		order = slices.DeleteFunc(order, func(part string) bool { return part == "%y" })
	}
	return datePiece.ReplaceAllStringFunc(text, func(piece string) string {
		switch {
		case piece[0]-'0' > 9 && len(piece) > 3:
			return "%B"
		case piece[0]-'0' > 9:
			return "%b"
		case len(piece) == 4:
			return "%Y"
		case len(order) == 0:
			return piece
		}
		part := order[0]
		order = order[1:]
		return part
	})
}
