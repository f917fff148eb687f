// SPDX-License-Identifier: Apache-2.0

package librarytest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// patientColumns are those of an invented table as a hospital has it, with what its codebook says
// and a cell of it. Of those without a codebook's line nothing is said.
var patientColumns = []struct {
	name, book string
	cell       func(r *rand.Rand, ill bool) string
}{
	{"Fall-Nr", "ignored,,,,,", func(r *rand.Rand, _ bool) string { return fmt.Sprint(r.IntN(1e9)) }},
	{"patient_id", "", func(r *rand.Rand, _ bool) string { return fmt.Sprint("P", r.IntN(1e6)) }},
	{"Name", "", func(r *rand.Rand, _ bool) string { return []string{"Müller", "Ångström", "Nuñez"}[r.IntN(3)] }},
	{"Aufnahme", "ignored,,,,,", func(r *rand.Rand, _ bool) string { return fmt.Sprintf("%02d.03.2021", 1+r.IntN(28)) }},
	{"Entlassung", "ignored,,,,,", func(r *rand.Rand, _ bool) string { return fmt.Sprintf("%02d.04.2021", 1+r.IntN(28)) }},
	{"Âge", "integer,0,110,,,years", whole(20, 90)},
	{"Größe", "number,100,220,,,cm", func(r *rand.Rand, _ bool) string { return comma(150 + 50*r.Float64()) }},
	{"Gewicht", "number,20,250,,,kg", func(r *rand.Rand, _ bool) string { return comma(50 + 60*r.Float64()) }},
	{"Geschlecht", "category,,,m=male;w=female;d,,", oneOf("m", "w")},
	{"Raucher", "yes_no,,,,,", oneOf("J", "ja", "N", "no", "yes", "1", "")},
	{"Diagnose", "category,,,,,main code", oneOf("250.1", "25000", "410", "V27", "999", "486")},
	{"Nebendiagnose", "category,,,,,second code", oneOf("I10", "E11.9", "J44", "", "Z99")},
	{"Straße", "category,,,,,", func(r *rand.Rand, _ bool) string { return fmt.Sprint("Weg ", r.IntN(500)) }},
	{"Schmerz", "integer,0,10,,96;98,96 asleep; 98 refused", func(r *rand.Rand, ill bool) string {
		if r.IntN(4) == 0 {
			return map[bool]string{true: "96", false: "98"}[ill]
		}
		return fmt.Sprint(r.IntN(11))
	}},
	{"Fieber", "number,34,43,,,", func(r *rand.Rand, ill bool) string {
		if r.IntN(5) == 0 {
			return ""
		}
		return comma(map[bool]float64{true: 38.5, false: 37}[ill] + r.Float64())
	}},
	{"Puls", "integer,30,220,,999,", whole(50, 120)},
	{"Alter Besuche", "integer,0,50,,,", whole(0, 9)},
	{"Labor 1", "number,0,100,,,", whole(0, 99)}, {"Labor 2", "number,0,100,,,", whole(0, 99)},
	{"Labor 3", "number,0,100,,,", whole(0, 99)}, {"Labor 4", "number,0,100,,,", whole(0, 99)},
	{"Labor 5", "number,0,100,,,", whole(0, 99)}, {"Labor 6", "number,0,100,,,", whole(0, 99)},
	{"Labor 7", "number,0,100,,,", whole(0, 99)}, {"Labor 8", "number,0,100,,,", whole(0, 99)},
	{"Mittel A", "yes_no,,,,,", oneOf("yes", "no", "Nein")}, {"Mittel B", "yes_no,,,,,", oneOf("Y", "N")},
	{"Mittel C", "yes_no,,,,,", oneOf("0", "1")}, {"Mittel D", "yes_no,,,,,", oneOf("TRUE", "FALSE")},
	{"Mittel E", "yes_no,,,,,", oneOf("t", "f")}, {"Mittel F", "yes_no,,,,,", oneOf("Yes", "No")},
	{"Station", "category,,,A=surgery;B;C;D,,", oneOf("A", "B", "C", "D")},
	{"Kasse", "category,,,public;private,,", oneOf("public", "private", "none")},
	{"Anzahl OPs", "integer,0,12,,,", whole(0, 4)}, {"Anzahl Kinder", "integer,0,12,,,", whole(0, 4)},
	{"Skala 1", "integer,1,5,,9,", whole(1, 5)}, {"Skala 2", "integer,1,5,,9,", whole(1, 5)},
	{"Skala 3", "integer,1,5,,9,", whole(1, 5)},
	{"Anteil", "number,0,1,,,", func(r *rand.Rand, _ bool) string { return comma(r.Float64()) }},
	{"wieder da", "label,,,,,", func(r *rand.Rand, ill bool) string {
		if ill {
			return "<30"
		}
		return []string{">30", "NO"}[r.IntN(2)]
	}},
}

func oneOf(cells ...string) func(*rand.Rand, bool) string {
	return func(r *rand.Rand, _ bool) string { return cells[r.IntN(len(cells))] }
}

func whole(low, high int) func(*rand.Rand, bool) string {
	return oneOf(func() (out []string) {
		for k := low; k <= high; k++ {
			out = append(out, fmt.Sprint(k))
		}
		return out
	}()...)
}

func comma(x float64) string { return strings.Replace(fmt.Sprintf("%.2f", x), ".", ",", 1) }

// A table of 40 columns goes from its header and its codebook to an explanation by editing at most
// 30 lines of the draft.
func TestFromDraftToExplanation(t *testing.T) {
	if n := len(patientColumns); n != 40 {
		t.Fatalf("%d columns", n)
	}
	dir, r := t.TempDir(), rand.New(rand.NewPCG(40, 40))
	var names []string
	book := "name,type,lower,upper,levels,special,meaning\n"
	for _, c := range patientColumns {
		names = append(names, c.name)
		if c.book != "" {
			book += c.name + "," + c.book + "\n"
		}
	}
	data := "\ufeff" + strings.Join(names, ";") + "\n"
	for i := range 1500 {
		var cells []string
		for _, c := range patientColumns {
			cells = append(cells, c.cell(r, i%3 == 0))
		}
		data += strings.Join(cells, ";") + "\n"
	}
	path := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	table, codes := path("patienten.csv", data), path("codebook.csv", book)
	path("icd.csv", "code,level\n250*,diabetes\n410*,heart\nV*,birth\n486,lung\n")

	d := schema.Dialect{Delimiter: ';', Quote: '"', Header: true}
	header, err := dataset.ReadHeader(t.Context(), table, d)
	if err != nil || !slices.Equal(header, names) {
		t.Fatalf("header %q, error %v", header, err)
	}
	known, err := schema.ReadCodebook(codes)
	if err != nil {
		t.Fatal(err)
	}
	draft, err := schema.Draft(header, d, known, schema.DraftOptions{Role: "private"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = schema.Parse(draft)
	if steps := schema.ExplainFaults(err); !strings.HasPrefix(steps, "1. what one row is") {
		t.Errorf("what is missing: %s", steps)
	}

	// What someone types, line by line; a place is the first line after the column's name.
	lines, edited := strings.Split(string(draft), "\n"), map[int]bool{}
	edit := func(name, begins, with string) {
		from := 0
		if name != "" {
			from = slices.IndexFunc(lines, func(l string) bool {
				return strings.HasPrefix(l, "  - name: ") && strings.Contains(l, name)
			})
		}
		for i := max(from, 0); i < len(lines); i++ {
			if strings.HasPrefix(strings.TrimSpace(lines[i]), begins) {
				lines[i], edited[i] = with, true
				return
			}
		}
		t.Fatalf("no line of %q begins with %q", name, begins)
	}
	edit("", "name:", "name: patients")
	edit("", "unit:", "unit: one stay in hospital")
	edit("", "relation:", "relation: replace-one")
	edit("", "header:", "  header: true\n  decimal: \",\"")
	edit("", "trim:", "  trim: false")
	edit("", "missing:", "  missing: [\"\"]")
	edit("patient_id", "role:", "    role: ignored")
	edit("Name", "role:", "    role: ignored")
	edit("Raucher", "category:", "    category: {levels: [{value: ja, aliases: [J, yes, \"1\"]}, "+
		"{value: nein, aliases: [N, no]}], missing: true}")
	edit("Diagnose", "category:", "    category: {levels: {file: icd.csv}, missing: true}")
	edit("Nebendiagnose", "category:", "    category: {levels: [{value: diabetes, prefixes: [E1]}, I10], missing: true}")
	edit("Straße", "category:", "    category: {buckets: 16}")
	edit("wieder da", "role:", "    role: public")
	edit("wieder da", "label:", "    label: {positive: [\"<30\"], negative: [\">30\", \"NO\"], default: \">30\"}")
	if len(edited) > 30 {
		t.Errorf("%d lines edited", len(edited))
	}
	t.Logf("%d lines edited", len(edited))

	s, err := discreet.LoadSchema(path("patienten.yaml", strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	rows, err := discreet.ReadTable(ctx, s, table)
	if err != nil {
		t.Fatal(err)
	}
	m, err := discreet.Train(ctx, rows, discreet.Options{Epsilon: 20, Account: discreet.Uncounted})
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Explain()
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := e.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">Fieber<", ">Schmerz<", ">96</text>", ">98</text>", ">missing</text>"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, secret := range []string{"Müller", "patient_id", "Fall-Nr"} {
		if strings.Contains(page.String(), secret) {
			t.Errorf("the page has %s", secret)
		}
	}
}
