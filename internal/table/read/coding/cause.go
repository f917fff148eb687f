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

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// cause is a reason why texts do not fit their column.
type cause struct {
	is   func(text string) bool
	mend string // what the texts are, and the key or the line that mends it, with layoutOf their first
}

// layoutOf stands for what strptime returns. No name of a column holds it.
const layoutOf = "\x00"

// CauseOf describes the most likely reason why these texts of a column, or of the label, are unreadable
// or other than the declared levels, and the key of the schema or the line of DuckDB or pandas that mends
// it. It returns "" if it knows none. The result depends on cells: print it where nothing is private.
func CauseOf(s *schema.Schema, name string, texts []string) string {
	causes := commonCauses(s, name)
	if at := s.Find(name); at < 0 {
		causes = append(causes, levelCauses(s.Label.Levels, name)...)
	} else if c := &s.Columns[at]; c.Kind == schema.Category {
		causes = append(causes, levelCauses(c.Levels, name)...)
	} else if c.Date != "" {
		causes = append(causes, dateCauses(c)...)
	} else {
		causes = append(causes, numberCauses(&s.Dialect, name)...)
	}
	most, mend := 0, ""
	for _, c := range causes {
		n, first := 0, ""
		for _, text := range texts {
			if c.is(text) {
				n, first = n+1, cmp.Or(first, text)
			}
		}
		if n > most {
			most, mend = n, c.mend
			if strings.Contains(mend, layoutOf) {
				mend = strings.Replace(mend, layoutOf, strings.ReplaceAll(strptime(s.Columns[s.Find(name)].Date, first), "'", "''"), 1)
			}
		}
	}
	return mend
}

func duckName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// noCell are texts that mean a missing cell in many tables, in lower case.
var noCell = []string{"?", "-", ".", "na", "n/a", "nan", "null", "none", "nil", "#n/a"}

func commonCauses(s *schema.Schema, name string) []cause {
	all := []cause{
		{func(text string) bool { return schema.FoldText(text) == schema.FoldText(name) },
			`they repeat the header; in DuckDB: WHERE ` + duckName(name) + ` IS DISTINCT FROM '` + strings.ReplaceAll(name, "'", "''") + `'`},
		{func(text string) bool { return strings.Contains(text, "\x00") }, "they hold NUL characters; in DuckDB: replace(" + duckName(name) + ", chr(0), '')"},
		{func(text string) bool { return !utf8.ValidString(text) }, "they are not UTF-8: write encoding: windows-1252, or another one, under file"},
		{func(text string) bool {
			bytes, err := charmap.Windows1252.NewEncoder().String(text)
			return err == nil && utf8.ValidString(bytes) && !isASCII([]byte(text))
		}, "they are UTF-8 that was read as Windows-1252: remove encoding under file, or in pandas: .str.encode('cp1252').str.decode('utf-8')"},
	}
	for _, word := range noCell {
		all = append(all, cause{func(text string) bool { return strings.ToLower(strings.TrimSpace(text)) == word },
			"they mean a missing cell: add " + strconv.Quote(word) + ", as it is spelt there, to missing under file"})
	}
	return all
}

// padded is the cause of texts that can be read without the white space around them.
func padded(reads func(text string) bool) cause {
	return cause{func(text string) bool {
		bare := Trim(text)
		return bare != text && reads(bare)
	}, "they have white space around them: write trim: true under file"}
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
	return []cause{
		padded(like(strings.TrimSpace)),
		{like(unquote), `they are levels in quotes: write quote: '"', or quote: "'", under file of a CSV; in DuckDB: trim(` + duckName(name) + `, '"''')`},
		{like(schema.FoldText), "they are levels in other letter case or with other spaces: declare these as aliases, as in {value: yes, aliases: [Yes]}"},
		{like(func(a string) string { return strings.TrimLeft(a, "0") }), fmt.Sprintf("they are levels without the zeros in front; in DuckDB: lpad(%s, greatest(%d, length(%[1]s))::INTEGER, '0')",
			duckName(name)+"::VARCHAR", width)},
	}
}

// unquote removes a pair of quotes around a text.
func unquote(text string) string {
	if n := len(text); n > 1 && text[0] == text[n-1] && strings.ContainsRune(`"'`, rune(text[0])) {
		return text[1 : n-1]
	}
	return text
}

func numberCauses(d *schema.Dialect, name string) (all []cause) {
	declared := NumeralsOf(d)
	reads := []func(text string) bool{func(text string) bool { _, ok := ParseText(&declared, text); return ok }}
	type variant struct {
		keys []string
		is   func(text string) bool
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
					variants = append(variants, variant{keys, func(text string) bool { _, ok := ParseText(&n, text); return ok }})
				}
			}
		}
	}
	// Of those that read as many, the fewest keys; and thousands before decimal, since all groups have three digits.
	slices.SortStableFunc(variants, func(a, b variant) int {
		return cmp.Or(cmp.Compare(len(a.keys), len(b.keys)), -cmp.Compare(a.keys[0], b.keys[0]))
	})
	for _, v := range variants {
		all = append(all, cause{v.is, "they are numbers in another spelling: write " + strings.Join(v.keys, ", ") + " under file"})
		reads = append(reads, v.is)
	}
	readable := func(text string) bool {
		return slices.ContainsFunc(reads, func(is func(string) bool) bool { return is(text) })
	}
	column := duckName(name)
	return append(all, padded(readable),
		cause{func(text string) bool {
			inside, ok := strings.CutPrefix(text, "(")
			inside, closed := strings.CutSuffix(inside, ")")
			return ok && closed && readable(inside)
		}, fmt.Sprintf("they are negative numbers in brackets; in DuckDB: regexp_replace(%s, '^\\((.*)\\)$', '-\\1')", column)},
		cause{func(text string) bool {
			number := strings.TrimFunc(text, func(r rune) bool {
				return unicode.IsLetter(r) || unicode.IsSpace(r) || unicode.Is(unicode.Sc, r) || r == '%'
			})
			return number != text && readable(number)
		}, fmt.Sprintf("they are numbers with a unit, a currency or a percent sign; in DuckDB: regexp_replace(%s, '[^-−+0-9.,]', '', 'g')", column)})
}

var (
	monthName = regexp.MustCompile(`(?i)^([0-9]{1,4}\W*)?(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\W*([0-9]{1,2}\W+)?[0-9]{2,4}$`)
	shortYear = regexp.MustCompile(`^[0-9]{1,2}[-./ ][0-9]{1,2}[-./ ][0-9]{1,2}$`)
	noDay     = regexp.MustCompile(`^([0-9]{4}[-./][0-9]{1,2}|[0-9]{1,2}[-./][0-9]{4})$`)
)

func dateCauses(c *schema.Column) (all []cause) {
	orders := [][]string{{"DD", "MM", "YYYY"}, {"MM", "DD", "YYYY"}, {"YYYY", "MM", "DD"}}
	declared := slices.IndexFunc(orders, func(o []string) bool {
		place := func(k int) int { return strings.Index(c.Date, o[k][:1]) }
		return place(0) < place(1) && place(1) < place(2)
	})
	if declared > 0 {
		orders[0], orders[declared] = orders[declared], orders[0]
	}
	for _, short := range []bool{false, true} {
		for _, order := range orders {
			for _, sign := range []string{".", "/", "-", " ", ""} {
				format := strings.Join(order, sign)
				if short {
					format = strings.NewReplacer("DD", "D", "MM", "M").Replace(format)
				}
				if sign != "" || !short {
					all = append(all, cause{func(text string) bool { _, ok := schema.ParseDate(format, text); return ok },
						"they are dates in another format: write format: " + format})
				}
			}
		}
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
		cause{monthName.MatchString, "they have names of months; in DuckDB: strptime(" + column + ", '" + layoutOf + "')::DATE"},
		cause{shortYear.MatchString, "they have years of two digits; in DuckDB, for which 69 is 1969 and 68 is 2068, with all_varchar = true for a CSV: strptime(" + column + ", '" + layoutOf + "')::DATE"},
		cause{noDay.MatchString, "they are months without a day; in DuckDB, for the first day: strptime(" + column + ", '" + layoutOf + "')::DATE"},
		cause{count(1, 0), "they count days since 1970-01-01: write days: true"},
		cause{count(1, 25569), "they count the days of a spreadsheet; in DuckDB: DATE '1899-12-30' + " + column + "::INTEGER"},
		cause{count(24*60*60, 0), "they count seconds since 1970-01-01; in DuckDB: to_timestamp(" + column + "::BIGINT)::DATE"},
		cause{count(24*60*60*1000, 0), "they count milliseconds since 1970-01-01; in DuckDB: epoch_ms(" + column + "::BIGINT)::DATE"})
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
