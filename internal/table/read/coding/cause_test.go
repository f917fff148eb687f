// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// misfits are texts, separated by |, of one cell each, beside so many cells that fit.
func misfits(texts string, fit int) Misfits {
	all := strings.Split(texts, "|")
	return Misfits{Texts: all, Cells: len(all), Fit: fit}
}

// Where most cells fit, no mend breaks them.
func TestMendsSpareWhatFits(t *testing.T) {
	date := func(format string) schema.Column {
		return schema.Column{Name: "seen", Kind: schema.Number, Date: format, Since: 17897, Upper: 2191} // 2019 to 2024
	}
	amount, german := schema.Column{Name: "amount", Kind: schema.Number, Upper: 1}, schema.Dialect{Decimal: ',', Thousands: '.'}
	const keep = "most cells are not: write them as those are written"
	for _, row := range []struct {
		column schema.Column
		d      schema.Dialect
		texts  string
		each   int // cells of each text
		want   string
		fits   string // a text that fits
	}{
		{date("D.M.YYYY"), schema.Dialect{}, "9999-12-31", 9, "they stand for no day: write special: [9999-12-31] for this date, or add them to missing under file", ""},
		{date("D.M.YYYY"), schema.Dialect{}, "9999-12-31", 500, "special: [9999-12-31]", ""}, // of 1,000 cells
		{date("D.M.YYYY"), schema.Dialect{}, "1900-01-01|9999-12-31", 9, "special: [1900-01-01, 9999-12-31]", ""},
		{date("YYYY-MM-DD"), schema.Dialect{}, "31.12.9999", 9, `add "31.12.9999" to missing under file`, ""},
		{date("YYYY-MM-DD"), schema.Dialect{}, "00.00.0000|99999999", 9, `add "00.00.0000", "99999999" to missing`, ""},
		{date("YYYY-MM-DD"), schema.Dialect{}, "06.06.2066", 90, "many cells repeat 1 text: if it stands for a missing cell, add it to missing under file, or the day to special", ""},
		{date("YYYY-MM-DD"), schema.Dialect{}, "open|dead", 90, "many cells repeat 2 texts", ""},
		{date("YYYY-MM-DD"), schema.Dialect{}, "6/13/2022", 2, "another format, M/D/YYYY; " + keep, ""},
		{date("YYYY-MM-DD"), schema.Dialect{}, "5/1/2022", 2, "D/M/YYYY and M/D/YYYY both fit; " + keep, ""},
		{date("MM/DD/YYYY"), schema.Dialect{}, "13/01/2022|14/07/2022", 2, "they are DD/MM/YYYY, and cells that fit MM/DD/YYYY may be so, too: who made the table", ""},
		{date("YYYY-MM-DD"), schema.Dialect{}, "3 Jan 2021", 2, "names of months; " + keep, ""},
		{date("YYYY-MM-DD"), schema.Dialect{}, "44380", 2, "days of a spreadsheet; " + keep, ""},
		{date("YYYY-MM-DD"), schema.Dialect{}, "18811", 2, "write days: true", ""},
		{date("YYYYMMDD"), schema.Dialect{}, "18811", 2, keep, ""},
		{amount, schema.Dialect{}, "1,5|2,75", 2, "another spelling; " + keep, "2.5"},
		{amount, schema.Dialect{}, "1,5|2,75", 2, `write decimal: "," under file`, "12"},
		{amount, german, "1.5|2.75", 2, keep, "1.000,5"},
		{amount, german, "1'234,5", 2, keep, "1.000"},
		{amount, schema.Dialect{}, "1,234.5", 2, `write thousands: "," under file`, "2.5"},
		{amount, schema.Dialect{}, "12-", 2, "write minus: trailing", "-2.5"},
		{amount, schema.Dialect{}, "k.A.", 90, "many cells repeat 1 text", "2.5"},
		{amount, schema.Dialect{}, "x|y", 2, "", "2.5"},
	} {
		s := &schema.Schema{Dialect: row.d, Columns: []schema.Column{row.column}, Label: schema.Label{Name: "y"}}
		m := misfits(row.texts, 0)
		m.Cells *= row.each
		m.Fit = 1001 - m.Cells
		m.Read = []string{"7", row.fits}
		if got := CauseOf(s, row.column.Name, m); !strings.Contains(got, row.want) || row.want == "" && got != "" {
			t.Errorf("%s, %q: %s\nwant %s", row.column.Date, row.texts, got, row.want)
		}
	}
}

// The label's mends name yes_no where it reads all, and aliases elsewhere.
func TestMendsOfLabels(t *testing.T) {
	for _, row := range []struct {
		levels, texts string
		want          string
	}{
		{"0|1", "Yes|No", "write levels: yes_no"}, {"0|1", "Y|n", "yes_no"}, {"no|yes", "0|1", "yes_no"}, {"Yes|No", "True|False", "yes_no"},
		{"true|false", "YES|NO", "yes_no"}, {"1|0", "T|F", "yes_no"}, {"no|yes", "No|Yes", "other letter case"},
		{"Ja|Nein", "yes|no", `{value: "Ja", aliases: [...]} and {value: "Nein"`}, {"dead|alive", "0|1", `aliases: [...]`},
		{"0|1", "Ja|Nein", "no level is spelt so: declare each text as an alias"}, {"a|b|c", "1|2", "no level is spelt so"},
	} {
		s := &schema.Schema{Label: schema.Label{Name: "y", Levels: levels(strings.Split(row.levels, "|")...)}}
		if got := CauseOf(s, "y", misfits(row.texts, 0)); !strings.Contains(got, row.want) {
			t.Errorf("levels %s, texts %s: %s, want %s", row.levels, row.texts, got, row.want)
		}
		if got := CauseOf(s, "y", misfits("typing error", 9)); got != "" {
			t.Errorf("of one cell: %s", got)
		}
	}
}

// Each way in which texts do not fit has its mend, also among texts that fit no other way.
func TestCausesAndMends(t *testing.T) {
	date := func(format string) schema.Column {
		return schema.Column{Name: "seen", Kind: schema.Number, Date: format, Since: 17897, Upper: 2191} // 2019 to 2024
	}
	amount, ward := schema.Column{Name: "amount", Kind: schema.Number, Upper: 1}, schema.Column{Name: "ward", Kind: schema.Category,
		Levels: []schema.Level{{Value: "Zürich", Aliases: []string{"ZH"}}, {Value: "01"}, {Value: "no"}}}
	german := schema.Dialect{Decimal: ',', Delimiter: ';'}
	for _, row := range []struct {
		column schema.Column
		d      schema.Dialect
		texts  string // separated by |
		want   string
	}{
		{amount, schema.Dialect{}, "amount|Amount", `they repeat the header; in DuckDB: WHERE "amount" IS DISTINCT FROM 'amount'`},
		{amount, schema.Dialect{}, "1,234.50|-2,345.60|x", `write thousands: "," under file`},
		{amount, schema.Dialect{}, "1,234|2,345", `write thousands: "," under file`},
		{amount, schema.Dialect{}, "1,234|2,5|3,75", `write decimal: "," under file`},
		{amount, schema.Dialect{}, "1.234,50|1,5", `write thousands: ".", decimal: "," under file`},
		{amount, schema.Dialect{}, "1'234.50", `write thousands: "'" under file`},
		{amount, schema.Dialect{}, "1\u00a0234.50", `write thousands: " " under file`},
		{amount, schema.Dialect{}, "1 234,50|5,5", `write thousands: " ", decimal: "," under file`},
		{amount, german, "1.234,50|2.345", `write thousands: "." under file`},
		{amount, german, "1,234.50|1.5", `write thousands: ",", decimal: "." under file`},
		{amount, schema.Dialect{}, "12-|15.5-", `write minus: trailing under file`},
		{amount, schema.Dialect{}, "1,234.50-|1,234.5", `write thousands: ",", minus: trailing under file`},
		{amount, schema.Dialect{}, "(12.5)|(1,234)", `negative numbers in brackets; in DuckDB: regexp_replace("amount", '^\((.*)\)$', '-\1')`},
		{amount, schema.Dialect{}, "12 %|15.5%", `in DuckDB: regexp_replace("amount", '[^-−+0-9.,]', '', 'g')`},
		{amount, schema.Dialect{}, "$12|€ 1,000", `a unit, a currency or a percent sign`},
		{amount, schema.Dialect{}, " 12|13 ", `write trim: true under file`},
		{date("YYYY-MM-DD"), schema.Dialect{}, " 2021-07-03", `write trim: true under file`},
		{amount, schema.Dialect{}, "12 kg|x|y", `a unit, a currency or a percent sign`},
		{amount, schema.Dialect{}, "N/A|n/a|x", `add "n/a", as it is spelt there, to missing under file`},
		{amount, schema.Dialect{}, "1\x002\x00", `they hold NUL characters; in DuckDB: replace("amount", chr(0), '')`},
		{amount, schema.Dialect{}, "x|y", ``},
		{ward, schema.Dialect{}, "Z\xfcrich|K\xf6ln", `write encoding: windows-1252, or another one, under file`},
		{ward, schema.Dialect{}, "ZÃ¼rich|x", `UTF-8 that was read as Windows-1252`},
		{ward, schema.Dialect{}, "ward|x", `repeat the header`},
		{ward, schema.Dialect{}, "NO|zürich|Genf", `other letter case`},
		{ward, schema.Dialect{}, " no|ZH ", `write trim: true under file`},
		{ward, schema.Dialect{}, `"no"|'ZH'`, `in DuckDB: trim("ward", '"''')`},
		{ward, schema.Dialect{}, `'01|'no`, ``},
		{ward, schema.Dialect{}, "1", `without the zeros in front; in DuckDB: lpad("ward"::VARCHAR, greatest(2, length("ward"::VARCHAR))::INTEGER, '0')`},
		{ward, schema.Dialect{}, "Genf", ``},
		{date("DD.MM.YYYY"), schema.Dialect{}, "3.7.2021|12.11.2021", `D.M.YYYY and M.D.YYYY both fit`},
		{date("DD.MM.YYYY"), schema.Dialect{}, "3.7.2021|13.11.2021", `write format: D.M.YYYY`},
		{date("DD.MM.YYYY"), schema.Dialect{}, "2021-07-03", `write format: YYYY-MM-DD`},
		{date("DD.MM.YYYY"), schema.Dialect{}, "03/07/2021|04/07/2021", `DD/MM/YYYY and MM/DD/YYYY both fit: who made the table must say which it is. Write that format`},
		{date("MM.DD.YYYY"), schema.Dialect{}, "03/07/2021|04/07/2021", `DD/MM/YYYY and MM/DD/YYYY both fit`},
		{date("YYYY-MM-DD"), schema.Dialect{}, "05/07/2023|11/10/2023|x", `DD/MM/YYYY and MM/DD/YYYY both fit`},
		{date("YYYY-MM-DD"), schema.Dialect{}, "5.7.2023|11.10.2023", `D.M.YYYY and M.D.YYYY both fit`},
		{date("YYYY-MM-DD"), schema.Dialect{}, "05072023", `DDMMYYYY and MMDDYYYY both fit`},
		{schema.Column{Name: "seen", Kind: schema.Number, Date: "DD.MM.YYYY", Since: 14610, Upper: 2191}, schema.Dialect{}, "20101105|20120102", `write format: YYYYMMDD`},
		{date("YYYY-MM-DD"), schema.Dialect{}, "05/07/2023|13/07/2023", `write format: DD/MM/YYYY`},
		{date("YYYY-MM-DD"), schema.Dialect{}, "05/07/2023|07/13/2023", `write format: MM/DD/YYYY`},
		{date("DD.MM.YYYY"), schema.Dialect{}, "7/3/2021 8:15|7/31/2021 8:15|7/4/2021 8:15", `write format: M/D/YYYY`},
		{date("YYYY-MM-DD"), schema.Dialect{}, "20210703|20211231", `write format: YYYYMMDD`},
		{date("DD.MM.YYYY"), schema.Dialect{}, "3 Jan 2021|14 Feb 2021", `names of months; in DuckDB: strptime("seen", '%d %b %Y')::DATE`},
		{date("YYYY-MM-DD"), schema.Dialect{}, "January 3, 2021", `strptime("seen", '%B %d, %Y')::DATE`},
		{date("YYYY-MM-DD"), schema.Dialect{}, "03JAN2021", `strptime("seen", '%d%b%Y')::DATE`},
		{date("YYYY-MM-DD"), schema.Dialect{}, "Jan 2021", `strptime("seen", '%b %Y')::DATE`},
		{date("YYYY-MM-DD"), schema.Dialect{}, "3. May '21", `strptime("seen", '%d. %b ''%y')::DATE`},
		{date("YYYY-MM-DD"), schema.Dialect{}, "maybe|decided in 2021 or so", ``},
		{date("YYYY-MM-DD"), schema.Dialect{}, "03-JAN-21", `strptime("seen", '%d-%b-%y')::DATE`},
		{date("DD.MM.YYYY"), schema.Dialect{}, "03.07.21", `years of two digits; in DuckDB, for which 69 is 1969 and 68 is 2068, with all_varchar = true for a CSV: strptime("seen", '%d.%m.%y')::DATE`},
		{date("YYYY-MM-DD"), schema.Dialect{}, "7/3/21", `strptime("seen", '%m/%d/%y')::DATE`},
		{date("YYYY-MM-DD"), schema.Dialect{}, "21-07-03", `strptime("seen", '%y-%m-%d')::DATE`},
		{date("YYYY-MM-DD"), schema.Dialect{}, "2021-07|2021-08", `months without a day; in DuckDB, for the first day: strptime("seen", '%Y-%m')::DATE`},
		{date("YYYY-MM-DD"), schema.Dialect{}, "7/2021", `strptime("seen", '%m/%Y')::DATE`},
		{date("YYYY-MM-DD"), schema.Dialect{}, "18811|18812.0", `count days since 1970-01-01: write days: true`},
		{date("YYYY-MM-DD"), schema.Dialect{}, "44380|44381", `in DuckDB: DATE '1899-12-30' + "seen"::INTEGER`},
		{date("YYYY-MM-DD"), schema.Dialect{}, "1625270400", `in DuckDB: to_timestamp("seen"::BIGINT)::DATE`},
		{date("YYYY-MM-DD"), schema.Dialect{}, "1625270400000", `in DuckDB: epoch_ms("seen"::BIGINT)::DATE`},
		{date("YYYY-MM-DD"), schema.Dialect{}, "Seen", `repeat the header`},
		{date("YYYY-MM-DD"), schema.Dialect{}, "soon", ``},
	} {
		s := &schema.Schema{Dialect: row.d, Columns: []schema.Column{row.column}, Label: schema.Label{Name: "y"}}
		got := CauseOf(s, row.column.Name, misfits(row.texts, 0))
		if !strings.Contains(got, row.want) || row.want == "" && got != "" {
			t.Errorf("%q: %s\nwant %s", row.texts, got, row.want)
		}
	}
	odd := date("YYYY-MM-DD")
	odd.Name = `100 %s of "it"`
	s := &schema.Schema{Columns: []schema.Column{odd}}
	if got := CauseOf(s, odd.Name, misfits("2021-07", 0)); !strings.Contains(got, `strptime("100 %s of ""it""", '%Y-%m')::DATE`) {
		t.Errorf("of an odd name: %s", got)
	}
	s = &schema.Schema{Label: schema.Label{Name: "y", Levels: ward.Levels}}
	if got := CauseOf(s, "y", misfits("NO|x", 0)); !strings.Contains(got, "other letter case") {
		t.Errorf("of a label: %q", got)
	}
	if got := CauseOf(s, "y", Misfits{Fit: 9}); got != "" {
		t.Errorf("of no text: %q", got)
	}
}
