// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
)

// Codebook contains facts about columns from documentation, by name. The facts come from the publisher
// of the table, never from its rows.
type Codebook map[string]Entry

// Entry contains a codebook's facts about one column; an empty field means no fact.
type Entry struct {
	Meaning, Role, Type string
	lower, upper        float64     // NaN if not given
	first, last         string      // the bounds of a date
	levels              [][2]string // values and meanings
	special             []*node     // numbers, or days of a date
	format              string      // format of dates
	buckets             int         // 0 if not given
	yesNo               bool        // of a label: its levels are yes_no
	positive, absent    string      // of a label: the positive class, and that of unreadable labels
	guessed             bool        // from the column's type in a file: the column may be the label
}

// typeEntry returns the entry for a column's type in its file, one of the types of codebooks. It
// assumes dates like 2015-01-01.
func typeEntry(kind string) Entry {
	return Entry{Type: kind, lower: math.NaN(), upper: math.NaN(), format: isoDate, guessed: true}
}

// SampleEntry returns the entry for a column's cells in a public sample: bounds if all are numbers,
// otherwise every value. It has no levels if there are too many values (over MaxSampled), none, or
// values that cannot be printed.
func SampleEntry(values []string) Entry {
	e := typeEntry("integer")
	for _, v := range values {
		x, bad := readBound(v)
		if bad {
			e.Type = "category"
			break
		}
		if x != math.Trunc(x) {
			e.Type = "number"
		}
		if !(e.lower <= x) {
			e.lower = x
		}
		if !(e.upper >= x) {
			e.upper = x
		}
	}
	switch {
	case len(values) == 0:
		e.Type = ""
	case e.Type == "category":
		e.lower, e.upper = math.NaN(), math.NaN()
		for _, v := range slices.Compact(slices.Sorted(slices.Values(values))) {
			e.levels = append(e.levels, [2]string{v, ""})
		}
		if len(e.levels) > MaxSampled || slices.ContainsFunc(values, func(v string) bool {
			return strings.ContainsFunc(v, isHidden)
		}) {
			e.levels = nil
		}
	case e.lower == e.upper:
		e.lower, e.upper = math.NaN(), math.NaN()
	}
	return e
}

// MaxSampled is the largest number of levels that a sample can propose.
const MaxSampled = 100

// SampleWarning is written before a draft that contains values of a sample.
const SampleWarning = `# WARNING: bounds, defaults and levels were READ FROM THE ROWS of a sample.
# They are published with this schema and no guarantee covers them. Go on only if every row of the
# sample is public already; else delete this file. Values that the sample lacks are missing here.
#
`

// Complete adds the entries of says for columns whose content the codebook does not describe.
func (b Codebook) Complete(says Codebook) {
	for name, more := range says {
		e, known := b[name]
		bounded := !math.IsNaN(e.lower) || !math.IsNaN(e.upper) || e.first != ""
		if known && bounded && (e.Type == "" && more.Type == "integer" || e.Type == more.Type) {
			e.Type, e.format = more.Type, more.format // finer than bounds alone
			b[name] = e
		}
		if known && (e.Type != "" || len(e.levels) > 0 || bounded || e.buckets > 0) {
			continue
		}
		more.Meaning, more.Role = e.Meaning, e.Role
		b[name] = more
	}
}

// AddTypes adds types, in the terms of a codebook, for columns whose content the codebook does not
// describe.
func (b Codebook) AddTypes(types map[string]string) Codebook {
	if b == nil {
		b = Codebook{}
	}
	says := Codebook{}
	for name, kind := range types {
		if kind != "" {
			says[name] = typeEntry(kind)
		}
	}
	b.Complete(says)
	return b
}

// ReadTypes reads types for AddTypes from a codebook. It ignores the codebook's other facts.
func ReadTypes(path string) (map[string]string, error) {
	book, err := ReadCodebook(path)
	types := map[string]string{}
	for name, e := range book {
		types[name] = e.Type
	}
	return types, err
}

// codebookKeys are the columns of a codebook.
var codebookKeys = []string{"name", "meaning", "role", "type", "lower", "upper", "levels", "special", "buckets"}

// types are the types of columns in a codebook.
var types = []string{"number", "integer", "date", "category", "yes_no", "label", "ignored"}

// ReadCodebook reads a codebook: CSV with a header of some of the columns name, meaning, role, type,
// lower, upper, levels, special and buckets. name is required. levels are separated by semicolons,
// each a value or value=meaning; special holds numbers in the same form. A codebook may also be JSON, in
// which a level may hold any character (see parseJSON). A fault is a *dp.ParamError with the line, or the
// number of the entry. It quotes nothing of the file, which may be a person's table.
func ReadCodebook(path string) (Codebook, error) {
	f, err := openfile.Regular(path)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	defer f.Close()
	return ParseCodebook(f)
}

// ParseCodebook is ReadCodebook for the text of a codebook.
func ParseCodebook(text io.Reader) (Codebook, error) {
	start := bufio.NewReader(io.LimitReader(text, MaxBytes))
	if first, _ := start.Peek(1); string(first) == "{" {
		return parseJSON(start)
	}
	in := csv.NewReader(start)
	refuse := func(want string) (Codebook, error) {
		line, _ := in.FieldPos(0)
		return nil, &dp.ParamError{Op: "schema init", Param: fmt.Sprintf("codebook line %d", line), Want: want,
			Hint: "a codebook is CSV with the header " + strings.Join(codebookKeys, ",") + ", of which only name is needed"}
	}
	head, err := in.Read()
	if err != nil {
		return nil, &dp.ParamError{Op: "schema init", Param: "codebook", Want: "must be CSV with a header"}
	}
	head[0] = strings.TrimPrefix(head[0], "\ufeff")
	for i, key := range head {
		if head[i] = strings.ToLower(strings.TrimSpace(key)); !slices.Contains(codebookKeys, head[i]) ||
			slices.Contains(head[:i], head[i]) {
			return refuse(fmt.Sprintf("must name known columns once in its header (the %d. is another)", i+1))
		}
	}
	if !slices.Contains(head, "name") {
		return refuse("must have a column name")
	}
	book := Codebook{}
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return book, nil
		}
		if err != nil {
			return nil, &dp.ParamError{Op: "schema init", Param: "codebook", Want: "must have the same number of cells in " +
				"each line, quoted if they contain commas"}
		}
		name, entry, want := readEntry(head, record)
		if _, twice := book[name]; twice {
			want = "must name each column once"
		}
		if want != "" {
			return refuse(want)
		}
		book[name] = entry
	}
}

// readEntry reads one line of a codebook; want describes a fault.
func readEntry(head, record []string) (name string, e Entry, want string) {
	e.lower, e.upper = math.NaN(), math.NaN()
	number, days := false, false // what bounds and special values are
	for i, cell := range record {
		cell = strings.TrimSpace(cell)
		if strings.ContainsFunc(cell, isHidden) {
			return name, e, "must hold no line breaks or other control characters"
		}
		if cell == "" {
			continue
		}
		bad := false
		switch head[i] {
		case "name":
			name = cell
		case "meaning":
			e.Meaning = cell
		case "role":
			e.Role, bad = cell, !slices.Contains([]string{"private", "public", "ignored"}, cell)
		case "type":
			e.Type, bad = cell, !slices.Contains(types, cell)
		case "lower":
			e.lower, e.first, bad = readEdge(cell)
		case "upper":
			e.upper, e.last, bad = readEdge(cell)
		case "levels":
			for part := range strings.SplitSeq(cell, ";") {
				value, meaning, _ := strings.Cut(part, "=")
				e.levels = append(e.levels, [2]string{strings.TrimSpace(value), strings.TrimSpace(meaning)})
			}
		case "special":
			for part := range strings.SplitSeq(cell, ";") {
				x, day, unread := readEdge(strings.TrimSpace(part))
				code := numberNode(x)
				if day != "" {
					code, days = &node{form: plain, text: day}, true
				} else {
					number = true
				}
				e.special, bad = append(e.special, code), bad || unread
			}
		case "buckets":
			n, err := strconv.Atoi(cell)
			e.buckets, bad = n, err != nil || n < 1
		}
		if bad {
			return name, e, "must have a known value of " + head[i] + ": roles are private, public, ignored; types " +
				strings.Join(types, ", ") + "; bounds are numbers, of dates days like 2015-01-01; buckets are a whole number"
		}
	}
	isDate := e.Type == "date"
	number = number || !math.IsNaN(e.lower) || !math.IsNaN(e.upper)
	switch days = days || e.first != "" || e.last != ""; {
	case name == "":
		want = "must name its column"
	case isDate && number, days && !isDate:
		want = "must have bounds and special values like 2015-01-01 if the type is date, and only then"
	}
	return name, e, want
}

// readEdge reads a bound: a number, or a day in the format of schemas.
func readEdge(cell string) (x float64, day string, bad bool) {
	if _, ok := ParseDate(isoDate, cell); ok && len(cell) == len(isoDate) {
		return math.NaN(), cell, false
	}
	x, bad = readBound(cell)
	return x, "", bad
}

func readBound(cell string) (x float64, bad bool) {
	x, err := strconv.ParseFloat(cell, 64)
	return x, err != nil || !(math.Abs(x) <= maxNumber)
}

// fitting returns the proposal if cells of the entry's type can be what it declares, else "": a month that is text
// is no number from 1 to 12.
func (e *Entry) fitting(proposal string) string {
	kind, _, _ := strings.Cut(proposal, ":")
	isNumber := e.Type == "number" || e.Type == "integer"
	codes := strings.Contains(proposal, `"`) // digits, which numbers are read as
	switch {
	case e.Type == "", kind == "number" && isNumber, kind == "category" && (e.Type == "category" || isNumber && codes),
		proposal == Identifier:
		return proposal
	}
	return ""
}

// write writes the entry as lines of a template, with the options d. labelled is set if another column
// is known to be the label.
func (e *Entry) write(name string, d *DraftOptions, labelled bool) string {
	role := d.Role
	if e.Role != "" {
		role = e.Role
	}
	proposal := ""
	if e.guessed {
		proposal = e.fitting(Propose(name))
	}
	if e.Type == "ignored" || proposal == Identifier && d.AcceptNames {
		role = "ignored"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "  - name: %s", flowText(textNode(name)))
	if e.Meaning != "" {
		fmt.Fprintf(&b, " # %s", e.Meaning)
	}
	fmt.Fprintf(&b, "\n    role: %s\n", role)
	if role == "ignored" {
		return b.String()
	}
	levels, meanings := &node{form: list}, []string(nil)
	for _, l := range e.levels {
		levels.items = append(levels.items, textNode(l[0]))
		if l[1] != "" {
			meanings = append(meanings, l[0]+" "+l[1])
		}
	}
	listed := "[___, ___]"
	if len(levels.items) > 0 {
		listed = flowText(levels)
	}
	if proposal != "" && d.AcceptNames {
		return b.String() + "    " + proposal + "  # by the name alone\n"
	}
	b.WriteString(commentProposal(proposal))
	switch {
	case e.Type == "label":
		b.WriteString("    " + e.label(listed) + "\n")
	case e.Type == "date":
		b.WriteString("    " + e.date() + "\n")
	case e.Type == "yes_no":
		b.WriteString("    category: {levels: yes_no, missing: true}\n")
	case e.buckets > 0 && len(levels.items) > 0:
		fmt.Fprintf(&b, "    category: {levels: %s, buckets: %d, missing: true}\n", listed, e.buckets)
	case e.buckets > 0:
		fmt.Fprintf(&b, "    category: {buckets: %d, missing: true}\n", e.buckets)
	case e.Type == "category", e.Type == "" && len(e.levels) > 0:
		fmt.Fprintf(&b, "    category: {levels: %s, missing: true}\n", listed)
	case e.Type != "" || !math.IsNaN(e.lower) || !math.IsNaN(e.upper):
		b.WriteString("    " + e.number() + "\n")
	default:
		b.WriteString(templateKinds)
	}
	if e.guessed && !labelled {
		b.WriteString("    # label: {levels: [___, ___], positive: ___}\n")
	}
	if len(meanings) > 0 {
		fmt.Fprintf(&b, "    # %s\n", strings.Join(meanings, "; "))
	}
	return b.String()
}

// number writes the declaration of a number, with the middle of the bounds as its default.
func (e *Entry) number() string {
	text := func(x float64) string {
		if math.IsNaN(x) {
			return Blank
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	middle := (e.lower + e.upper) / 2
	whole := ""
	if e.Type == "integer" {
		whole, middle = ", integer: true", math.Round(middle)
	}
	return fmt.Sprintf("number: {lower: %s, upper: %s%s, default: %s%s}", text(e.lower), text(e.upper), whole,
		text(middle), e.marks())
}

// marks writes which cells have bins of their own.
func (e *Entry) marks() string {
	if len(e.special) == 0 {
		return ", missing: true"
	}
	return ", missing: true, special: " + flowText(&node{form: list, items: e.special})
}

// label writes the declaration of a label whose levels are listed.
func (e *Entry) label(listed string) string {
	if e.yesNo {
		listed = "yes_no"
	}
	text := "label: {levels: " + listed
	switch {
	case e.positive != "":
		text += ", positive: " + flowText(textNode(e.positive))
	case len(e.levels) <= 2:
		text += ", positive: " + Blank
	}
	if e.absent != "" {
		text += ", default: " + flowText(textNode(e.absent))
	}
	return text + "}"
}

// date writes the declaration of a date, with the middle of the bounds as its default.
func (e *Entry) date() string {
	text := func(s string) string {
		if s == "" {
			return Blank
		}
		return s
	}
	middle := ""
	if e.first != "" && e.last != "" {
		from, _ := ParseDate(isoDate, e.first)
		to, _ := ParseDate(isoDate, e.last)
		middle = FormatDate(isoDate, from+(to-from)/2)
	}
	return fmt.Sprintf("date: {format: %s, lower: %s, upper: %s, default: %s%s}", text(e.format), text(e.first),
		text(e.last), text(middle), e.marks())
}

// wellKnown lists columns that many tables have, by words in their names, with their possible content.
// They are proposals, which the user must confirm.
var wellKnown = []struct {
	name  *regexp.Regexp
	lines string
}{
	{words("age|alter|âge|edad|età"), "number: {lower: 0, upper: 120, integer: true, default: 45}"},
	{words("sex|gender|geschlecht|sexe|sexo"), "category: {levels: [female, male], missing: true}"},
	{words("year|jahr|année|año|anno"), "number: {lower: 1900, upper: 2100, integer: true, default: 2000}"},
	{words("month|monat|mois"), "number: {lower: 1, upper: 12, integer: true, default: 6}"},
	{words("percent|percentage|pct|prozent"), "number: {lower: 0, upper: 100, default: 50}"},
	{words("bmi"), "number: {lower: 10, upper: 80, default: 25}"},
	{words("temp|temperature"), "number: {lower: 30, upper: 45, default: 37}"},
	{words("id|uuid|name|email|phone|ssn|mrn"), Identifier},
}

// Identifier is what Propose says of columns that identify persons.
const Identifier = "(an identifier: role: ignored)"

func words(alternatives string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(^|[^\pL])(` + alternatives + `)($|[^\pL])`)
}

// counted matches words in names of counts, means and periods, in which a well-known word is only a
// modifier: the admissions of a year are not a year.
var counted = words("last|past|prior|previous|next|per|since|within|in|of|over|before|after|during|number|num|no|n|" +
	"count|counts|total|sum|mean|average|avg|median|min|max|rate|ratio|days|hours|weeks|months|years|visits|admissions|" +
	"pro|letztes|anzahl|nombre|par")

// spelledCode matches a code and its meaning in a name such as sex_0male_1female.
var spelledCode = regexp.MustCompile(`(?:^|[_\s(,;/])(\d{1,2})\s?[=:-]?\s?\pL+`)

// Propose returns the possible content of a column with a well-known name; "" for others. A name that spells codes has
// those codes.
func Propose(name string) string {
	var codes []string
	for _, m := range spelledCode.FindAllStringSubmatch(name, -1) {
		if code := strconv.Quote(m[1]); !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	if len(codes) > 1 {
		return "category: {levels: [" + strings.Join(codes, ", ") + "], missing: true}"
	}
	for _, k := range wellKnown {
		if k.name.MatchString(name) && (k.lines == Identifier || !counted.MatchString(name)) {
			return k.lines
		}
	}
	return ""
}

// cellWords are words that tables hold in cells and seldom use as names of columns.
var cellWords = words("yes|no|male|female|man|woman|ja|nein|oui|non|si|sí|männlich|weiblich|homme|femme|unknown|other|low|medium|high|" +
	"positive|negative|married|single|divorced|widowed")

// LookLikeCells reports whether at least two names of columns are words that tables hold in cells: a file without a header
// begins with a person's record, which no schema may show.
func LookLikeCells(names []string) bool {
	found := 0
	for _, name := range names {
		if name = strings.TrimSpace(name); cellWords.FindString(name) == name && name != "" {
			found++
		}
	}
	return found > 1
}

// commentProposal writes a proposal as a comment in a template; "" if there is none.
func commentProposal(lines string) string {
	if lines == "" {
		return ""
	}
	return "    # " + lines + "  # proposed by the name alone: confirm, or change it\n"
}
