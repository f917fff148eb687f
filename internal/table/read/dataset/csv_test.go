// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// plainText splits a whole text, one character after another.
type plainText struct {
	text           string
	end            error // of the source
	d              schema.Dialect
	cells, orCells int
	line           int // the next one
	begun          bool
}

// cut returns the text before the first of some characters, and moves behind it. At the end of the text,
// last is true.
func (p *plainText) cut(stops string) (before string, stop byte, err error) {
	i := strings.IndexAny(p.text, stops)
	if i < 0 {
		before, p.text = p.text, ""
		if p.end != io.EOF {
			err = p.end
		}
		return before, '\n', err
	}
	before, stop, p.text = p.text[:i], p.text[i], p.text[i+1:]
	return before, stop, nil
}

func (p *plainText) dropMark() error {
	if p.text = strings.TrimPrefix(p.text, "\xef\xbb\xbf"); p.text == "" {
		return p.end
	}
	return nil
}

func (p *plainText) dropLine() (string, error) {
	if err := p.dropMark(); err != nil {
		return "", err
	}
	p.line++
	line, _, err := p.cut("\n")
	return line, err
}

// takeQuoted takes what stands between quotes, if the text begins with one.
func (p *plainText) takeQuoted() (inside string, err error) {
	quote := string(p.d.Quote)
	for p.d.Trim && p.text != "" && strings.Contains(" \t", p.text[:1]) && rune(p.text[0]) != p.d.Delimiter {
		p.text = p.text[1:]
	}
	for more := strings.HasPrefix(p.text, quote); more; {
		p.text = p.text[1:]
		if !strings.Contains(p.text, quote) {
			if p.end == io.EOF {
				return "", &FaultError{File: "-", Line: p.line, Fault: "must close every quote"}
			}
			return "", p.end
		}
		piece, _, _ := p.cut(quote)
		inside += piece
		if more = strings.HasPrefix(p.text, quote); more {
			inside += quote
		}
	}
	return inside, nil
}

// take returns the next record; broken: a line end is in a cell.
func (p *plainText) take() (cells []string, broken bool, err error) {
	room := maxField
	if most := max(p.cells, p.orCells); most > 0 {
		room = min(room, maxRecord/most)
	}
	for {
		quoted, bare := "", 0
		if p.d.Quote != 0 {
			if quoted, err = p.takeQuoted(); err != nil {
				return nil, false, err
			}
			broken = broken || strings.Contains(quoted, "\n")
			bare = min(len(quoted), room)
		}
		text, stop, err := p.cut(string(p.d.Delimiter) + "\n")
		if err != nil {
			return nil, false, err
		}
		cell := quoted + text
		cell = cell[:min(len(cell), room)]
		if stop == '\n' && len(cell) > bare {
			cell = strings.TrimSuffix(cell, "\r")
		}
		if p.d.Trim {
			cell = coding.Trim(cell)
		}
		if cells = append(cells, cell); stop == '\n' {
			p.line++
			return cells, broken, nil
		}
	}
}

// next returns the next row, or the header. An error is the last one if all is set.
func (p *plainText) next() (cells []string, line int, all bool, err error) {
	fault := func(line int, want string) ([]string, int, bool, error) {
		return nil, 0, false, &FaultError{File: "-", Line: line, Fault: want}
	}
	for blank := 0; ; {
		line := p.line
		if err := p.dropMark(); err != nil {
			return nil, 0, true, err
		}
		comment := p.d.Comment != "" && strings.HasPrefix(p.text, p.d.Comment)
		if comment && p.d.Header && !p.begun {
			if _, err := p.dropLine(); err != nil {
				return nil, 0, true, err
			}
			continue
		}
		cells, broken, err := p.take()
		n := len(cells)
		fits := p.cells == 0 || n == p.cells || n == p.orCells
		switch {
		case err != nil:
			return nil, 0, true, err
		case p.cells != 1 && p.orCells != 1 && n == 1 && cells[0] == "":
			if blank == 0 {
				blank = line
			}
		case comment && !fits && !broken:
		case blank > 0:
			return fault(blank, "must not be blank, since rows follow")
		case !fits:
			return fault(line, fmt.Sprintf("must have %d cells", p.cells))
		default:
			p.begun, p.cells, p.orCells = true, n, 0
			return cells, line, false, nil
		}
	}
}

// readPlain appends the rows of a text: one record after another, one cell after another.
func (r *reader) readPlain(p *plainText) error {
	for found := p.d.SkipUntil == ""; !found; {
		line, err := p.dropLine()
		if err == io.EOF {
			return &FaultError{File: "-", Fault: "must have the line that the dialect skips to"}
		}
		if err != nil {
			return err
		}
		found = strings.TrimSpace(line) == p.d.SkipUntil
	}
	for range p.d.SkipRecords {
		if _, err := p.dropLine(); err != nil && err != io.EOF {
			return err
		}
	}
	var plan *layout
	p.cells, p.orCells = len(r.s.FileColumns())+1, 0
	if p.d.Header {
		p.cells = 0
		head, line, _, err := p.next()
		if err == io.EOF {
			err = &FaultError{File: "-", Fault: "must have a header"}
		}
		if err == nil {
			plan, err = r.layoutByName("-", line, head)
		}
		if err != nil {
			return err
		}
	} else if r.opts.Labels == LabelsIgnored {
		p.orCells = p.cells - 1
	}
	for {
		cells, line, all, err := p.next()
		if fault := (*FaultError)(nil); !all && errors.As(err, &fault) {
			if err := r.faults.addFault(fault); err != nil {
				return err
			}
			continue
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case r.rows == r.opts.MaxRows:
			return &FaultError{File: "-", Line: line, Fault: fmt.Sprintf("must not go beyond %d rows (all files together)", r.rows)}
		}
		if plan == nil {
			plan = r.layoutByPosition(len(cells))
		}
		r.rows++
		for i, c := range plan.coders {
			if c == nil {
				continue
			}
			code, fate := c.code(coding.ReadText(c.Coder, cells[i]))
			if fate.Refused() {
				if err := r.faults.addFault(&FaultError{File: "-", Line: line, Column: c.Name, Fault: c.Want}); err != nil {
					return err
				}
			}
			c.keepCode(code, fate)
		}
		if err := r.endFullBlock(); err != nil {
			return err
		}
	}
}

// drawText writes a table with faults of every kind that a writer or a disk makes, and the dialect.
func drawText(src *rand.Rand, s *schema.Schema) string {
	pick := func(of ...string) string { return of[src.IntN(len(of))] }
	d := schema.Dialect{Delimiter: []rune(",;\t ")[src.IntN(4)], Header: src.IntN(2) == 0, Trim: src.IntN(3) == 0,
		Comment: pick("", "", "#", "x", "//"), SkipUntil: pick("", "", "@data"), SkipRecords: src.IntN(2), Missing: []string{"", "NA"}}
	quote := pick("", `"`, `"`, "'")
	if quote != "" {
		d.Quote = rune(quote[0])
	}
	s.Dialect = d
	end := pick("\n", "\n", "\r\n")
	var b strings.Builder
	if d.SkipUntil != "" {
		b.WriteString(pick("", `"skipped`+end, "\n\n") + pick(" ", "") + d.SkipUntil + end)
	}
	b.WriteString(strings.Repeat(`"`+end, d.SkipRecords))
	if d.Header {
		b.WriteString(d.Comment + strings.Join([]string{"a", "p", "c", "label"}, string(d.Delimiter)) + end)
		if d.Comment != "" {
			b.WriteString(strings.Join([]string{"a", "p", "c", "label"}, string(d.Delimiter)) + end)
		}
	}
	faulty := src.IntN(3) // how often
	for range src.IntN(40) {
		for j := range 4 {
			if j > 0 {
				b.WriteRune(d.Delimiter)
			}
			cell := pick("1", "-2.5", "x", "NA", "", fmt.Sprint(src.IntN(1000)))
			if j != 2 && faulty == 0 || j == 3 {
				cell = pick("0", "1")
			}
			switch {
			case faulty == 0 && j == 3:
			case src.IntN(8000) == 0:
				cell = strings.Repeat("3", maxField-1) + pick("", "4", "45", "\r", "4\r")
			case src.IntN(30) == 0 && (faulty > 0 || j > 0):
				cell = strings.Repeat(pick("0", "a b", quote+quote, "é"), src.IntN(100))
			case faulty > 1 && src.IntN(10) == 0:
				cell = pick(quote, "a"+quote, quote+"a"+quote+"b", " "+quote+"a"+quote+" ", string(d.Delimiter), "\r", d.Comment+"1", "\xef\xbb\xbf")
			}
			if extra := []string{"", "\n", end, string(d.Delimiter), quote}; quote != "" && src.IntN(3) == 0 {
				if j == 3 || j == 0 && faulty == 0 {
					extra = extra[:1]
				}
				cell = quote + strings.ReplaceAll(cell+pick(extra...), quote, quote+quote) + quote
			}
			if d.Trim && !strings.ContainsRune(" \t", d.Delimiter) || faulty > 1 && src.IntN(20) == 0 {
				cell = pick("", "", " ", "\t ") + cell + pick("", " ")
			}
			b.WriteString(cell)
		}
		if faulty > 0 && src.IntN(8) == 0 {
			b.WriteString(pick(string(d.Delimiter), "\n", "\r\n", "\n"+d.Comment+"note"+end, "\n\n\xef\xbb\xbf"))
		}
		b.WriteString(end)
	}
	if faulty > 0 {
		b.WriteString(pick("", "", "1", quote, "\n\n", end+" "+end, "\r", "\xef\xbb"))
	}
	return b.String()
}

// ragged reads random pieces of a text, and then returns an error.
type ragged struct {
	text string
	src  *rand.Rand
	end  error
}

func (r *ragged) Read(b []byte) (int, error) {
	if r.text == "" {
		return 0, r.end
	}
	n := copy(b[:min(len(b), 1+r.src.IntN(1+r.src.IntN(300)))], r.text)
	r.text = r.text[n:]
	return n, nil
}

// seenTable is all that comes of a reading.
type seenTable struct {
	blocks []Table
	rows   int
	faults []FaultError
	err    string
}

// seeTable reads in blocks of so many rows, or in one if it is 0.
func (r *reader) seeTable(rows int, read func() error) (out seenTable) {
	r.blockRows = rows
	if rows > 0 {
		r.keep = func(_ int, t *Table) error {
			out.blocks = append(out.blocks, *t)
			return nil
		}
	}
	err := read()
	if r.waitForBlock(); err == nil && len(r.faults.found) == 0 {
		out.blocks = append(out.blocks, *r.makeTable())
	}
	for k := range out.blocks {
		out.blocks[k].Schema = nil
	}
	out.rows, out.faults, out.err = r.rows, r.faults.found, fmt.Sprint(err)
	if err != nil {
		out.rows = 0
	}
	return out
}

// Read, ReadBlocks and Check return for any text the same as a reader that splits it one character after
// another and codes one cell after another, however it arrives and however much is split at once.
func TestReadingIsThatOfOneProcessor(t *testing.T) {
	failed := errors.New("the disk is broken")
	read, faulty, broken := 0, 0, 0
	for seed := range uint64(size.Of(1000, 20_000)) {
		src := rand.New(rand.NewPCG(seed, 1))
		pick := func(of ...int) int { return of[src.IntN(len(of))] }
		s := tinySchema()
		if src.IntN(2) == 0 {
			s.Columns[0].Default = nil
		}
		if src.IntN(4) == 0 {
			s.Person = &schema.Person{Column: "p", Rows: 1}
		}
		text, end := drawText(src, s), []error{io.EOF, io.EOF, failed}[src.IntN(3)]
		labels, most, limit, rows := Labels(pick(0, 0, 1)), pick(0, 0, 0, 3), pick(0, 0, 2, 100), pick(0, 0, 1, 2, 7)
		if limit > 0 { // as in Check, which makes no table
			rows = 0
		}
		open := func() *reader {
			opts := Options{Labels: labels, MaxRows: most, Persons: NewPersonKeys([32]byte{1}), Stdin: &ragged{text, src, end}}
			r, err := newReader(t.Context(), s, opts, []string{"-"})
			if err != nil {
				t.Fatal(err)
			}
			r.faults.limit = limit
			return r
		}
		twin := open()
		want := twin.seeTable(rows, func() error {
			err := twin.readPlain(&plainText{text: text, end: end, d: s.Dialect, line: 1})
			if fault := (*FaultError)(nil); errors.As(err, &fault) {
				err = twin.faults.addFault(fault)
			}
			if err != nil {
				return err
			}
			return twin.checkRows("-")
		})
		for _, buffer := range []int{8, pick(20, 100), pick(1000, 0)} {
			r := open()
			r.buffer = buffer
			if got := r.seeTable(rows, r.readFiles); !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, %d bytes at once, blocks of %d rows: %+v\nwant %+v\n%+v\n%.2000q", seed, buffer, rows, got, want,
					s.Dialect, text)
			}
		}
		switch {
		case want.err != "<nil>":
			broken++
		case len(want.faults) > 0:
			faulty++
		default:
			read++
		}
	}
	if total := read + faulty + broken; read < total/8 || faulty < total/20 || broken < total/5 {
		t.Errorf("%d texts were read, %d with faults, %d not", read, faulty, broken)
	}
}

// bucketColumn returns a column whose codes tell most texts apart, and its coder.
func bucketColumn(t *testing.T) (*schema.Column, *coder) {
	t.Helper()
	c := &schema.Column{Name: "b", Role: schema.Private, Kind: schema.Category, Buckets: 1 << 12}
	for i := range c.Buckets {
		c.Levels = append(c.Levels, schema.Level{Value: fmt.Sprint("bucket ", i)})
	}
	of, err := coding.New(c, &schema.Dialect{})
	if err != nil {
		t.Fatal(err)
	}
	return c, &coder{Coder: of}
}

// Texts that differ in any byte or in length have their own codes, however often they come.
func TestRecentTextsAreToldApart(t *testing.T) {
	_, c := bucketColumn(t)
	src := rand.New(rand.NewPCG(1, 1))
	behind := []byte(strings.Repeat("z", 40))
	for range 20_000 {
		cell := behind[:src.IntN(30)]
		for i := range cell {
			cell[i] = "\x00\x00\x00a"[src.IntN(4)]
		}
		want, _ := c.code(coding.ReadText(c.Coder, cell))
		if got, _ := c.codeRecent(cell); got != want {
			t.Fatalf("%q: code %d, want %d", cell, got, want)
		}
		if got, _ := c.codeRecent(slices.Clip(slices.Clone(cell))); got != want {
			t.Fatalf("%q alone: code %d, want %d", cell, got, want)
		}
	}
}

// In a wide table less is stored of a cell than fits a buffer.
func TestCellsOfWideTablesAreCut(t *testing.T) {
	c, twin := bucketColumn(t)
	s := tinySchema()
	s.Columns = []schema.Column{*c}
	for j := range 200 {
		s.Columns = append(s.Columns, schema.Column{Name: fmt.Sprint("ignored ", j), Role: schema.Ignored})
	}
	s.Dialect.Header, s.Label.Position = false, len(s.Columns)
	room := maxRecord / 202
	cell := []byte(strings.Repeat("long ", 20_000))
	for _, quote := range []string{"", `"`} {
		text := quote + string(cell) + quote + strings.Repeat(",x", 200) + ",1\n"
		tab := readText(t, s, text+text)
		want, _ := twin.code(coding.ReadText(twin.Coder, cell[:room]))
		if got := tab.Cols[0].Codes.At(0); got != want || got != tab.Cols[0].Codes.At(1) {
			t.Errorf("with quote %q: code %d, want that of the first %d bytes, %d", quote, got, room, want)
		}
	}
}
