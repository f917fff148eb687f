// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/ground/deepcopy"
	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Schema describes one table. A Schema returned by Parse or Load is complete and valid; its fields
// must not be changed.
type Schema struct {
	Name     string      // name of the data set
	Unit     string      // what one row describes, in words, e.g. "one hospital admission"
	Relation dp.Relation // which tables are neighbours
	// MaxEpsilon is the largest ε that the table's owner allows for one training without an explicit
	// override; 0 if none is declared.
	MaxEpsilon dp.Epsilon
	// MaxDelta is the same limit for δ. If MaxEpsilon is declared and MaxDelta is not, guarantees must
	// be pure.
	MaxDelta dp.Delta
	// Parts names the public category column whose levels divide the rows into parts, so that
	// trainings on different parts never read the same row; "" if there are no parts.
	Parts string
	// Person declares that all rows of a person are one unit of privacy; nil if each row is.
	Person *Person
	// Pairs lists pairs of columns whose joint effect may exceed the sum of their effects: indices
	// into Columns, no pair twice. Learners that use single columns ignore it.
	Pairs [][2]int
	// Ignored holds patterns of names, in which * stands for any text. Columns of a file that match a
	// pattern and that the schema does not name are never read.
	Ignored []string
	Dialect Dialect
	// Columns are the columns of the file in order, ignored ones included and the label excluded,
	// followed by the derived columns.
	Columns []Column
	Label   Label
}

// Role states whether the guarantee protects a column.
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
	Log1p    Transform = "log1p" // log(1+x); requires lower > -1
)

// Monotone is the direction in which the positive class's probability may change as a number grows and
// all other cells stay the same. A learner that cannot ensure it refuses the schema.
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
	Note string // free text shown with the column, e.g. "leak: known only after the outcome"

	// For numbers.
	Lower, Upper float64 // cells are clamped to [Lower, Upper]; finite, Lower < Upper
	Integer      bool    // cells are whole numbers, and so are the bounds
	Transform    Transform
	Monotone     Monotone  // a requirement on the model, not a fact about the data
	Edges        []float64 // declared bin edges, strictly increasing inside the bounds; may be empty
	Quantiles    bool      // number of bins with about equally many rows, for which a learner may have to pay; never together with Edges
	// replaces a missing or unreadable cell; nil: such a cell is a structural fault (public columns
	// only)
	Default *float64

	// Date is the format of date cells, e.g. "DD.MM.YYYY"; "" if cells are not dates. The column's
	// numbers are days since the day Since, which is itself in days since 1970-01-01.
	Date  string
	Since int
	Zone  string // IANA name of the zone that decides the day of an instant; "" for the instant's own, else UTC
	Days  bool   // a cell that is a number counts days since 1970-01-01

	// Special are numbers that are codes rather than amounts, such as 96 for "does not apply". In a
	// column of dates they are days since Since, such as that of 9999-12-31.
	Special []float64

	// For derived columns, which are numbers. Their bounds are the hull of the bounds of their
	// sources, and they have the transform of their sources. They are public only if all sources are,
	// and have no Default. A part of a date has one source.
	Derived Derivation
	From    []int // the sources, as indices into the columns of the file; unless Derived is a part of a date, at least two different ones

	// Missing declares that a missing cell is a value of its own. In a category it is the last code.
	// In a number it is a mark, which unreadable cells also get.
	Missing bool

	// For categories.
	Levels []Level // codes 0..len(Levels)-1, in this order
	// Buckets is the number of levels, the last ones, among which a public hash distributes undeclared
	// values. If it is > 0, no value is "other".
	Buckets int
	Groups  []Group // disjoint sets of levels that share a bin; other levels have their own bins
}

// Group is a set of levels of a category that learners with bins treat as one. Learners without bins
// ignore it, as they ignore Edges.
type Group struct {
	Name   string
	Levels []int // codes
}

// Level is one declared value of a category, with its aliases.
type Level struct {
	Value    string
	Aliases  []string
	Prefixes []string // other values with these prefixes mean the same; the longest matching prefix of all levels decides
}

// Values returns the values of levels, in the order of their codes.
func Values(levels []Level) (values []string) {
	for _, l := range levels {
		values = append(values, l.Value)
	}
	return values
}

// CodeOf returns the code of the level with this value; -1 if there is none.
func CodeOf(levels []Level, value string) int {
	return slices.IndexFunc(levels, func(l Level) bool { return l.Value == value })
}

// Codes returns the number of codes of a category column: one per declared level, then "other", then
// "missing" if declared. It is 0 for numbers.
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

// OtherCode returns the code of every undeclared level of a category.
func (c *Column) OtherCode() int { return len(c.Levels) }

// MissingCode returns the code of a missing cell: the "missing" level if one is declared, otherwise
// "other".
func (c *Column) MissingCode() int {
	if c.Missing {
		return len(c.Levels) + 1
	}
	return c.OtherCode()
}

// Marks returns the number of marks that a number's cells can have in place of an amount: one for each
// special value, and one for a missing cell if that is declared. It is 0 for categories. If an amount
// is needed for a marked cell, it is the default.
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

// Clamp returns the number within the declared bounds that is nearest to x. x must not be NaN.
func (c *Column) Clamp(x float64) float64 {
	x = max(c.Lower, min(x, c.Upper))
	if x == 0 {
		x = 0 // -0 and 0 are one value
	}
	return x
}

// MarkName describes mark k of a number, from 1: the special value, or "(missing)".
func (c *Column) MarkName(k int) string {
	if k <= len(c.Special) {
		if c.Date != "" {
			return FormatDate(isoDate, c.Since+int(c.Special[k-1]))
		}
		return strconv.FormatFloat(c.Special[k-1], 'g', -1, 64)
	}
	return "(missing)"
}

// CodeName describes a category's code: the level's value, "(other)" or "(missing)".
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

// Label is the column that a classifier predicts.
type Label struct {
	Name     string
	Position int     // index of the label among the file's columns, including ignored ones
	Role     Role    // Public or Private
	Levels   []Level // label codes 0..len(Levels)-1, at least two
	Positive int     // code of the positive class of a binary label; -1 if there are more than two classes
	Default  int     // code for an unreadable label; -1: such a label is a structural fault (public labels only)
	// Weights are the weights in training of the rows of each class, relative to each other; each in
	// [1e-6, 1e6]. nil: all are equal.
	Weights []float64
}

// RowWeights returns Weights divided by the largest: in (0, 1], so that no row of any class has a
// weight above 1 (4.2; evidence/guarantees/erm.md). It is nil if none are declared.
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

// Dialect is the text format of the table's CSV files. For Parquet files, only the column names and
// the missing tokens are used.
type Dialect struct {
	Delimiter rune   // ',' ';' '\t' or another single character
	Quote     rune   // '"', or 0 if quotes are ordinary characters
	Header    bool   // the first record names the columns
	Encoding  string // one of Encodings; "" for UTF-8
	Decimal   rune   // ',' for a decimal comma; 0 for a point
	// Thousands separates groups of three digits in the whole part of a number: ',', '.', '\'' or ' '; 0 for none
	Thousands     rune
	TrailingMinus bool     // a minus sign may stand behind its number, as in 12-
	Trim          bool     // white space around a cell is ignored
	Missing       []string // cells that mean a missing value, after trimming
	Comment       string   // records starting with it are skipped; "" for none
	SkipRecords   int      // number of records before the header or the first row to skip unread
	SkipUntil     string   // skip everything up to and including the line that equals this, e.g. "@data"; "" for none
}

// Spelling describes how text and numbers are written; "" if as usual.
func (d *Dialect) Spelling() string {
	if d.Encoding == "" && d.Decimal == 0 && d.Thousands == 0 && !d.TrailingMinus {
		return ""
	}
	return fmt.Sprintf("encoding %q, decimal %q, thousands %q, trailing minus %t", d.Encoding, d.Decimal, d.Thousands, d.TrailingMinus)
}

// Encodings are the character encodings of CSV files other than UTF-8.
var Encodings = []string{"windows-1252", "windows-1250", "iso-8859-1", "iso-8859-15", "utf-16"}

// Clone returns a copy that shares nothing with s.
func (s *Schema) Clone() *Schema { return deepcopy.Of(s) }

// Declares reports whether the schema says anything of a column of the table with this name, be it that it is ignored.
func (s *Schema) Declares(name string) bool {
	i := s.Find(name)
	return name == s.Label.Name || s.IsIgnored(name) || i >= 0 && s.Columns[i].Derived == InFile
}

// IsIgnored reports whether a column that the schema does not name matches a pattern of ignored names.
func (s *Schema) IsIgnored(name string) bool {
	return slices.ContainsFunc(s.Ignored, func(pattern string) bool { return matchPattern(pattern, name) })
}

// Find returns the index in Columns of the column with this name; -1 if there is none.
func (s *Schema) Find(name string) int {
	return slices.IndexFunc(s.Columns, func(c Column) bool { return c.Name == name })
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
