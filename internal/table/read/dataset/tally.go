// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// CellCounts counts the cells of a column that a training would change. The counts are exact and NOT
// PRIVATE.
type CellCounts struct {
	Column     string      `json:"column"`
	Role       schema.Role `json:"role"`
	Missing    int         `json:"missing"`
	Other      int         `json:"other"`
	Clamped    int         `json:"clamped"`
	Unreadable int         `json:"unreadable"`
	Label      bool        `json:"label,omitempty"`
	// Cause is the most likely reason why cells are other or unreadable, and what mends it; "" if none is known.
	Cause string `json:"cause,omitempty"`
}

// Tally is what a training would do with the cells of a table. It is exact and NOT PRIVATE, except for Faults.
type Tally struct {
	Rows    int          `json:"rows"`
	Columns []CellCounts `json:"columns"` // those that are read, and the label
	// Faults are structural faults in the order of the files, at most maxFaults of them. They say nothing of
	// private cells. If there are any, the counts are not complete.
	Faults []FaultError `json:"-"`
}

const (
	maxFaults = 100     // of a Check
	maxTexts  = 512     // of a column, from which a Check finds the cause
	longText  = 1 << 10 // longer texts say nothing about a cause
)

// Check is a Read of the labelled table in the files that counts cells in place of keeping them. The error is
// for failures that are not faults of the table, such as a file that cannot be opened.
func Check(ctx context.Context, s *schema.Schema, opts Options, paths ...string) (*Tally, error) {
	opts.Count = true
	r, err := newReader(ctx, s, opts, paths)
	if err != nil {
		return nil, err
	}
	r.faults.limit = maxFaults
	coders := r.allCoders()
	for _, c := range coders {
		if c != nil {
			c.keepTexts()
		}
	}
	if err := r.readFiles(); err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	t := &Tally{Rows: r.rows, Faults: r.faults.found}
	for j, n := range takeCounts(coders) {
		if coders[j] == nil || coders[j] == r.persons {
			continue
		}
		one := CellCounts{Column: coders[j].Name, Role: s.Label.Role, Missing: n[coding.Missing], Other: n[coding.Other],
			Clamped: n[coding.Clamped], Unreadable: n[coding.Unreadable], Label: j == len(s.Columns)}
		if !one.Label {
			one.Role = s.Columns[j].Role
		}
		one.Cause = coding.CauseOf(s, one.Column, coding.Misfits{Texts: slices.Sorted(maps.Keys(coders[j].texts)),
			Cells: one.Other + one.Unreadable, Fit: t.Rows - one.Missing - one.Other - one.Unreadable,
			Read: slices.Collect(maps.Keys(coders[j].numbers))})
		t.Columns = append(t.Columns, one)
		for i := range t.Faults { // of cells that the schema must read: their column is public
			if f := &t.Faults[i]; f.Column == one.Column && f.Fault == coders[j].Want && one.Cause != "" {
				f.Fault += "; of those that do not fit, most likely: " + one.Cause
			}
		}
	}
	return t, nil
}

// keepTexts makes a coder keep some of the texts that do not fit and of those that are numbers, and no codes.
func (c *coder) keepTexts() {
	keep := func(in map[string]bool) func(text []byte) {
		return func(text []byte) {
			if len(in) < maxTexts && len(text) <= longText && !in[string(text)] {
				in[string(text)] = true
			}
		}
	}
	c.texts, c.numbers = map[string]bool{}, map[string]bool{}
	c.Note, c.NoteNumber = keep(c.texts), keep(c.numbers)
}

// Mostly is the usual share of a column's cells, in percent, from which the schema does not fit the column.
// A schema may leave out values of a category on purpose: unless a cause is known, those count from mostOther on.
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
	if n.Cause == "" && n.Missing < rows && 100*float64(bad-n.Other) < mostly*float64(of) {
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

// DescribeCauses says, of a table that was read with the schema of a model, why the cells of columns are not as declared
// and what would mend it, if they are too many. found is what was counted. It reads the files once more if so, and says
// nothing of those that can be read only once. What it says is as private as the counts.
func DescribeCauses(ctx context.Context, s *schema.Schema, opts Options, found []coding.Undeclared, rows int, paths ...string) (lines []string, err error) {
	many := slices.ContainsFunc(found, func(u coding.Undeclared) bool { return 100*(u.Other+u.Unreadable) >= Mostly*rows })
	if !many || opts.Stdin == nil && slices.ContainsFunc(paths, isStdin) || CheckReadTwice(ctx, paths...) != nil {
		return nil, nil
	}
	t, err := Check(ctx, s, opts, paths...)
	if err != nil {
		return nil, err
	}
	for _, c := range t.Columns {
		if c.Cause != "" && c.isMisfit(t.Rows, Mostly) {
			lines = append(lines, fmt.Sprintf("column %q, the cells that do not fit: %s", c.Column, c.Cause))
		}
	}
	if lines != nil {
		lines = append(lines, "the model's schema stays as it is: change the table to what it declares, or train on tables like this one")
	}
	return lines, nil
}

// MisfitError is a table that a schema does not fit. Like the counts it is not private.
type MisfitError struct{ Columns []string }

func (e *MisfitError) Error() string {
	quoted := make([]string, len(e.Columns))
	for i, name := range e.Columns {
		quoted[i] = strconv.Quote(name)
	}
	return "the schema does not fit the table: too many cells are not what it declares in " + strings.Join(quoted, ", ")
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
		if c.Cause != "" {
			remarks += fmt.Sprintf("column %q, the cells that do not fit: %s\n", c.Column, c.Cause)
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
