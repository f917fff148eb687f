// SPDX-License-Identifier: Apache-2.0

package model

import "bytes"

// layOut breaks compact JSON into lines with an indent of two spaces, starting at the given depth. A
// list of plain values stays on one line, so that a thousand coefficients take one line and not a
// thousand. It stops once it has written more than most bytes.
func layOut(compact []byte, depth, most int) []byte {
	var out bytes.Buffer
	line := func() {
		out.WriteByte('\n')
		for range depth {
			out.WriteString("  ")
		}
	}
	for i := 0; i < len(compact) && out.Len() <= most; {
		c := compact[i]
		if n := flatLength(compact[i:]); n > 0 {
			writeSpaced(&out, compact[i:i+n])
			i += n
			continue
		}
		switch c {
		case '{', '[':
			depth++
			out.WriteByte(c)
			line()
		case '}', ']':
			depth--
			line()
			out.WriteByte(c)
		case ',':
			out.WriteByte(c)
			line()
		case ':':
			out.WriteString(": ")
		default:
			out.WriteByte(c)
		}
		i++
	}
	return out.Bytes()
}

// flatLength returns the length of the string or the list of plain values at the start of compact, or
// 0 if something else starts there.
func flatLength(compact []byte) int {
	switch {
	case compact[0] == '"':
		return textLength(compact)
	case compact[0] != '[':
		return 0
	}
	for i := 1; i < len(compact); {
		switch compact[i] {
		case '[', '{':
			return 0
		case ']':
			return i + 1
		case '"':
			i += textLength(compact[i:])
		default:
			i++
		}
	}
	return 0
}

// writeSpaced writes a value that flatLength found, with a space after the commas of a list.
func writeSpaced(out *bytes.Buffer, s []byte) {
	for i := 0; i < len(s); {
		n := 1
		if s[i] == '"' {
			n = textLength(s[i:])
		}
		out.Write(s[i : i+n])
		if s[i] == ',' {
			out.WriteByte(' ')
		}
		i += n
	}
}

// textLength returns the length of the JSON string at the start of s.
func textLength(s []byte) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}
