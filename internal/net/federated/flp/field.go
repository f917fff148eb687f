// SPDX-License-Identifier: Apache-2.0

package flp

import (
	"errors"

	"filippo.io/edwards25519"
)

// Field is a pointer to an element of a prime field. The fields of circl/vdaf/prio3/arith implement
// it, for example VDAF's Field64 and Field128.
type Field[E any] interface {
	*E
	Add(x, y *E)
	Sub(x, y *E)
	Mul(x, y *E)
	Inv(x *E)
	SetUint64(x uint64) error
	IsZero() bool
	IsEqual(x *E) bool
}

// Scalar is an integer modulo the order of ristretto255, 2^252 +
// 27742317777372353535851937790883648493.
type Scalar struct{ s edwards25519.Scalar }

// ScalarBytes is the size of a scalar's bytes.
const ScalarBytes = 32

func (z *Scalar) Add(x, y *Scalar) { z.s.Add(&x.s, &y.s) }
func (z *Scalar) Sub(x, y *Scalar) { z.s.Subtract(&x.s, &y.s) }
func (z *Scalar) Mul(x, y *Scalar) { z.s.Multiply(&x.s, &y.s) }

// Inv sets z to 1/x, and to 0 for 0.
func (z *Scalar) Inv(x *Scalar) { z.s.Invert(&x.s) }

// SetUint64 sets z to x. It always returns nil.
func (z *Scalar) SetUint64(x uint64) error {
	var b [ScalarBytes]byte
	for i := range 8 {
		b[i] = byte(x >> (8 * i))
	}
	_, err := z.s.SetCanonicalBytes(b[:])
	return err
}

func (z *Scalar) IsZero() bool           { return z.IsEqual(new(Scalar)) }
func (z *Scalar) IsEqual(x *Scalar) bool { return z.s.Equal(&x.s) == 1 }

// SetUniform sets z to 64 uniform bytes, little-endian, modulo the order.
func (z *Scalar) SetUniform(b *[64]byte) {
	if _, err := z.s.SetUniformBytes(b[:]); err != nil {
		panic(err) // it has 64 bytes
	}
}

// SetBytes sets z to 32 bytes, little-endian. It refuses a number that is not below the order.
func (z *Scalar) SetBytes(b []byte) error {
	if _, err := z.s.SetCanonicalBytes(b); err != nil {
		return errors.New("flp: the bytes are not a scalar")
	}
	return nil
}

// Append appends the 32 bytes of z.
func (z *Scalar) Append(b []byte) []byte { return append(b, z.s.Bytes()...) }
