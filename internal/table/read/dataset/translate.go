// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/read/pages"
)

const (
	unseen  = ^uint32(0)     // an entry of the dictionary that has not occurred yet
	uncoded = ^uint32(0) - 1 // a cell or an entry that has no code
)

// translator converts the runs of a chunk into codes. It codes an entry of the chunk's dictionary when
// it first occurs, so that a number's codes are in the order of first appearance in every file format.
type translator struct {
	coder   *coder
	chunk   *pages.Chunk
	digits  []byte
	entries []uint32 // code of each entry of the chunk's dictionary
	codes   []uint32
	faulty  bool          // codes contains an uncoded cell
	fates   []coding.Fate // of each entry of the dictionary, if cells are counted; nil: all are read as they are
	fate    coding.Fate   // of the cell that was coded last
	each    int           // the number of cells that one cell stands for
}

// appendCodes stores the codes of a run. It calls fault for each row that has none.
func (t *translator) appendCodes(r *pages.Run, fault func(row int) error) error {
	t.codes = slices.Grow(t.codes[:0], r.N)[:r.N]
	t.faulty = false
	if r.Present == nil {
		if err := t.translateRun(r, 0, t.codes); err != nil {
			return err
		}
	} else if err := t.translateSparse(r); err != nil {
		return err
	}
	for i := 0; t.faulty && i < r.N; i++ {
		if t.codes[i] == uncoded {
			t.codes[i] = 0
			if err := fault(i); err != nil {
				return err
			}
		}
	}
	t.coder.store(t.codes)
	return nil
}

// translateSparse codes the alternating stretches of present and missing cells.
func (t *translator) translateSparse(r *pages.Run) error {
	value := 0
	for from := 0; from < r.N; {
		to := from + 1
		for to < r.N && r.Present[to] == r.Present[from] {
			to++
		}
		if r.Present[from] == 1 {
			if err := t.translateRun(r, value, t.codes[from:to]); err != nil {
				return err
			}
			value += to - from
		} else {
			t.each = to - from
			missing := t.orUncoded(t.coder.code(t.coder.ReadMissing()))
			for i := range t.codes[from:to] {
				t.codes[from+i] = missing
			}
		}
		from = to
	}
	return nil
}

// translateRun codes the values of r, beginning with the given one.
func (t *translator) translateRun(r *pages.Run, from int, out []uint32) error {
	if r.Indices == nil {
		cells := r.Values.Slice(from, from+len(out))
		t.each = 1
		t.codeCells(&cells, out)
		return nil
	}
	if t.entries == nil {
		t.entries = make([]uint32, t.chunk.N)
		for i := range t.entries {
			t.entries[i] = unseen
		}
	}
	entries := t.entries
	for i, x := range r.Indices[from : from+len(out)] {
		if uint64(x) >= uint64(len(entries)) {
			return pages.ErrValues
		}
		code := entries[x]
		if code >= uncoded {
			if code == unseen {
				t.codeEntry(int(x))
				code = entries[x]
			}
			t.faulty = t.faulty || code == uncoded
		}
		out[i] = code
	}
	if t.fates != nil {
		for _, x := range r.Indices[from : from+len(out)] {
			t.coder.count(t.fates[x], 1)
		}
	}
	return nil
}

// codeEntry codes an entry of the dictionary. Its cells are counted where they are.
func (t *translator) codeEntry(x int) {
	entry := t.chunk.Dict.Slice(x, x+1)
	t.each = 0
	t.codeCells(&entry, t.entries[x:x+1])
	if t.fate == coding.Read || t.coder.counts == nil {
		return
	}
	if t.fates == nil {
		t.fates = make([]coding.Fate, len(t.entries))
	}
	t.fates[x] = t.fate
}

func (t *translator) codeCells(cells *pages.Values, out []uint32) {
	c, meaning := t.coder, t.chunk.Type().Meaning
	switch {
	case meaning == pages.Null:
		for i := range out {
			out[i] = t.orUncoded(c.code(c.ReadMissing()))
		}
	case cells.Kind == pages.Ints && meaning == pages.Plain:
		for i, x := range cells.Ints {
			out[i] = t.orUncoded(c.code(c.ReadInteger(x)))
		}
	case cells.Kind == pages.Ints:
		for i, x := range cells.Ints {
			out[i] = t.orUncoded(c.code(t.readSpecial(x)))
		}
	case cells.Kind == pages.Floats && meaning == pages.Single:
		for i, x := range cells.Floats {
			out[i] = t.orUncoded(c.code(c.ReadSingle(float32(x))))
		}
	case cells.Kind == pages.Floats:
		for i, x := range cells.Floats {
			out[i] = t.orUncoded(c.code(c.ReadFloat(x)))
		}
	case cells.Kind == pages.Texts && meaning == pages.Decimal:
		for i, b := range cells.Texts {
			if x, ok := pages.Unscaled(b); ok {
				out[i] = t.orUncoded(c.code(t.readSpecial(x)))
				continue
			}
			t.digits = pages.AppendDigits(t.digits[:0], b, t.chunk.Type().Scale)
			out[i] = t.orUncoded(c.code(coding.ReadDecimal(c.Coder, t.digits)))
		}
	case cells.Kind == pages.Texts:
		for i, x := range cells.Texts {
			out[i] = t.orUncoded(c.code(coding.ReadText(c.Coder, x)))
		}
	default:
		for i, x := range cells.Truths {
			out[i] = t.orUncoded(c.code(c.ReadTruth(x == 1)))
		}
	}
}

// readSpecial reads an integer that stands for something else.
func (t *translator) readSpecial(x int64) (column.Cell, coding.Fate) {
	c, of := t.coder, t.chunk.Type()
	if of.PerDay > 0 && x == pages.NoTime {
		return c.ReadMissing()
	}
	switch of.Meaning {
	case pages.Day:
		return c.ReadDay(int(x))
	case pages.Local:
		return c.ReadDay(int(of.Day(x)))
	case pages.Instant:
		return c.ReadInstant(of.Seconds(x), 0)
	case pages.Decimal:
		if exact := of.Scale < len(powersOfTen) && x > -1<<53 && x < 1<<53; exact && c.Number && !c.IsDate() {
			return c.ReadFloat(float64(x) / powersOfTen[of.Scale]) // of exact numbers, so that one rounding is left
		}
		t.digits = pages.AppendPoint(t.digits[:0], strconv.AppendInt(nil, x, 10), of.Scale)
	case pages.Unsigned:
		if x >= 0 {
			return c.ReadInteger(x)
		}
		t.digits = strconv.AppendUint(t.digits[:0], uint64(x), 10)
	}
	return coding.ReadDecimal(c.Coder, t.digits)
}

// powersOfTen are those that a float64 has exactly.
var powersOfTen = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
	1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

func (t *translator) orUncoded(code uint32, fate coding.Fate) uint32 {
	t.fate = fate
	t.coder.count(fate, t.each)
	if fate.Refused() {
		t.faulty = true
		return uncoded
	}
	return code
}
