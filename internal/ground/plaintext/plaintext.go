// SPDX-License-Identifier: Apache-2.0

// Package plaintext keeps texts of other programs and people from acting on a terminal: no control
// character reaches it, and no value can begin a line of its own.
package plaintext

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Is accepts text that prints as it reads: valid UTF-8 on one line, without control characters or
// characters that reorder or hide text.
func Is(s string) bool {
	for _, c := range s {
		if c == utf8.RuneError || !isShown(c) {
			return false
		}
	}
	return true
}

// isShown accepts graphic characters but those that draw nothing or change the one before: variation
// selectors, fillers and the blank pattern of Braille.
func isShown(c rune) bool {
	return unicode.IsGraphic(c) && c != '\u2800' &&
		!unicode.In(c, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// Count returns n things in words: 1 row, 2 rows, 2 entries.
func Count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	if stem, ok := strings.CutSuffix(one, "ry"); ok {
		return fmt.Sprintf("%d %sries", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Escape returns s on one line, with every other character than graphic ones as \n, \t, \r, \u001b or,
// for a byte that is not UTF-8, \x9b. Within a string of JSON the escapes mean the same text.
func Escape(s string) string { return string(appendEscaped(nil, []byte(s), "")) }

// appendEscaped appends text to b, escaped but for the characters in pass.
func appendEscaped(b, text []byte, pass string) []byte {
	for len(text) > 0 {
		c, n := utf8.DecodeRune(text)
		switch {
		case c == utf8.RuneError && n == 1:
			b = fmt.Appendf(b, `\x%02x`, text[0])
		case isShown(c), strings.ContainsRune(pass, c):
			b = append(b, text[:n]...)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c > 0xffff:
			high, low := utf16.EncodeRune(c)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default:
			b = fmt.Appendf(b, `\u%04x`, c)
		}
		text = text[n:]
	}
	return b
}

// Sprintf is fmt.Sprintf with each text among the values escaped: only the format breaks lines.
func Sprintf(format string, values ...any) string { return fmt.Sprintf(format, escapeAll(values)...) }

// Fprintf is fmt.Fprintf with each text among the values escaped.
func Fprintf(w io.Writer, format string, values ...any) (int, error) {
	return io.WriteString(w, Sprintf(format, values...))
}

func escapeAll(values []any) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = value{v}
	}
	return out
}

// value formats a value as package fmt does, and escapes the result.
type value struct{ of any }

// Format implements fmt.Formatter.
func (v value) Format(s fmt.State, verb rune) {
	text := fmt.Sprintf(fmt.FormatString(s, verb), v.of)
	_, _ = io.WriteString(s, Escape(text)) // a State keeps what is written
}

// Writer escapes all that is not graphic, a line break or a tab.
type Writer struct {
	mutex sync.Mutex
	to    io.Writer
	rest  []byte // the beginning of a character that the next Write continues
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{to: w} }

// Write implements io.Writer.
func (w *Writer) Write(text []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	all := append(w.rest, text...)
	whole := len(all)
	for i := max(0, len(all)-utf8.UTFMax+1); i < len(all); i++ {
		if utf8.RuneStart(all[i]) && !utf8.FullRune(all[i:]) {
			whole = i
		}
	}
	w.rest = append([]byte(nil), all[whole:]...)
	if err := w.send(all[:whole]); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Close writes what has been held back: the beginning of a character that never ended. It does not
// close the writer below.
func (w *Writer) Close() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	rest := w.rest
	w.rest = nil
	if len(rest) == 0 {
		return nil
	}
	return w.send(rest)
}

func (w *Writer) send(text []byte) error {
	_, err := w.to.Write(appendEscaped(nil, text, "\n\t"))
	return err
}
