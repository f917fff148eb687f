// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"errors"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// codePages are the declarable encodings in which a character is a byte.
var codePages = map[string]*charmap.Charmap{"windows-1250": charmap.Windows1250, "windows-1252": charmap.Windows1252,
	"iso-8859-1": charmap.ISO8859_1, "iso-8859-15": charmap.ISO8859_15}

// decodeText converts a file's text from a declarable encoding to UTF-8. Text in UTF-8, which is "",
// passes unchanged.
func decodeText(file string, src io.Reader, encoding string) io.Reader {
	if page := codePages[encoding]; page != nil {
		return transform.NewReader(src, newCodePage(page))
	}
	if encoding == "utf-16" {
		return &markedText{file, transform.NewReader(src, unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder())}
	}
	return src
}

// encodeText is the reverse of decodeText. A character that the encoding lacks becomes a question mark.
func encodeText(w io.Writer, encoding string) io.WriteCloser {
	if page := codePages[encoding]; page != nil {
		return transform.NewWriter(w, newToCodePage(page))
	}
	if encoding == "utf-16" {
		return transform.NewWriter(w, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder())
	}
	return transform.NewWriter(w, transform.Nop)
}

// codePage converts bytes to characters. A byte that the encoding does not define is the control
// character of the same number, so that different texts remain different.
type codePage struct {
	transform.NopResetter
	runes [256]rune
}

func newCodePage(page *charmap.Charmap) *codePage {
	p := &codePage{}
	for b := range p.runes {
		if p.runes[b] = page.DecodeByte(byte(b)); p.runes[b] == utf8.RuneError {
			p.runes[b] = rune(b)
		}
	}
	return p
}

func (p *codePage) Transform(dst, src []byte, _ bool) (written, read int, err error) {
	for ; read < len(src); read++ {
		if len(dst)-written < utf8.UTFMax {
			return written, read, transform.ErrShortDst
		}
		written += utf8.EncodeRune(dst[written:], p.runes[src[read]])
	}
	return written, read, nil
}

// toCodePage converts characters to bytes.
type toCodePage struct {
	transform.NopResetter
	bytes map[rune]byte
}

func newToCodePage(page *charmap.Charmap) *toCodePage {
	p := &toCodePage{bytes: map[rune]byte{}}
	for b, r := range newCodePage(page).runes {
		p.bytes[r] = byte(b)
	}
	return p
}

func (p *toCodePage) Transform(dst, src []byte, atEnd bool) (written, read int, err error) {
	for read < len(src) {
		if !atEnd && !utf8.FullRune(src[read:]) {
			return written, read, transform.ErrShortSrc
		}
		if written == len(dst) {
			return written, read, transform.ErrShortDst
		}
		r, n := utf8.DecodeRune(src[read:])
		b, known := p.bytes[r]
		if !known {
			b = '?'
		}
		dst[written] = b
		written, read = written+1, read+n
	}
	return written, read, nil
}

// markedText is text that must begin with a byte-order mark.
type markedText struct {
	file string
	r    io.Reader
}

func (m *markedText) Read(b []byte) (int, error) {
	n, err := m.r.Read(b)
	if errors.Is(err, unicode.ErrMissingBOM) {
		err = &FaultError{File: m.file, Fault: "must begin with a byte-order mark, since the schema declares the encoding utf-16"}
	}
	return n, err
}
