// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// Each day of four hundred years is read as it is written, and its parts are those of the calendar.
func TestDatesAgreeWithTheCalendar(t *testing.T) {
	const format, since = "DD.MM.YYYY", 10_957 // 2000-01-01
	for at := time.Date(1800, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2200; at = at.AddDate(0, 0, 17) {
		cell := at.Format("02.01.2006")
		days, ok := ParseDate(format, cell)
		if !ok || FormatDate(format, days) != cell {
			t.Fatalf("%s is read as day %d, %v", cell, days, ok)
		}
		weekday := map[bool]int{true: 7, false: int(at.Weekday())}[at.Weekday() == time.Sunday]
		x := float64(days - since)
		if DatePart(Year, since, x) != float64(at.Year()) || DatePart(Month, since, x) != float64(at.Month()) ||
			DatePart(Weekday, since, x) != float64(weekday) {
			t.Fatalf("%s has parts %g, %g, %g", cell, DatePart(Year, since, x), DatePart(Month, since, x),
				DatePart(Weekday, since, x))
		}
	}
	if days, _ := ParseDate("YYYY-MM-DD", "2000-01-01"); days != since {
		t.Errorf("2000-01-01 is day %d", days)
	}
}

func TestCellsThatAreNoDates(t *testing.T) {
	for cell, want := range map[string]bool{
		"2024-02-29": true, "2023-02-29": false, "2024-13-01": false, "2024-00-10": false, "2024-1-01": false,
		"2024-01-01 13:30": true, "2024-01-01T13:30:00Z": true, "2024-01-011": false, "": false, "0000-01-01": false,
		"2024/01/01": false, "٢٠٢٤-01-01": false, "2024-01-": false,
	} {
		if _, ok := ParseDate("YYYY-MM-DD", cell); ok != want {
			t.Errorf("%q: %v", cell, ok)
		}
	}
	if _, ok := ParseDate("YYYYMMDD", "20240229"); !ok {
		t.Error("a date without signs between was refused")
	}
}

// Texts that are nearly dates are read as the standard library reads them.
func TestDatesAgreeWithTheLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	read := 0
	for _, format := range []string{"DD.MM.YYYY", "D.M.YYYY", "M/D/YYYY", "YYYY-M-D", "D.MM.YYYY", "YYYYMMDD", "YYYYMM-D", "M-D-YYYY."} {
		layout := dateLetters.Replace(format)
		for range 2000 {
			cell := []byte(FormatDate(format, rng.IntN(40_000)))
			for range rng.IntN(3) {
				at := rng.IntN(len(cell))
				cell = slices.Replace(cell, at, at+rng.IntN(2), "0123456789.-/x"[rng.IntN(14)])
			}
			want, err := time.Parse(layout, string(cell))
			wantOK := err == nil && want.Year() > 0
			days, rest, ok := CutDate(format, cell)
			if ok = ok && len(rest) == 0; ok != wantOK || ok && int64(days)*secondsOfDay != want.Unix() {
				t.Fatalf("%s as %s is day %d, %v; want %v, %v", cell, format, days, ok, want, err)
			}
			if ok {
				read++
			}
		}
	}
	if read < 5000 {
		t.Errorf("only %d texts are dates", read)
	}
}

// One letter stands for one or two digits.
func TestDatesWithoutZeros(t *testing.T) {
	for _, c := range []struct{ format, cell, want string }{
		{"D.M.YYYY", "3.7.2021", "2021-07-03"}, {"D.M.YYYY", "03.07.2021", "2021-07-03"}, {"D.M.YYYY", "31.12.2021", "2021-12-31"},
		{"M/D/YYYY", "7/3/2021", "2021-07-03"}, {"M/D/YYYY", "12/31/2021 8:15", "2021-12-31"}, {"YYYY-M-D", "2021-7-3T08:15:00Z", "2021-07-03"},
		{"D.MM.YYYY", "3.07.2021", "2021-07-03"}, {"D.MM.YYYY", "3.7.2021", ""}, {"YYYYMM-D", "202107-3", "2021-07-03"},
		{"D.M.YYYY.", "3.7.2021.", "2021-07-03"}, {"D.M.YYYY", "003.7.2021", ""}, {"D.M.YYYY", ".7.2021", ""}, {"D.M.YYYY", "3.13.2021", ""},
		{"D.M.YYYY", "3.7.21", ""}, {"D.M.YYYY", "3.7.20211", ""}, {"YYYY-M-D", "2021-7-", ""}, {"YYYY-M-D", "2021-7-301", ""},
	} {
		days, ok := ParseDate(c.format, c.cell)
		if ok != (c.want != "") || ok && FormatDate("YYYY-MM-DD", days) != c.want {
			t.Errorf("%s as %s is %s, %v", c.cell, c.format, FormatDate("YYYY-MM-DD", days), ok)
		}
	}
	if got := FormatDate("D.M.YYYY", 18811); got != "3.7.2021" {
		t.Errorf("day 18811 is written %s", got)
	}
}

const datedText = `name: visits
unit: one visit
relation: replace-one
file: {delimiter: ",", quote: "", header: true}
columns:
  - {name: in, role: private, date: {format: DD.MM.YYYY, lower: 2015-01-01, upper: 2024-12-31, default: 2020-06-01}}
  - {name: out, role: private, date: {format: D/M/YYYY, lower: 2015-01-01, upper: 2024-12-31, default: 2020-06-01,
      special: [9999-12-31, 1899-12-30], zone: Europe/Berlin, days: true}}
  - {name: born, role: public, date: {format: YYYYMMDD, lower: 1900-01-01, upper: 2020-12-31, since: 2000-01-01}}
  - {name: y, role: public, label: {levels: [n, p], positive: p}}
derived:
  - {name: year, year: [in]}
  - {name: month of birth, month: [born]}
  - {name: day, weekday: [in]}
`

func TestDatesInASchema(t *testing.T) {
	s, err := Parse([]byte(datedText))
	if err != nil {
		t.Fatal(err)
	}
	checkRoundTrip(t, s)
	a, out, b := s.Columns[0], s.Columns[1], s.Columns[2]
	if out.Zone != "Europe/Berlin" || !out.Days || out.Marks() != 2 || out.Special[0] != 2916460 || out.MarkName(1) != "9999-12-31" ||
		out.MarkName(2) != "1899-12-30" {
		t.Errorf("the date with a zone is %+v", out)
	}
	if a.Lower != 0 || a.Upper != 3652 || *a.Default != 1978 || a.Kind != Number || b.Lower != -36524 || b.Default != nil {
		t.Errorf("dates are %+v and %+v", a, b)
	}
	year, month, day := s.Columns[3], s.Columns[4], s.Columns[5]
	if year.Lower != 2015 || year.Upper != 2024 || year.Role != Private || month.Role != Public || month.Upper != 12 ||
		day.Upper != 7 {
		t.Errorf("parts are %+v, %+v and %+v", year, month, day)
	}
}

func TestDatesRefused(t *testing.T) {
	for old, c := range map[string]struct{ with, want string }{
		"format: DD.MM.YYYY":          {"format: DD.MMM.YY", "must have YYYY, MM and DD once each"},
		"format: DD.MM":               {"format: DDM", "if - . / or a space stands on both sides"},
		"{format: DD.MM.":             {"{format: D.D.", "must have YYYY, MM and DD once each"},
		"2024-12-31, default":         {"2024-12-31, special: [99991231], default", "special must be a day like 2015-01-01"},
		"12-31, default: 2020":        {"12-31, special: [2030-01-01, 2030-01-01], default: 2020", "special must list each once"},
		"since: 2000-01-01}":          {"since: 2000-01-01, special: [9999-12-31]}", "must be given for a private date, and with missing or special"},
		"2020-12-31, since":           {"2020-12-31, zone: Mars/Olympus, since", "zone must be a name of the IANA time zone database"},
		"upper: 2020-12-31":           {"upper: 2020-12-31, zone: Local", "zone must be a name of the IANA"},
		"lower: 1900-01-01":           {"lower: 1900-01-01, days: true", "days must not be combined with a format of digits alone"},
		"upper: 2024-12-31":           {"upper: 2014-12-31", "must be before upper"},
		"lower: 2015-01-01":           {"lower: 01.01.2015", "must be a day like 2015-01-01"},
		", default: 2020-06-01":       {"", "must be given for a private date"},
		"default: 2020-06-01":         {"default: 2030-06-01", "must lie within lower and upper"},
		"year: [in]":                  {"year: [in, born]", "must list one column of dates"},
		"month: [born]":               {"largest: [in, born]", "must list numbers that are no dates"},
		"since: 2000-01-01":           {"since: never", "must be a day like 2015-01-01"},
		"role: private, date":         {"role: private, category: {levels: [a]}, date", "must not be combined"},
		"date: {format: YYYYMMDD":     {"date: {format: YYYYMMDD, integer: true", "must be one of those known here"},
		"label: {levels: [n, p]":      {"date: {format: YYYYMMDD}, label: {levels: [n, p]", "must not be combined with label"},
		"{name: day, weekday: [in":    {"{name: day, weekday: [nobody", "must list columns of the file"},
		"default: 2020-06-01}}\n  - ": {"default: 2020-06-01, missing: perhaps}}\n  - ", "missing"},
	} {
		_, err := Parse([]byte(strings.Replace(datedText, old, c.with, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.with, err)
		}
	}
}
