// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"crypto"
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"
)

// Writer writes one votes file. After the last row, Close signs it.
type Writer struct {
	h    Header
	key  ed25519.PrivateKey
	w    io.Writer
	sum  hash.Hash
	left int
	buf  []byte
}

// NewWriter writes the header to w, with the public half of key as its Key.
func NewWriter(w io.Writer, h Header, key ed25519.PrivateKey) (*Writer, error) {
	copy(h.Key[:], key.Public().(ed25519.PublicKey))
	if err := h.checkFields(); err != nil {
		return nil, err
	}
	text, err := h.encodeText()
	if err != nil {
		return nil, err
	}
	if len(text) > maxHeader {
		return nil, fmt.Errorf("multiparty: votes: the header must fit %d bytes (got %d)", maxHeader, len(text))
	}
	v := &Writer{h: h, key: key, w: w, sum: sha512.New(), left: h.countItems()}
	return v, v.writeBytes(append([]byte(magic), text...))
}

func (v *Writer) writeBytes(b []byte) error {
	v.sum.Write(b)
	_, err := v.w.Write(b)
	return err
}

func (v *Writer) takeItems(kind Kind, items int) error {
	if v.h.Kind != kind || items > v.left {
		return fmt.Errorf("multiparty: votes: a file of kind %q with %d more items cannot take %d of kind %q", v.h.Kind,
			v.left, items, kind)
	}
	v.left -= items
	v.buf = v.buf[:0]
	return nil
}

// Labels writes the codes of the next rows.
func (v *Writer) Labels(codes []uint8) error {
	if err := v.takeItems(Labels, len(codes)); err != nil {
		return err
	}
	for _, c := range codes {
		if int(c) >= len(v.h.Levels) {
			return fmt.Errorf("multiparty: votes: a label's code must be below %d (got %d)", len(v.h.Levels), c)
		}
	}
	return v.writeBytes(codes)
}

// Probabilities writes the next rows, K numbers each, on any scale. A row with numbers that are
// negative or not finite, or that are all 0, becomes the constant vote.
func (v *Writer) Probabilities(p []float64) error {
	levels := len(v.h.Levels)
	if len(p)%levels != 0 {
		return fmt.Errorf("multiparty: votes: probabilities must come %d to a row (got %d)", levels, len(p))
	}
	if err := v.takeItems(Probabilities, len(p)/levels); err != nil {
		return err
	}
	for row := range slices.Chunk(p, levels) {
		for _, u := range roundToUnits(row)[:levels-1] {
			v.buf = binary.LittleEndian.AppendUint16(v.buf, u)
		}
	}
	return v.writeBytes(v.buf)
}

// roundToUnits rounds a row's shares to units that add up to One: it rounds down and gives the
// remaining units to the largest fractions, the first of equal ones.
func roundToUnits(p []float64) []uint16 {
	total := 0.0
	for _, x := range p {
		if !(x >= 0) {
			total = math.NaN()
		}
		total += x
	}
	out, rest := make([]uint16, len(p)), make([]float64, len(p))
	order := make([]int, len(p))
	left := One
	for k, x := range p {
		share := 1 / float64(len(p))
		if total > 0 && total <= math.MaxFloat64 {
			share = x / total
		}
		exact := share * One
		out[k] = uint16(min(exact, float64(left)))
		rest[k], order[k] = exact-float64(out[k]), k
		left -= int(out[k])
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case rest[a] > rest[b]:
			return -1
		case rest[a] < rest[b]:
			return 1
		}
		return 0
	})
	for i := 0; left > 0; i, left = (i+1)%len(order), left-1 {
		out[order[i]]++
	}
	return out
}

// Coefficients writes all coefficients: those of Layout, then the intercept.
func (v *Writer) Coefficients(coef []float64) error {
	if err := v.takeItems(Coefficients, len(coef)); err != nil {
		return err
	}
	for _, c := range coef {
		if math.IsNaN(c) || math.IsInf(c, 0) {
			return fmt.Errorf("multiparty: votes: coefficients must be finite")
		}
		v.buf = binary.LittleEndian.AppendUint64(v.buf, math.Float64bits(c))
	}
	return v.writeBytes(v.buf)
}

// Close signs the file. It does not close the underlying writer.
func (v *Writer) Close() error {
	if v.left != 0 {
		return fmt.Errorf("multiparty: votes: %d items are missing", v.left)
	}
	signature, err := v.key.Sign(nil, v.sum.Sum(nil), &ed25519.Options{Hash: crypto.SHA512})
	if err != nil {
		return fmt.Errorf("multiparty: votes: %w", err)
	}
	_, err = v.w.Write(signature)
	return err
}
