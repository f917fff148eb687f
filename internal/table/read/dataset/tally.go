// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// CellCounts counts the cells of a column that a training would change. The counts are exact and NOT
// PRIVATE.
type CellCounts struct {
	Column string      `json:"column"`
	Role   schema.Role `json:"role"`
	// Missing cells are empty or one of the file's signs for a missing cell.
	Missing int `json:"missing"`
	// Other cells hold a value that the column does not declare.
	Other int `json:"other"`
	// Clamped cells hold a number outside the bounds.
	Clamped int `json:"clamped"`
	// Unreadable cells are not numbers in a number column, or not classes in the label.
	Unreadable int `json:"unreadable"`
	// Respelled cells, which are Other or Unreadable, differ from a declared value only in letter case
	// and white space.
	Respelled int `json:"respelled"`
	// NotUTF8 cells hold bytes of another encoding, such as Latin-1.
	NotUTF8 int  `json:"not_utf8"`
	Label   bool `json:"label,omitempty"`
}

// Tally is what a training would do with the cells of a table. It is exact and NOT PRIVATE, except for Faults.
type Tally struct {
	Rows    int          `json:"rows"`
	Columns []CellCounts `json:"columns"` // those that are read, and the label
	// Faults are structural faults in the order of the files, at most maxFaults of them. They say nothing of
	// private cells. If there are any, cells are not counted.
	Faults []FaultError `json:"-"`
}

// maxFaults is the largest number of faults that a Check reports.
const maxFaults = 100

// Check reads the labelled table in the files as Read does, and counts the cells that a training would repair.
// The error is for failures that are not faults of the table, such as a file that cannot be opened.
func Check(ctx context.Context, s *schema.Schema, opts Options, paths ...string) (*Tally, error) {
	t := &Tally{}
	if !slices.ContainsFunc(paths, isStdin) { // which can be read once
		r, err := newReader(ctx, s, opts, paths)
		if err != nil {
			return nil, err
		}
		r.faults.limit = maxFaults
		if err = r.readFiles(); err != nil && !errors.Is(err, errEnough) {
			return nil, err
		}
		if t.Faults = r.faults.found; len(t.Faults) > 0 {
			return t, nil
		}
	}
	r, err := newReader(ctx, s, opts, paths)
	if err != nil {
		return nil, err
	}
	var cells []*tallied
	add := func(c *tallied, role schema.Role) {
		cells = append(cells, c)
		t.Columns = append(t.Columns, CellCounts{Column: c.name, Role: role, Label: c.label})
	}
	for j := range s.FileColumns() {
		if c := &s.Columns[j]; c.Role != schema.Ignored {
			add(&tallied{name: c.Name, number: c.Kind == schema.Number, lower: c.Lower, upper: c.Upper,
				declared: spellings(c.Levels), of: c}, c.Role)
		}
	}
	if r.label != nil {
		add(&tallied{name: s.Label.Name, label: true, declared: spellings(s.Label.Levels)}, s.Label.Role)
	}
	for _, path := range r.paths {
		tally := r.tallyFile
		if FormatOf(path) == Parquet {
			tally = r.tallyParquet
		}
		rows, err := tally(path, cells, t.Columns)
		t.Rows += rows
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Mostly is the usual share of a column's cells, in percent, from which the schema does not fit the column.
// A schema may leave out values of a category on purpose: for those it is mostOther, if that is more.
const Mostly, mostOther = 20, 50

// Misfits returns the columns that the schema does not fit: at least mostly percent of the cells are not what it
// declares. Missing cells do not count, except in the label and if all are missing.
func (t *Tally) Misfits(mostly float64) (names []string) {
	for i := range t.Columns {
		if t.Columns[i].isMisfit(t.Rows, mostly) {
			names = append(names, t.Columns[i].Column)
		}
	}
	return names
}

func (n *CellCounts) isMisfit(rows int, mostly float64) bool {
	bad, of := n.undeclared(rows)
	if !n.Label && n.Missing < rows && 100*float64(bad-n.Other+n.Respelled+n.NotUTF8) < mostly*float64(of) {
		mostly = max(mostly, mostOther)
	}
	return bad > 0 && 100*float64(bad) >= mostly*float64(of)
}

// undeclared counts the cells that are not what the schema declares, and those that could be.
func (n *CellCounts) undeclared(rows int) (bad, of int) {
	if n.Label || n.Missing == rows {
		return n.repaired(), rows
	}
	return n.repaired() - n.Missing, rows - n.Missing
}

// repaired counts the cells that a training changes.
func (n *CellCounts) repaired() int { return n.Missing + n.Other + n.Clamped + n.Unreadable }

// MisfitError is a table that a schema does not fit. Like the counts it is not private.
type MisfitError struct{ Columns []string }

func (e *MisfitError) Error() string {
	quoted := make([]string, len(e.Columns))
	for i, name := range e.Columns {
		quoted[i] = strconv.Quote(name)
	}
	return "the schema does not fit the table: most cells are not what it declares in " + strings.Join(quoted, ", ")
}

// tallied is a column's declaration.
type tallied struct {
	name          string
	number, label bool
	lower, upper  float64
	declared      map[string]bool // spellings of categories and classes
	folded        map[string]bool // the same by schema.FoldText; made on first use
	of            *schema.Column  // nil for the label
	known         map[string]fate // results for texts that have occurred
}

// fate is what a training does with a cell.
type fate int

const (
	takenCell fate = iota // used unchanged
	missingCell
	otherCell
	clampedCell
	unreadableCell

	// Remarks on a cell, added to its fate.
	respelled fate = 1 << 4
	notUTF8   fate = 1 << 5
)

// add counts the given number of cells with one fate.
func (n *CellCounts) add(f fate, cells int) {
	if f&respelled != 0 {
		n.Respelled += cells
	}
	if f&notUTF8 != 0 {
		n.NotUTF8 += cells
	}
	switch f &^ (respelled | notUTF8) {
	case missingCell:
		n.Missing += cells
	case otherCell:
		n.Other += cells
	case clampedCell:
		n.Clamped += cells
	case unreadableCell:
		n.Unreadable += cells
	}
}

// maxKnown is the number of texts per column that are remembered.
const maxKnown = 1 << 16

// hasPrefix reports whether a value begins with the prefix of some level.
func hasPrefix(levels []schema.Level, value string) bool {
	return slices.ContainsFunc(levels, func(l schema.Level) bool {
		return slices.ContainsFunc(l.Prefixes, func(p string) bool { return strings.HasPrefix(value, p) })
	})
}

// spellings returns all spellings of levels.
func spellings(levels []schema.Level) map[string]bool {
	all := map[string]bool{}
	for _, l := range levels {
		all[l.Value] = true
		for _, alias := range l.Aliases {
			all[alias] = true
		}
	}
	return all
}

// tallyFile counts the cells of one file.
func (r *reader) tallyFile(path string, columns []*tallied, counts []CellCounts) (n int, err error) {
	in, err := r.openRows(path)
	if err != nil {
		return 0, err
	}
	defer in.close()
	at := make([]int, len(columns))
	for i, c := range columns {
		at[i] = slices.Index(in.columns(), c.name)
	}
	for {
		cells, err := in.next()
		switch {
		case err == io.EOF:
			return n, nil
		case err != nil:
			return n, err
		}
		n++
		for i, c := range columns {
			counts[i].add(c.fateOf(&cells[at[i]], r.s.Dialect.Missing), 1)
		}
	}
}

// fateOf returns the result of judgeCell, and remembers it for the first texts.
func (c *tallied) fateOf(cell *cell, tokens []string) fate {
	if cell.form != textual {
		return c.judgeCell(cell, tokens)
	}
	f, ok := c.known[string(cell.text)]
	if ok {
		return f
	}
	f = c.judgeCell(cell, tokens) | c.remark(cell)
	if c.known == nil {
		c.known = map[string]fate{}
	}
	if len(c.known) < maxKnown {
		c.known[string(cell.text)] = f
	}
	return f
}

// remark returns the remarks on a text that a training may change.
func (c *tallied) remark(cell *cell) (f fate) {
	if !utf8.Valid(cell.text) {
		f |= notUTF8
	}
	if c.number || c.declared[string(cell.text)] {
		return f
	}
	if c.folded == nil {
		c.folded = map[string]bool{}
		for text := range c.declared {
			c.folded[schema.FoldText(text)] = true
		}
	}
	if c.folded[schema.FoldText(string(cell.text))] {
		f |= respelled
	}
	return f
}

// judgeCell returns what a training does with a cell; tokens are the file's signs for a missing cell.
func (c *tallied) judgeCell(cell *cell, tokens []string) fate {
	x, isNumber := cell.float()
	if c.of != nil && c.of.Date != "" {
		if cell.form == textual {
			days, ok := schema.ParseDate(c.of.Date, cell.text)
			x, isNumber = float64(days), ok
		}
		x -= float64(c.of.Since)
	}
	isMissing := cell.form == absent || slices.ContainsFunc(tokens, func(token string) bool {
		y, ok := coding.ParseDecimal(token)
		return cell.form == textual && string(cell.text) == token || cell.form == numeric && ok && x == y && c.number
	})
	declared := !c.number && !(cell.form == absent && cell.text == nil) && c.declared[string(cell.appendTo(nil))]
	if c.of != nil && !isMissing {
		declared = declared || c.number && isNumber && slices.Contains(c.of.Special, x) ||
			!c.number && (c.of.Buckets > 0 || hasPrefix(c.of.Levels, string(cell.appendTo(nil))))
	}
	switch {
	case declared:
		return takenCell
	case isMissing:
		return missingCell
	case c.number && (!isNumber || !(math.Abs(x) <= math.MaxFloat64)), c.label:
		return unreadableCell
	case !c.number:
		return otherCell
	case x < c.lower || x > c.upper:
		return clampedCell
	}
	return takenCell
}

// WriteText writes the counts for readers, and names the columns that do not fit.
func (t *Tally) WriteText(w io.Writer, mostly float64) error {
	var b strings.Builder
	b.WriteString("NOT PRIVATE: exact counts, also of private cells, for people who may see these rows\n")
	cells := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(cells, "%s\tmissing\tother\tclamped\tunreadable\t\n", plaintext.Count(t.Rows, "row"))
	share := func(k int) string {
		if k == 0 {
			return "0"
		}
		return fmt.Sprintf("%d (%s)", k, sharePercent(k, t.Rows))
	}
	clean, remarks := 0, ""
	for _, c := range t.Columns {
		if c.NotUTF8 > 0 {
			remarks += fmt.Sprintf("column %q: %d cells are not UTF-8; save the file as UTF-8 (of Latin-1 or Windows-1252, iconv -f "+
				"WINDOWS-1252 -t UTF-8 makes it)\n", c.Column, c.NotUTF8)
		}
		if c.Respelled > 0 {
			remarks += fmt.Sprintf("column %q: %d cells differ from a declared value by letter case or spaces only; declare them as "+
				"aliases: {value: yes, aliases: [Yes, YES]}\n", c.Column, c.Respelled)
		}
		if c.repaired() == 0 {
			clean++
			continue
		}
		fmt.Fprintf(cells, "%s\t%s\t%s\t%s\t%s\t\n", c.Column, share(c.Missing), share(c.Other), share(c.Clamped),
			share(c.Unreadable))
		if c.isMisfit(t.Rows, mostly) {
			bad, of := c.undeclared(t.Rows)
			remarks += fmt.Sprintf("column %q does not fit: %s of its cells are not what the schema declares\n", c.Column,
				sharePercent(bad, of))
		}
	}
	cells.Flush()
	fmt.Fprintf(&b, "%d of %s: every cell is taken as it stands\n%s", clean, plaintext.Count(len(t.Columns), "column"), remarks)
	_, err := io.WriteString(w, b.String())
	return err
}

// sharePercent returns k > 0 of n in percent with two digits. It is 100 % only if k = n.
func sharePercent(k, n int) string {
	share := 100 * float64(k) / float64(n)
	switch {
	case k == n:
		return "100 %"
	case share >= 10:
		return fmt.Sprintf("%.0f %%", min(share, 99))
	}
	return fmt.Sprintf("%.*f %%", 1-int(math.Floor(math.Log10(share))), share)
}
