// SPDX-License-Identifier: Apache-2.0

package secsum

import (
	"encoding"
	"encoding/binary"
	"sync"

	"github.com/cloudflare/circl/group"
)

// A commitment to scalars v_1 to v_m is r·G_0 + v_1·G_1 + ... + v_m·G_m, for a uniform
// scalar r (Pedersen). It fits every v_1 to v_m for one r each, so that it shows
// nothing of them; and two ways to open it show how the generators depend on each other,
// which takes a discrete logarithm. Commitments add up as scalars do.

const generatorLabel = "discreet secsum generator 1\x00"

// generators are the same for all sums. As many are stored as the largest sum needed.
var generators struct {
	sync.Mutex
	list []group.Element
}

// listGenerators returns G_0 to G_{n-1}, hashed to the group from their numbers
// (4.1).
func listGenerators(n int) []group.Element {
	generators.Lock()
	defer generators.Unlock()
	for i := len(generators.list); i < n; i++ {
		generators.list = append(generators.list,
			group.Ristretto255.HashToElement(binary.BigEndian.AppendUint32(nil, uint32(i)), []byte(generatorLabel)))
	}
	return generators.list[:n:n]
}

// addMultiples returns the sum of points, each multiplied by its scalar, by Pippenger's method. The
// number of additions depends on the number of points alone, because a digit of 0 has a bucket as
// well.
func addMultiples(scalars []group.Scalar, points []group.Element) (group.Element, error) {
	digits := make([][]byte, len(scalars)) // of base 256, lowest first
	for i, s := range scalars {
		var err error
		if digits[i], err = s.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	width := windowFor(len(points))
	buckets := make([]group.Element, 1<<width)
	sum := group.Ristretto255.Identity()
	for window := scalarBits / width; window >= 0; window-- {
		for range width {
			sum.Dbl(sum)
		}
		for i := range buckets {
			buckets[i] = group.Ristretto255.Identity()
		}
		for i, p := range points {
			b := buckets[digitAt(digits[i], window*width, width)]
			b.Add(b, p)
		}
		running := group.Ristretto255.Identity()
		for i := len(buckets) - 1; i > 0; i-- {
			running.Add(running, buckets[i])
			sum.Add(sum, running)
		}
	}
	return sum, nil
}

// mostDigit is the largest number of bits in a digit: digitAt reads three bytes.
const mostDigit = 16

// windowFor returns the number of bits per digit that minimises the additions for this number of
// points.
func windowFor(points int) (width int) {
	cost := func(w int) int { return (scalarBits/w + 1) * (points + 2<<w + w) }
	for width = 1; width < mostDigit && cost(width+1) < cost(width); width++ {
	}
	return width
}

// digitAt returns the number in width bits, at most mostDigit, from bit at on.
func digitAt(b []byte, at, width int) int {
	v := 0
	for i := range 3 {
		if k := at/8 + i; k < len(b) {
			v |= int(b[k]) << (8 * i)
		}
	}
	return v >> (at % 8) & (1<<width - 1)
}

// readElements parses group elements in canonical form.
func readElements(b []byte) ([]group.Element, error) {
	return readEach(b, elementBytes, group.Ristretto255.NewElement, "elements of the group")
}

// readEach parses parts of b, each of some size, into new values; what names them.
func readEach[T encoding.BinaryUnmarshaler](b []byte, size int, fresh func() T, what string) ([]T, error) {
	out := make([]T, len(b)/size)
	for i := range out {
		out[i] = fresh()
		if err := out[i].UnmarshalBinary(b[i*size : (i+1)*size]); err != nil {
			return nil, refuseMessage("the bytes are no %s", what)
		}
	}
	return out, nil
}

// writeElements is the inverse of readElements.
func writeElements(elements []group.Element) (out []byte, err error) {
	for _, e := range elements {
		b, err := e.MarshalBinary()
		if err != nil {
			return nil, err
		}
		out = append(out, b...)
	}
	return out, nil
}
