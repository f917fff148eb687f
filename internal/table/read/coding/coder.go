// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Coder interprets the cells of one column: as a number within its bounds, or as the code of a
// category or a class. An unreadable cell becomes what the schema declares. If the schema declares
// nothing, which only public columns may do, the cell is refused. A guarantee that protects such a
// column requires schema.CheckDefaults.
type Coder struct {
	Name   string
	Number bool   // otherwise its cells have codes
	Want   string // the requirement that a refused cell violates

	// For categories and labels.
	levels   map[string]uint32
	prefixes []prefix // the longest first
	buckets  int      // number of codes for undeclared values, the last codes before "other"
	missing  int      // code of a missing cell; -1 if there is none
	unknown  int      // code of any other undeclared cell; -1 if there is none

	identify func(cell []byte) uint32 // for identifiers: the code of a cell

	// For numbers.
	lower, upper float64
	fallback     *float64
	tokens       []string  // cells that read as numbers and mean a missing value
	tokenValues  []float64 // the same as numbers
	special      []float64
	comma        bool   // the decimal separator is a comma
	date         string // format of dates; "" if cells are not dates
	since        int    // day from which a date is counted, in days since 1970-01-01
	marksMissing bool   // missing and unreadable cells have a mark, after those of special values
}

// New returns the coder of a column of the file, in a table with the dialect's signs for missing
// cells. It fails with a *dp.ParamError if no schema file can declare such a column.
func New(c *schema.Column, d *schema.Dialect) (*Coder, error) {
	if c.Kind == schema.Category {
		return &Coder{
			Name:     c.Name,
			levels:   levelCodes(c.Levels, d.Missing, c.MissingCode()),
			missing:  c.MissingCode(),
			unknown:  c.OtherCode(),
			prefixes: listPrefixes(c.Levels), buckets: c.Buckets,
		}, nil
	}
	return newNumberCoder(c, d)
}

// NewIdentifier returns the coder of a column of identifiers. identify returns the code of a cell; a
// missing cell counts as empty.
func NewIdentifier(name string, identify func(cell []byte) uint32) *Coder {
	return &Coder{Name: name, identify: identify}
}

// IsDate reports whether its cells are dates.
func (c *Coder) IsDate() bool { return c.date != "" }

// NewDerived returns a coder that clamps a derived column to its bounds.
func NewDerived(c *schema.Column) *Coder {
	return &Coder{Name: c.Name, Number: true, lower: c.Lower, upper: c.Upper}
}

func newNumberCoder(c *schema.Column, d *schema.Dialect) (*Coder, error) {
	switch {
	case c.Role != schema.Public && c.Default == nil:
		return nil, &dp.ParamError{Op: "dataset: column " + strconv.Quote(c.Name), Param: "default",
			Want: "must be declared for a private number",
			Hint: "an unreadable private cell must become something that the data do not decide"}
	case !(c.Lower < c.Upper) || math.IsInf(c.Lower, 0) || math.IsInf(c.Upper, 0):
		return nil, &dp.ParamError{Op: "dataset: column " + strconv.Quote(c.Name), Param: "bounds",
			Want: "must be finite with lower < upper", Got: [2]float64{c.Lower, c.Upper}}
	case c.Default != nil && (math.IsNaN(*c.Default) || math.IsInf(*c.Default, 0)):
		return nil, &dp.ParamError{Op: "dataset: column " + strconv.Quote(c.Name), Param: "default",
			Want: "must be finite", Got: *c.Default}
	}
	if c.Marks() > 0 && c.Default == nil || len(c.Special) > schema.MaxSpecial {
		return nil, &dp.ParamError{Op: "dataset: column " + strconv.Quote(c.Name), Param: "special values",
			Want: fmt.Sprintf("must be at most %d and requires a default", schema.MaxSpecial), Got: len(c.Special)}
	}
	out := &Coder{
		Name: c.Name, Number: true, lower: c.Lower, upper: c.Upper, fallback: c.Default,
		Want:    "must hold a decimal number in every row, since the schema declares no default for it",
		special: c.Special, marksMissing: c.Missing, comma: d.Decimal == ',', date: c.Date, since: c.Since,
	}
	if c.Date != "" {
		out.Want = "must hold a date in every row, since the schema declares no default for it"
	}
	for _, token := range d.Missing {
		// A token that is no number is unreadable anyway, with the same result.
		if x, ok := parseNumber(out, token); ok {
			out.tokens = append(out.tokens, token)
			out.tokenValues = append(out.tokenValues, x)
		}
	}
	return out, nil
}

// NewLabel is the coder of the label's cells.
func NewLabel(l *schema.Label) (*Coder, error) {
	fallback := l.Default
	if fallback >= len(l.Levels) || fallback < 0 && l.Role != schema.Public {
		return nil, &dp.ParamError{Op: "dataset: label " + strconv.Quote(l.Name), Param: "default",
			Want: "must be one of the label's classes, since the label is private"}
	}
	if len(l.Levels) > 1<<8 {
		return nil, &dp.ParamError{Op: "dataset: label " + strconv.Quote(l.Name), Param: "levels",
			Want: "must be at most 256", Got: len(l.Levels)}
	}
	return &Coder{
		Name:     l.Name,
		levels:   levelCodes(l.Levels, nil, 0),
		prefixes: listPrefixes(l.Levels),
		missing:  fallback, unknown: fallback,
		Want: "must hold one of the classes that the schema declares in every row, since it declares no default",
	}, nil
}

// levelCodes maps every spelling to its code. If a level's spelling is also a sign for a missing cell,
// the cell is that level: the column's declaration takes precedence over the file's.
func levelCodes(levels []schema.Level, missing []string, missingCode int) map[string]uint32 {
	codes := map[string]uint32{}
	for _, token := range missing {
		codes[token] = uint32(missingCode)
	}
	for code, level := range levels {
		codes[level.Value] = uint32(code)
		for _, alias := range level.Aliases {
			codes[alias] = uint32(code)
		}
	}
	return codes
}

// Spellings lists every text that has its own code in a category or a label, sorted, and the codes.
// All other texts have the code of "other".
func (c *Coder) Spellings() (texts []string, codes []uint32) {
	texts = slices.Sorted(maps.Keys(c.levels))
	for _, text := range texts {
		codes = append(codes, c.levels[text])
	}
	return texts, codes
}

// Prefixes lists the prefixes of further texts that have a level's code, and the codes. Earlier
// prefixes take precedence.
func (c *Coder) Prefixes() (texts []string, codes []uint32) {
	for _, p := range c.prefixes {
		texts, codes = append(texts, p.text), append(codes, p.code)
	}
	return texts, codes
}

// MissingNumbers returns the numbers that mean a missing value in a number column.
func (c *Coder) MissingNumbers() []float64 { return slices.Clone(c.tokenValues) }

// ReadCode returns the code of a cell of a category or a label that is given as text. The text must
// already be trimmed if the dialect requires it.
func ReadCode[T string | []byte](c *Coder, cell T) (code uint32, ok bool) {
	if c.identify != nil {
		return c.identify([]byte(cell)), true
	}
	if code, ok := c.levels[string(cell)]; ok {
		return code, true
	}
	for i := range c.prefixes {
		if p := &c.prefixes[i]; len(cell) >= len(p.text) && string(cell[:len(p.text)]) == p.text {
			return p.code, true
		}
	}
	if c.buckets > 0 {
		return uint32(c.unknown - c.buckets + bucketOf(cell, c.buckets)), true
	}
	return orNone(c.unknown)
}

// FloatCode returns the code of a category's cell that is given as a number.
func (c *Coder) FloatCode(x float64) (code uint32, ok bool) {
	if c.identify != nil && !(math.Abs(x) <= math.MaxFloat64) { // what tables of numbers have for no cell
		return c.MissingCode()
	}
	return ReadCode(c, AppendDecimal(make([]byte, 0, 24), x))
}

// IntegerCode returns the code of a category's cell that is given as an integer.
func (c *Coder) IntegerCode(x int64) (code uint32, ok bool) {
	return ReadCode(c, strconv.AppendInt(make([]byte, 0, 20), x, 10))
}

// TruthCode returns the code of a boolean in a category, spelled "false" or "true".
func (c *Coder) TruthCode(x bool) (code uint32, ok bool) {
	return ReadCode(c, strconv.AppendBool(make([]byte, 0, 5), x))
}

// MissingCode returns the code of a missing cell of a category or a label.
func (c *Coder) MissingCode() (code uint32, ok bool) {
	if c.identify != nil {
		return c.identify(nil), true
	}
	return orNone(c.missing)
}

// ReadNumber returns the number within the bounds that a text stands for, or a mark; see TakeMark. The
// text must already be trimmed if the dialect requires it.
func ReadNumber[T string | []byte](c *Coder, cell T) (x float64, ok bool) {
	for _, token := range c.tokens {
		if string(cell) == token {
			return c.MissingNumber()
		}
	}
	if x, ok = parseNumber(c, cell); !ok {
		return c.MissingNumber()
	}
	return c.markOrClamp(x), true
}

// FloatNumber clamps a number to the bounds.
func (c *Coder) FloatNumber(x float64) (float64, bool) {
	// Before the clamp: min and max would let NaN through.
	if !(math.Abs(x) <= math.MaxFloat64) || c.date == "" && slices.Contains(c.tokenValues, x) {
		return c.MissingNumber()
	}
	if c.date != "" {
		x = math.Floor(x) - float64(c.since)
	}
	return c.markOrClamp(x), true
}

// markOrClamp returns the mark of a special value, or else the number clamped to the bounds.
func (c *Coder) markOrClamp(x float64) float64 {
	if k := slices.Index(c.special, x); k >= 0 {
		return column.MarkNumber(uint8(k + 1))
	}
	return c.Clamp(x)
}

// MissingNumber returns the value of a missing or unreadable number: its mark if one is declared,
// otherwise the default.
func (c *Coder) MissingNumber() (x float64, ok bool) {
	if c.marksMissing {
		return column.MarkNumber(uint8(len(c.special) + 1)), true
	}
	return c.StandIn()
}

// HasMarks reports whether cells can have marks.
func (c *Coder) HasMarks() bool { return c.marksMissing || len(c.special) > 0 }

// TakeMark separates marks from amounts: it returns either mark 0 and the amount x, or a mark and the
// default as the amount.
func (c *Coder) TakeMark(x float64) (mark uint8, amount float64) {
	if mark = column.MarkOf(x); mark == 0 {
		return 0, x
	}
	amount, _ = c.StandIn() // there is one beside marks
	return mark, amount
}

// TruthNumber returns a boolean as 0 or 1, clamped to the bounds.
func (c *Coder) TruthNumber(x bool) (float64, bool) {
	if x {
		return c.FloatNumber(1)
	}
	return c.FloatNumber(0)
}

// StandIn returns the number that replaces a missing one.
func (c *Coder) StandIn() (x float64, ok bool) {
	if c.fallback == nil {
		return 0, false
	}
	return c.Clamp(*c.fallback), true
}

// Clamp returns the number within the declared bounds that is nearest to x. x must not be NaN.
func (c *Coder) Clamp(x float64) float64 {
	x = max(c.lower, min(x, c.upper))
	if x == 0 {
		x = 0 // -0 and 0 are one value
	}
	return x
}

func orNone(code int) (uint32, bool) {
	if code < 0 {
		return 0, false
	}
	return uint32(code), true
}
