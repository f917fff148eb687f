// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"math"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// coder turns the cells of one column into codes and keeps them. It is total:
// a cell it cannot read becomes what the schema declares. Only where the schema
// declares nothing, which it may for public columns alone, does a cell have no
// code; a guarantee that protects them asks for schema.CheckDefaults.
type coder struct {
	name   string
	number bool
	want   string // what a cell without a code should have been

	// Categories and labels.
	levels  map[string]uint32
	missing int // code of a missing cell; -1: none
	unknown int // code of any other undeclared cell; -1: none

	// Numbers.
	lower, upper float64
	fallback     *float64
	tokens       []string  // cells that read as numbers and mean "missing"
	tokenValues  []float64 // the same as numbers
	dictionary   numbers

	pending []uint32
	out     column.Builder
}

// newCoders returns a coder for each column, nil for ignored and derived ones,
// and one for the label.
func newCoders(s *schema.Schema) (cols []*coder, label *coder, err error) {
	cols = make([]*coder, len(s.Columns))
	for j := range s.Columns {
		c := &s.Columns[j]
		switch {
		case c.Role == schema.Ignored, c.Derived != schema.InFile:
		case c.Kind == schema.Category:
			cols[j] = &coder{
				name:    c.Name,
				levels:  levelCodes(c.Levels, s.Dialect.Missing, c.MissingCode()),
				missing: c.MissingCode(),
				unknown: c.OtherCode(),
			}
		default:
			if cols[j], err = newNumberCoder(c, s.Dialect.Missing); err != nil {
				return nil, nil, err
			}
		}
	}
	label, err = newLabelCoder(&s.Label)
	return cols, label, err
}

func newNumberCoder(c *schema.Column, tokens []string) (*coder, error) {
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
	out := &coder{
		name: c.Name, number: true, lower: c.Lower, upper: c.Upper, fallback: c.Default,
		want: "must hold a decimal number in every row, since the schema declares no default for it",
	}
	for _, token := range tokens {
		// A token that is no number is unreadable anyway, with the same result.
		if x, ok := parseDecimal(token); ok {
			out.tokens = append(out.tokens, token)
			out.tokenValues = append(out.tokenValues, x)
		}
	}
	return out, nil
}

func newLabelCoder(l *schema.Label) (*coder, error) {
	fallback := l.Default
	if fallback >= len(l.Levels) || fallback < 0 && l.Role != schema.Public {
		return nil, &dp.ParamError{Op: "dataset: label " + strconv.Quote(l.Name), Param: "default",
			Want: "must be one of the label's classes, since the label is private"}
	}
	if len(l.Levels) > 1<<8 {
		return nil, &dp.ParamError{Op: "dataset: label " + strconv.Quote(l.Name), Param: "levels",
			Want: "must be at most 256", Got: len(l.Levels)}
	}
	return &coder{
		name:    l.Name,
		levels:  levelCodes(l.Levels, nil, 0),
		missing: fallback, unknown: fallback,
		want: "must hold one of the classes that the schema declares in every row, since it declares no default",
	}, nil
}

// levelCodes maps every spelling to its code. A level declared under a spelling
// that is also a missing token stays that level: the column says more about
// its cells than the file does.
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

// codeText codes a cell given as text, already trimmed where the dialect says so.
func (c *coder) codeText(cell []byte) (code uint32, ok bool) {
	if !c.number {
		if code, ok := c.levels[string(cell)]; ok {
			return code, true
		}
		return orNone(c.unknown)
	}
	return c.codeNumber(readNumber(c, cell))
}

// codeFloat codes a cell given as a number.
func (c *coder) codeFloat(x float64) (code uint32, ok bool) {
	if !c.number {
		return c.codeText(appendDecimal(make([]byte, 0, 24), x))
	}
	return c.codeNumber(c.clampFinite(x))
}

// codeInteger codes a cell given as an integer.
func (c *coder) codeInteger(x int64) (code uint32, ok bool) {
	if !c.number {
		return c.codeText(strconv.AppendInt(make([]byte, 0, 20), x, 10))
	}
	return c.codeFloat(float64(x))
}

// codeTruth codes a Boolean: a number 0 or 1, a category "false" or "true".
func (c *coder) codeTruth(x bool) (code uint32, ok bool) {
	switch {
	case !c.number:
		return c.codeText(strconv.AppendBool(make([]byte, 0, 5), x))
	case x:
		return c.codeFloat(1)
	default:
		return c.codeFloat(0)
	}
}

// codeMissing codes a missing cell, and every unreadable number.
func (c *coder) codeMissing() (code uint32, ok bool) {
	if !c.number {
		return orNone(c.missing)
	}
	return c.codeNumber(c.standIn())
}

// codeNumber is the code of a number within the bounds, where there is one.
func (c *coder) codeNumber(x float64, ok bool) (code uint32, _ bool) {
	if !ok {
		return 0, false
	}
	return c.dictionary.codeOf(x), true
}

// readNumber is the number within the bounds that a text stands for.
func readNumber[T string | []byte](c *coder, cell T) (x float64, ok bool) {
	for _, token := range c.tokens {
		if string(cell) == token {
			return c.standIn()
		}
	}
	if x, ok = parseDecimal(cell); !ok {
		return c.standIn()
	}
	return c.clamp(x), true
}

// clampFinite is the number within the bounds that a number stands for.
func (c *coder) clampFinite(x float64) (float64, bool) {
	// Before the clamp: min and max would let NaN through.
	if !(math.Abs(x) <= math.MaxFloat64) || slices.Contains(c.tokenValues, x) {
		return c.standIn()
	}
	return c.clamp(x), true
}

// standIn is the number that stands for a missing or unreadable one.
func (c *coder) standIn() (x float64, ok bool) {
	if c.fallback == nil {
		return 0, false
	}
	return c.clamp(*c.fallback), true
}

func (c *coder) codeClamped(x float64) uint32 { return c.dictionary.codeOf(c.clamp(x)) }

func (c *coder) clamp(x float64) float64 {
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

// batch is how many codes are gathered before they are stored.
const batch = 1024

func (c *coder) keepCode(code uint32) {
	if c.pending = append(c.pending, code); len(c.pending) >= batch {
		c.flushCodes()
	}
}

func (c *coder) flushCodes() {
	c.out.Append(c.pending)
	c.pending = c.pending[:0]
}

// takeColumn returns what was kept. The coder is not to be used afterwards.
func (c *coder) takeColumn() column.Column {
	c.flushCodes()
	c.pending = nil
	col := column.Column{Codes: c.out.Codes()}
	if c.number {
		// In the order of the values, so that a table does not show in which
		// order its rows were read.
		var to []uint32
		col.Values, to = c.dictionary.sortValues()
		col.Codes.Recode(to)
		c.dictionary = numbers{}
	}
	return col
}
