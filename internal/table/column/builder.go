// SPDX-License-Identifier: Apache-2.0

package column

// Builder appends codes and widens its storage if a code needs it. The zero Builder is ready to use.
type Builder struct {
	codes Codes
}

// Grow reserves capacity for n codes in total at the present width.
func (b *Builder) Grow(n int) {
	switch c := &b.codes; {
	case c.U32 != nil:
		c.U32 = growBy(c.U32, n)
	case c.U16 != nil:
		c.U16 = growBy(c.U16, n)
	default:
		c.U8 = growBy(c.U8, n)
	}
}

// Append adds codes. It does not retain the slice.
func (b *Builder) Append(codes []uint32) {
	c, fits := &b.codes, false
	if c.U16 == nil && c.U32 == nil {
		if c.U8, fits = appendNarrow(c.U8, codes); fits {
			return
		}
		c.U16, c.U8 = rewiden[uint8, uint16](c.U8), nil
	}
	if c.U32 == nil {
		if c.U16, fits = appendNarrow(c.U16, codes); fits {
			return
		}
		c.U32, c.U16 = rewiden[uint16, uint32](c.U16), nil
	}
	c.U32 = append(c.U32, codes...)
}

// Codes returns what was appended. The Builder must not be used afterwards.
func (b *Builder) Codes() Codes { return b.codes }

func growBy[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s
	}
	return append(make([]T, 0, n), s...)
}

// rewiden keeps the capacity, so that what Grow reserved stays reserved. The result is not nil.
func rewiden[T uint8 | uint16, W uint16 | uint32](s []T) []W {
	out := make([]W, len(s), max(cap(s), 1))
	for i, c := range s {
		out[i] = W(c)
	}
	return out
}

// appendNarrow appends codes, or nothing if one of them does not fit.
func appendNarrow[T uint8 | uint16](s []T, codes []uint32) (_ []T, fits bool) {
	at := len(s)
	if cap(s)-at < len(codes) {
		s = append(s, make([]T, len(codes))...)
	} else {
		s = s[:at+len(codes)]
	}
	var bits uint32
	to := s[at:][:len(codes)]
	for i, c := range codes {
		to[i] = T(c)
		bits |= c
	}
	if bits > uint32(^T(0)) {
		return s[:at], false
	}
	return s, true
}
