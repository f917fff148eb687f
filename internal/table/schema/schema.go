// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// Schema describes one table. A Schema returned by Parse or Load is complete
// and valid; its fields are not to be changed.
type Schema struct {
	Name     string      // what the data set is called
	Unit     string      // whose data one row is, in words, e.g. "one hospital admission"
	Relation dp.Relation // which tables count as neighbours
	// MaxEpsilon is the largest ε this table's owner lets one training spend
	// without an explicit override; 0 when none is declared.
	MaxEpsilon dp.Epsilon
	// MaxDelta is the same for δ. Where MaxEpsilon is declared and MaxDelta is
	// not, guarantees must be pure.
	MaxDelta dp.Delta
	// Parts names the public category column whose levels part the rows, so that
	// trainings on different parts never read the same row; "" when none does.
	Parts string
	// Person says whose row a row is; nil if each is a unit of privacy of its own.
	Person *Person
	// Pairs are columns whose two cells together are to say more than each does:
	// indices into Columns, no pair twice. A learner of one column at a time takes
	// no notice of them.
	Pairs [][2]int
	// Ignored are patterns of names, in which * stands for any text: columns of a file that the
	// schema does not name, and one of these does, are never read.
	Ignored []string
	Dialect Dialect
	// Columns are those of the file in its order, ignored ones included, the label
	// excluded, and then the derived ones.
	Columns []Column
	Label   Label
}

// Role says whether the guarantee protects a column.
type Role string

const (
	Public  Role = "public"
	Private Role = "private"
	Ignored Role = "ignored" // never read into memory
)

// Kind is the type of a column's cells. An ignored column may have none.
type Kind string

const (
	Number   Kind = "number"
	Category Kind = "category"
)

// Transform is applied to a number after clamping and before scaling.
type Transform string

const (
	Identity Transform = ""
	Log1p    Transform = "log1p" // log(1+x); needs lower > -1
)

// Monotone is the direction in which the positive class's probability may move as a number grows,
// all else equal. A learner that cannot promise it refuses the schema.
type Monotone string

const (
	Free       Monotone = ""
	Increasing Monotone = "increasing"
	Decreasing Monotone = "decreasing"
)

// Column is one feature column.
type Column struct {
	Name string
	Role Role
	Kind Kind
	Note string // free text shown beside the column, e.g. "leak: known only after the outcome"

	// Numbers only.
	Lower, Upper float64 // cells are clamped to [Lower, Upper]; finite, Lower < Upper
	Integer      bool    // cells are whole numbers, and so are the bounds
	Transform    Transform
	Monotone     Monotone  // asked of the model, not of the data
	Edges        []float64 // declared bin edges, strictly increasing inside the bounds; may be empty
	Quantiles    bool      // bins of about equally many rows, which a learner may have to pay for; never beside Edges
	// stands in for a missing or unreadable cell; nil: such a cell is a structural fault (public
	// columns only)
	Default *float64

	// Date is the format of date cells, e.g. "DD.MM.YYYY"; "" if cells are not dates. The
	// number is then that of days since the day Since, itself in days since 1970-01-01, and a cell
	// that is a number counts days since 1970-01-01.
	Date  string
	Since int

	// Special are numbers that are codes, such as 96 for "does not apply", and no amounts.
	Special []float64

	// Derived columns only, which are numbers. Their bounds are the hull of those
	// of their sources, whose transform they have; they are public only where
	// all sources are, and have no Default. A part of a date has one source.
	Derived Derivation
	From    []int // the sources: else at least two, no two equal, indices into the columns of the file

	// Missing: a missing cell is something of its own. It is a category's last code, or a mark of
	// a number, whose unreadable cells have it too.
	Missing bool

	// Categories only.
	Levels []Level // codes 0..len(Levels)-1, in this order
	// Buckets are how many of the levels, the last ones, are what undeclared values fall into, by
	// a public hash. Then no value is "other".
	Buckets int
	Groups  []Group // levels that share a bin; no level is in two. Those in none have one each
}

// Group is some levels of a category that a learner of bins takes together. A
// learner without bins takes no notice, as of Edges.
type Group struct {
	Name   string
	Levels []int // codes
}

// Level is one declared value of a category, with the other spellings that
// mean the same.
type Level struct {
	Value    string
	Aliases  []string
	Prefixes []string // so begin other values that mean the same; of several levels the longest counts
}

// Codes returns the number of codes a category column has: one per declared
// level, then "other", then "missing" where declared. It is 0 for numbers.
func (c *Column) Codes() int {
	if c.Kind != Category {
		return 0
	}
	n := len(c.Levels) + 1
	if c.Missing {
		n++
	}
	return n
}

// OtherCode is the code of every undeclared level of a category.
func (c *Column) OtherCode() int { return len(c.Levels) }

// MissingCode is the code of a missing cell: the "missing" level if one is
// declared, "other" where not.
func (c *Column) MissingCode() int {
	if c.Missing {
		return len(c.Levels) + 1
	}
	return c.OtherCode()
}

// Marks is the number of marks the cells of a number can have in place of an amount: one for each
// special value, then one for a missing cell if that is declared. It is 0 for categories. The
// amount of a marked cell is the default, wherever an amount is asked for.
func (c *Column) Marks() int {
	if c.Kind != Number {
		return 0
	}
	n := len(c.Special)
	if c.Missing {
		n++
	}
	return n
}

// Clamp is the number of the declared bounds that is nearest to x, which is not NaN.
func (c *Column) Clamp(x float64) float64 {
	x = max(c.Lower, min(x, c.Upper))
	if x == 0 {
		x = 0 // -0 and 0 are one value
	}
	return x
}

// MarkName is mark k of a number, from 1, in words: the special value, or "(missing)".
func (c *Column) MarkName(k int) string {
	if k <= len(c.Special) {
		return strconv.FormatFloat(c.Special[k-1], 'g', -1, 64)
	}
	return "(missing)"
}

// CodeName is a category's code in words: the level's value, "(other)" or
// "(missing)".
func (c *Column) CodeName(code int) string {
	switch {
	case code < len(c.Levels):
		return c.Levels[code].Value
	case code == c.OtherCode():
		return "(other)"
	default:
		return "(missing)"
	}
}

// Label is the column a classifier predicts.
type Label struct {
	Name     string
	Position int     // index of the label among the file's columns, ignored ones counted
	Role     Role    // Public or Private
	Levels   []Level // label codes 0..len(Levels)-1, at least two
	Positive int     // code of the positive class of a binary label; -1 when there are more than two classes
	Default  int     // code an unreadable label becomes; -1: such a label is a structural fault (a public label only)
	// Weights says how much a row of each class counts in training, relative to
	// the others; each in [1e-6, 1e6]. nil: all count the same.
	Weights []float64
}

// RowWeights is Weights divided by the largest: in (0, 1], so that no row counts
// more than once, whatever its class (4.2; evidence/guarantees/erm.md). It is nil if
// none are declared.
func (l *Label) RowWeights() []float64 {
	if l.Weights == nil {
		return nil
	}
	w, most := slices.Clone(l.Weights), slices.Max(l.Weights)
	for k := range w {
		w[k] /= most
	}
	return w
}

// Classes returns the number of classes, K.
func (s *Schema) Classes() int { return len(s.Label.Levels) }

// Dialect is the text format of the table's CSV files. Parquet files use the
// column names and the missing tokens only.
type Dialect struct {
	Delimiter   rune     // ',' ';' '\t' or another single character
	Quote       rune     // '"', or 0 when quotes are ordinary characters
	Header      bool     // the first record names the columns
	Decimal     rune     // ',' where it stands before the fraction of a number; 0 for a point
	Trim        bool     // white space around a cell does not count
	Missing     []string // cells that mean "missing", after trimming
	Comment     string   // records starting with it are skipped; "" for none
	SkipRecords int      // records before the header or the first row to skip unread
	SkipUntil   string   // skip everything up to and including the line that equals this, e.g. "@data"; "" for none
}

// IsIgnored reports whether a column of a file that the schema does not name is
// never read, by the patterns of names.
func (s *Schema) IsIgnored(name string) bool {
	return slices.ContainsFunc(s.Ignored, func(pattern string) bool { return matchPattern(pattern, name) })
}

// ByRole returns the indices into Columns of the columns with this role.
func (s *Schema) ByRole(r Role) (cols []int) {
	for i := range s.Columns {
		if s.Columns[i].Role == r {
			cols = append(cols, i)
		}
	}
	return cols
}

// Features returns the indices of every column that is not ignored.
func (s *Schema) Features() (cols []int) {
	for i := range s.Columns {
		if s.Columns[i].Role != Ignored {
			cols = append(cols, i)
		}
	}
	return cols
}
