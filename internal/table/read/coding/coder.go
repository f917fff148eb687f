// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

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

	trim     bool // white space around a text does not count
	numerals Numerals

	// Note receives the text of each cell that is Other or Unreadable, for a check. It may be nil, as in
	// all other readings. So may NoteNumber, for texts that are numbers or dates.
	Note, NoteNumber func(text []byte)

	categories

	identify func(form []byte) uint32 // for identifiers
	whole    bool                     // they are whole numbers

	// For numbers.
	lower, upper float64
	fallback     *float64
	tokens       []string  // signs for missing cells that are numbers
	tokenValues  []float64 // the same as numbers
	signs        []string  // signs for missing cells that are none
	special      []float64
	date         string       // format of dates; "" if cells are not dates
	digits       int          // length of a format of dates that has no signs between digits; else 0
	days         bool         // a number in a column of dates counts days since 1970-01-01
	zone         *schema.Zone // of instants; nil: their own
	since        int          // day from which a date is counted, in days since 1970-01-01
	marksMissing bool         // missing and unreadable cells have a mark, after those of special values
}

// New returns the coder of a column of the file, in a table with the dialect's signs for missing
// cells. It fails with a *dp.ParamError if no schema file can declare such a column.
func New(c *schema.Column, d *schema.Dialect) (*Coder, error) {
	if c.Kind == schema.Category {
		return &Coder{Name: c.Name, trim: d.Trim, numerals: NumeralsOf(d),
			categories: newCategories(c.Levels, d.Missing, c.MissingCode(), c.OtherCode(), c.Buckets)}, nil
	}
	return newNumberCoder(c, d)
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
		special: c.Special, marksMissing: c.Missing, trim: d.Trim, numerals: NumeralsOf(d), date: c.Date, since: c.Since,
	}
	if c.Date != "" {
		out.Want = "must hold a date in every row, since the schema declares no default for it"
		out.digits, out.days = digitsOf(c.Date), c.Days
	}
	if c.Zone != "" {
		if out.zone = schema.FindZone(c.Zone); out.zone == nil {
			return nil, &dp.ParamError{Op: "dataset: column " + strconv.Quote(c.Name), Param: "zone",
				Want: "must be a time zone's name, such as Europe/Berlin", Got: strconv.Quote(c.Zone)}
		}
	}
	for _, token := range d.Missing {
		// One that is a day in the form of schemas means that day in every format and type.
		x, ok := parseNumber(out, token)
		if days, isDay := schema.ParseDate(isoDate, token); !ok && isDay && c.Date != "" {
			x, ok = float64(days-c.Since), true
		}
		if ok {
			out.tokens = append(out.tokens, token)
			out.tokenValues = append(out.tokenValues, x)
		} else {
			out.signs = append(out.signs, token)
		}
	}
	return out, nil
}

// NewLabel is the coder of the label's cells.
func NewLabel(l *schema.Label, d *schema.Dialect) (*Coder, error) {
	fallback := l.Default
	if fallback >= len(l.Levels) || fallback < 0 && l.Role != schema.Public {
		return nil, &dp.ParamError{Op: "dataset: label " + strconv.Quote(l.Name), Param: "default",
			Want: "must be one of the label's classes, since the label is private"}
	}
	if len(l.Levels) > 1<<8 {
		return nil, &dp.ParamError{Op: "dataset: label " + strconv.Quote(l.Name), Param: "levels",
			Want: "must be at most 256", Got: len(l.Levels)}
	}
	out := &Coder{Name: l.Name, trim: d.Trim, numerals: NumeralsOf(d),
		categories: newCategories(l.Levels, d.Missing, fallback, fallback, 0),
		Want:       "must hold one of the classes that the schema declares in every row, since it declares no default"}
	out.isLabel = true
	return out, nil
}

// MissingNumbers returns the numbers that mean a missing value in a number column.
func (c *Coder) MissingNumbers() []float64 { return slices.Clone(c.tokenValues) }

// ReadText is ReadCell for a text.
func ReadText[T string | []byte](c *Coder, cell T) (column.Cell, Fate) {
	if c.trim {
		cell = Trim(cell)
	}
	if !c.Number {
		return readCategory(c, cell)
	}
	for _, token := range c.tokens {
		if string(cell) == token {
			return c.ReadMissing()
		}
	}
	if x, ok := parseNumber(c, cell); ok {
		if c.NoteNumber != nil {
			c.NoteNumber([]byte(cell))
		}
		return c.readNumber(x)
	}
	if x := truthOf(cell); x >= 0 && c.date == "" {
		return c.readNumber(float64(x))
	}
	for _, sign := range c.signs {
		if string(cell) == sign {
			return c.ReadMissing()
		}
	}
	if c.date != "" {
		// A declared day that is no amount is so spelt in schemas, and often in tables of another format.
		days, isDay := schema.ParseDate(isoDate, cell)
		if x := float64(days - c.since); isDay && (slices.Contains(c.special, x) || slices.Contains(c.tokenValues, x)) {
			return c.readNumber(x)
		}
	}
	if len(cell) == 0 {
		return c.ReadMissing()
	}
	note(c, cell)
	return c.standIn(Unreadable)
}

func note[T string | []byte](c *Coder, text T) {
	if c.Note != nil {
		c.Note([]byte(text))
	}
}

// ReadInteger is ReadCell for an integer.
func (c *Coder) ReadInteger(x int64) (column.Cell, Fate) {
	if c.Number && c.date == "" {
		return c.readNumber(float64(x))
	}
	return readDigits(c, strconv.AppendInt(make([]byte, 0, 20), x, 10))
}

// ReadFloat is ReadCell for a float64. NaN is a missing cell.
func (c *Coder) ReadFloat(x float64) (column.Cell, Fate) {
	switch {
	case math.IsNaN(x), c.identify != nil && math.IsInf(x, 0): // what tables of numbers have for no cell
		return c.ReadMissing()
	case c.Number && !(math.Abs(x) <= math.MaxFloat64):
		return c.standIn(Unreadable)
	case c.Number && c.date == "":
		return c.readNumber(x)
	case c.days:
		x = math.Floor(x) // the day of a time of day
	case c.identify != nil:
		return readDigits(c, appendIdentifier(make([]byte, 0, 24), x, 64))
	}
	return readDigits(c, AppendDecimal(make([]byte, 0, 24), x))
}

// ReadSingle is ReadCell for a float32. NaN is a missing cell.
func (c *Coder) ReadSingle(x float32) (column.Cell, Fate) {
	same := func(y float64) bool { return float32(y) == x }
	switch wide := float64(x); {
	case wide != wide, c.Number && c.date == "" && slices.ContainsFunc(c.tokenValues, same):
		return c.ReadMissing()
	case c.identify != nil && !math.IsInf(wide, 0):
		return readDigits(c, appendIdentifier(make([]byte, 0, 24), wide, 32))
	case !c.Number && !math.IsInf(wide, 0):
		return readDigits(c, appendDecimal(make([]byte, 0, 24), wide, 32))
	default:
		if k := slices.IndexFunc(c.special, same); k >= 0 && c.date == "" {
			wide = c.special[k]
		}
		return c.ReadFloat(wide)
	}
}

// ReadTruth is ReadCell for a boolean.
func (c *Coder) ReadTruth(x bool) (column.Cell, Fate) {
	switch {
	case c.Number && c.date != "":
		return c.standIn(Unreadable)
	case c.Number && x:
		return c.readNumber(1)
	case c.Number:
		return c.readNumber(0)
	}
	return readCategory(c, strconv.AppendBool(make([]byte, 0, 5), x))
}

// ReadDay is ReadCell for a date in days since 1970-01-01.
func (c *Coder) ReadDay(days int) (column.Cell, Fate) {
	switch {
	case c.date != "":
		return c.readNumber(float64(days - c.since))
	case c.Number:
		return c.standIn(Unreadable)
	}
	return readCategory(c, schema.FormatDate("YYYY-MM-DD", days))
}

// ReadInstant is ReadCell for a point in time: seconds since 1970, in a zone so many seconds east of
// UTC. Many sources have a date as its first second.
func (c *Coder) ReadInstant(seconds int64, east int) (column.Cell, Fate) {
	days, second := c.zone.DayOf(seconds, east)
	if c.Number {
		return c.ReadDay(days)
	}
	day := schema.FormatDate("YYYY-MM-DD", days)
	if _, ok := c.levels[day]; ok && second == 0 {
		return readCategory(c, day)
	}
	return readCategory(c, day+" "+schema.FormatClock(second))
}

// ReadDecimal is ReadCell for an exact number. NaN is a missing cell.
func ReadDecimal[T string | []byte](c *Coder, digits T) (column.Cell, Fate) {
	if string(digits) == "NaN" {
		return c.ReadMissing()
	}
	if c.Number && c.date == "" {
		if x, ok := ParseDecimal(digits); ok {
			return c.readNumber(x)
		}
		return c.standIn(Unreadable)
	}
	return readDigits(c, digits)
}

// readDigits reads a number of a type as its digits, in a category or a column of dates. If texts have
// a decimal comma, so have the digits, unless a level is spelt with a point.
func readDigits[T string | []byte](c *Coder, digits T) (column.Cell, Fate) {
	if c.numerals.comma {
		if at, ok := c.levels[string(digits)]; ok {
			return codeOrFault(at.code, at.fate)
		}
		digits = T(strings.Replace(string(digits), ".", ",", 1))
	}
	if !c.Number {
		return readCategory(c, digits)
	}
	if days, ok := parseDigits(c, digits); ok {
		return c.readNumber(float64(days - c.since))
	}
	note(c, digits)
	return c.standIn(Unreadable)
}

// readNumber returns the missing cell for which a number is a sign, the mark of a special value, or
// else the number clamped to the bounds. x must be finite.
func (c *Coder) readNumber(x float64) (column.Cell, Fate) {
	if slices.Contains(c.tokenValues, x) {
		return c.ReadMissing()
	}
	if k := slices.Index(c.special, x); k >= 0 {
		return column.Cell{Number: column.MarkNumber(uint8(k + 1))}, Read
	}
	y, fate := c.Clamp(x), Read
	if y != x {
		fate = Clamped
	}
	return column.Cell{Number: y}, fate
}

// ReadMissing is ReadCell for a missing cell.
func (c *Coder) ReadMissing() (column.Cell, Fate) {
	if c.identify != nil {
		return column.Cell{Code: c.identify(nil)}, Missing
	}
	if !c.Number {
		return codeOrFault(c.missing, Missing)
	}
	return c.standIn(Missing)
}

// standIn returns the value of a missing or unreadable number: its mark if one is declared, otherwise
// the default.
func (c *Coder) standIn(f Fate) (column.Cell, Fate) {
	if c.marksMissing {
		return column.Cell{Number: column.MarkNumber(uint8(len(c.special) + 1))}, f
	}
	x, ok := c.StandIn()
	if !ok {
		f |= refused
	}
	return column.Cell{Number: x}, f
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
