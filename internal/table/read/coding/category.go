// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// categories are the values of a category or a label.
type categories struct {
	levels   map[string]spelled // by their text in NFC
	prefixes []prefix           // the longest first
	truths   [2]int             // codes of false and true; -1 if the values are none
	buckets  int                // number of codes for undeclared values, the last codes before "other"
	missing  int                // code of a missing cell; -1 if there is none
	unknown  int                // code of any other undeclared cell; -1 if there is none
	isLabel  bool
}

// spelled is what a declared text means.
type spelled struct {
	code int // -1 if there is none
	fate Fate
}

// prefix is the prefix of the values of a level.
type prefix struct {
	text string
	code uint32
}

func newCategories(levels []schema.Level, signs []string, missing, unknown, buckets int) categories {
	c := categories{levels: map[string]spelled{}, truths: [2]int{-1, -1}, buckets: buckets, missing: missing, unknown: unknown}
	for _, sign := range signs {
		c.levels[norm.NFC.String(sign)] = spelled{missing, Missing}
	}
	for code, l := range levels {
		// If a level's spelling is also a sign for a missing cell, the cell is that level: the column's
		// declaration takes precedence over the file's.
		for _, text := range append([]string{l.Value}, l.Aliases...) {
			c.levels[norm.NFC.String(text)] = spelled{code, Read}
		}
		for _, text := range l.Prefixes {
			c.prefixes = append(c.prefixes, prefix{norm.NFC.String(text), uint32(code)})
		}
	}
	slices.SortStableFunc(c.prefixes, func(a, b prefix) int { return cmp.Compare(len(b.text), len(a.text)) })
	c.findTruths()
	return c
}

// findTruths finds the levels of false and true: those that are spelled so, in any case, or else those
// of 0 and 1. There must be one of each.
func (c *categories) findTruths() {
	found := [2]int{-1, -1}
	for text, at := range c.levels {
		x := truthOf(text)
		switch {
		case x < 0 || at.fate != Read:
		case found[x] >= 0 && found[x] != at.code:
			return
		default:
			found[x] = at.code
		}
	}
	if found[0] < 0 && found[1] < 0 {
		for x, digit := range []string{"0", "1"} {
			if at, ok := c.levels[digit]; ok && at.fate == Read {
				found[x] = at.code
			}
		}
	}
	if found[0] >= 0 && found[1] >= 0 && found[0] != found[1] {
		c.truths = found
	}
}

// truthOf returns 0 or 1 for the word false or true in any case, and -1 for any other text.
func truthOf[T string | []byte](text T) int {
	switch {
	case len(text) == 5 && strings.EqualFold(string(text), "false"):
		return 0
	case len(text) == 4 && strings.EqualFold(string(text), "true"):
		return 1
	}
	return -1
}

// readCategory returns the code of a text: of the level with this text in NFC; else of the longest
// declared prefix; else of the level that is plainly spelt and the same whole number or truth value;
// else of the text's bucket, or of "other".
func readCategory[T string | []byte](c *Coder, cell T) (column.Cell, Fate) {
	if c.identify != nil {
		return c.readIdentifier([]byte(cell))
	}
	if at, ok := c.levels[string(cell)]; ok {
		return codeOrFault(at.code, at.fate)
	}
	return c.readUnusual([]byte(cell))
}

func (c *Coder) readUnusual(text []byte) (column.Cell, Fate) {
	cell := text
	if !isASCII(cell) {
		cell = norm.NFC.Bytes(cell)
		if at, ok := c.levels[string(cell)]; ok {
			return codeOrFault(at.code, at.fate)
		}
	}
	for i := range c.prefixes {
		if bytes.HasPrefix(cell, []byte(c.prefixes[i].text)) {
			return column.Cell{Code: c.prefixes[i].code}, Read
		}
	}
	if digits, ok := c.wholeDigits(cell); ok {
		if at, ok := c.levels[string(digits)]; ok {
			return codeOrFault(at.code, at.fate)
		}
		cell = digits
	}
	truth := truthOf(cell)
	if len(cell) == 1 && (cell[0] == '0' || cell[0] == '1') {
		truth = int(cell[0] - '0')
	}
	if truth >= 0 && c.truths[truth] >= 0 {
		return column.Cell{Code: uint32(c.truths[truth])}, Read
	}
	if c.buckets > 0 {
		return column.Cell{Code: uint32(c.unknown - c.buckets + bucketOf(cell, c.buckets))}, Read
	}
	note(c, text)
	if c.isLabel {
		return codeOrFault(c.unknown, Unreadable)
	}
	return codeOrFault(c.unknown, Other)
}

// wholeDigits returns the digits of a text that is a whole number without leading zeros, such as 12.0
// or 1e+05. They are plainly spelt: a sign only for numbers below 0, and no point.
func (c *Coder) wholeDigits(cell []byte) (digits []byte, ok bool) {
	const longest = 40 // of such numbers; others are not whole to a float64
	if len(cell) > longest {
		return nil, false
	}
	text, ok := cell, true
	if c.numerals.odd || hasMinusSign(cell) {
		if text, ok = c.numerals.appendPlain(nil, cell); !ok {
			return nil, false
		}
	}
	text = bytes.TrimPrefix(text, []byte("+"))
	unsigned := bytes.TrimPrefix(text, []byte("-"))
	if !isDecimal(text) || len(unsigned) > 1 && unsigned[0] == '0' && unsigned[1]-'0' <= 9 {
		return nil, false
	}
	if whole, rest, _ := bytes.Cut(text, []byte(".")); len(whole) > 0 && len(bytes.Trim(rest, "0")) == 0 &&
		countDigits(unsigned) > 0 && !bytes.ContainsAny(whole, "eE") {
		text = whole
	} else if x, ok := ParseDecimal(text); ok && x == float64(int64(x)) && x < 1<<53 && x > -1<<53 {
		text = AppendDecimal(nil, x)
	} else {
		return nil, false
	}
	if string(text) == "-0" {
		text = text[1:]
	}
	return text, true
}

func isASCII(text []byte) bool {
	for _, b := range text {
		if b >= 0x80 {
			return false
		}
	}
	return true
}

// Spellings lists every text that has its own code in a category or a label, sorted, and the codes.
// Whole numbers and truth values have further spellings, of which it lists the usual ones. All other
// texts have the code of "other".
func (c *Coder) Spellings() (texts []string, codes []uint32) {
	all := map[string]uint32{}
	add := func(text string) {
		if _, ok := c.levels[text]; !ok && strings.Count(text, ".") <= 1 {
			if v, fate := readCategory(c, text); fate == Read && c.buckets == 0 {
				all[text] = v.Code
			}
		}
	}
	for text, at := range c.levels {
		if at.code >= 0 {
			all[text] = uint32(at.code)
		}
		if digits, ok := c.wholeDigits([]byte(text)); ok && string(digits) == text {
			add(text + ".0")
			add(text + ",0")
		}
	}
	for _, text := range []string{"false", "true", "False", "True", "FALSE", "TRUE", "0", "1", "0.0", "1.0", "0,0", "1,0"} {
		add(text)
	}
	texts = slices.Sorted(maps.Keys(all))
	for _, text := range texts {
		codes = append(codes, all[text])
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

// bucketOf returns the bucket, from 0, of a value among n: FNV-1a of 64 bits over the text's bytes,
// modulo n. It is public, and no secret depends on it.
func bucketOf[T string | []byte](value T, n int) int {
	h := uint64(14695981039346656037)
	for i := range len(value) {
		h = (h ^ uint64(value[i])) * 1099511628211
	}
	return int(h % uint64(n))
}

func codeOrFault(code int, f Fate) (column.Cell, Fate) {
	if code < 0 {
		return column.Cell{}, f | refused
	}
	return column.Cell{Code: uint32(code)}, f
}
