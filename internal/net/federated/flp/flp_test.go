// SPDX-License-Identifier: Apache-2.0

package flp

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/cloudflare/circl/vdaf/prio3/arith/fp64"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// draw is uniform scalars of a seeded source.
func draw(src rng.Source, n int) []Scalar {
	out := make([]Scalar, n)
	for i := range out {
		var b [64]byte
		for j := 0; j < len(b); j += 8 {
			binary.LittleEndian.PutUint64(b[j:], src.Uint64())
		}
		out[i].SetUniform(&b)
	}
	return out
}

func small(n uint64) Scalar { return number[Scalar](n) }

// negative is −n in the field.
func negative(n uint64) (z Scalar) {
	zero, x := small(0), small(n)
	z.Sub(&zero, &x)
	return z
}

// half is 1/2 in the field: far from every small number.
func half() (z Scalar) {
	two := small(2)
	z.Inv(&two)
	return z
}

var counts = []uint64{2, 3, 15, 16, 17, 31, 32, 33, 100, 255, 256, 257, 4095, 4097, 65537, 49153 + 64}

// TestDigitsAreExact: the sums of digits are the numbers of the range, each of them and
// no other, in every base that occurs; at the end of the largest ranges too.
func TestDigitsAreExact(t *testing.T) {
	for count := uint64(2); count <= 700; count++ {
		sums := map[uint64]bool{0: true}
		for _, d := range DigitsFor(count) {
			next := map[uint64]bool{}
			for s := range sums {
				for v := range d.Values {
					next[s+uint64(v)*d.Weight] = true
				}
			}
			sums = next
		}
		if uint64(len(sums)) != count || !sums[count-1] {
			t.Fatalf("%d numbers: digits stand for %d", count, len(sums))
		}
	}
	src := replay.Seeded(3, "digits")
	for range 2000 {
		count := 2 + rng.Below(src, 1<<62)>>(src.Uint64()%61)
		if count < 2 {
			count = 2
		}
		most := new(big.Int)
		reach := new(big.Int) // every number up to it has digits among those so far
		for _, d := range slices.Backward(DigitsFor(count)) {
			w := new(big.Int).SetUint64(d.Weight)
			if w.Cmp(new(big.Int).Add(reach, big.NewInt(1))) > 0 || d.Values < 2 || d.Values > base {
				t.Fatalf("%d numbers: a gap before weight %v, %d values", count, w, d.Values)
			}
			reach.Add(reach, most.Mul(w, big.NewInt(int64(d.Values-1))))
		}
		if reach.Uint64() != count-1 {
			t.Fatalf("%d numbers: digits reach %v", count, reach)
		}
		r := NewRanges[Scalar](3, count)
		numbers := []uint64{0, count - 1, rng.Below(src, count)}
		for i, got := range r.Decode(r.Encode(numbers)) {
			if want := small(numbers[i]); !got.IsEqual(&want) {
				t.Fatalf("%d numbers: %d does not come back", count, numbers[i])
			}
		}
	}
}

// TestGadgetIsTheProduct: the gadget, which multiplies pairs, against the product as it is
// defined, on the values of a digit, beside them and anywhere.
func TestGadgetIsTheProduct(t *testing.T) {
	src := replay.Seeded(5, "gadget")
	for n := 2; n <= base; n++ {
		r := &Ranges[Scalar, *Scalar]{digits: []Digit{{n, 1}}, small: NewRanges[Scalar](1, 2).small}
		ys := append(draw(src, 3), negative(1), half())
		for v := range uint64(n) + 2 {
			ys = append(ys, small(v))
		}
		for _, y := range ys {
			want := small(1)
			for v := range uint64(n) {
				var f Scalar
				c := small(v)
				f.Sub(&y, &c)
				want.Mul(&want, &f)
			}
			joint := draw(src, 1)
			if got := r.Gadget([]Scalar{y}, joint); !got.IsEqual(&want) {
				t.Fatalf("%d values: the gadget is not the product", n)
			}
		}
	}
}

// parties split, ask and put together: how a proof is shared.
type sharing struct {
	name    string
	split   func(src rng.Source, x []Scalar) [][]Scalar
	one     func() Scalar
	restore func(shares [][]Scalar) []Scalar
}

// additive shares add up; those of a polynomial of degree 2 at 1, 2, ... interpolate.
func additive(n uint64) sharing {
	return sharing{"additive", func(src rng.Source, x []Scalar) [][]Scalar {
		out := [][]Scalar{slices.Clone(x)}
		for range n - 1 {
			s := draw(src, len(x))
			for i := range s {
				out[0][i].Sub(&out[0][i], &s[i])
			}
			out = append(out, s)
		}
		return out
	}, func() (z Scalar) {
		c := small(n)
		z.Inv(&c)
		return z
	}, func(shares [][]Scalar) []Scalar {
		out := make([]Scalar, len(shares[0]))
		for _, s := range shares {
			for i := range out {
				out[i].Add(&out[i], &s[i])
			}
		}
		return out
	}}
}

func shamir(first uint64) sharing {
	return sharing{fmt.Sprintf("shamir from %d", first), func(src rng.Source, x []Scalar) [][]Scalar {
		a, b := draw(src, len(x)), draw(src, len(x))
		out := make([][]Scalar, 5)
		for h := range out {
			at := small(uint64(h + 1))
			out[h] = make([]Scalar, len(x))
			for i := range x {
				y := &out[h][i]
				y.Mul(&b[i], &at)
				y.Add(y, &a[i])
				y.Mul(y, &at)
				y.Add(y, &x[i])
			}
		}
		return out
	}, func() Scalar { return small(1) }, func(shares [][]Scalar) []Scalar {
		l := interpolateAt[Scalar]([]Scalar{small(first), small(first + 1), small(first + 2)})
		zero := small(0)
		row := l.rowAt(&zero)
		out := make([]Scalar, len(shares[0]))
		for i := range out {
			for k := range row {
				var p Scalar
				p.Mul(&row[k], &shares[int(first)-1+k][i])
				out[i].Add(&out[i], &p)
			}
		}
		return out
	}}
}

var sharings = []sharing{additive(1), additive(2), additive(3), shamir(1), shamir(2), shamir(3)}

// decide runs a proof of an input among holders of shares.
func (sh sharing) decide(src rng.Source, s *System[Scalar, *Scalar], input []Scalar,
	bend func(proof, joint []Scalar)) (valid bool, message, joint []Scalar) {
	joint = draw(src, s.circuit.Joint())
	proof := s.Prove(input, joint, draw(src, s.Seeds()))
	if bend != nil {
		bend(proof, joint)
	}
	query := draw(src, s.Queries())
	one := sh.one()
	var answers [][]Scalar
	inputs, proofs := sh.split(src, input), sh.split(src, proof)
	for h := range inputs {
		answers = append(answers, s.Query(inputs[h], proofs[h], joint, query, &one))
	}
	message = sh.restore(answers)
	return s.Decide(message, joint), message, joint
}

// TestRangesAreProven: vectors within their range pass, at its ends too, whatever the
// way to share, and the verifiers' message is the one that Complete makes of its wires.
func TestRangesAreProven(t *testing.T) {
	src := replay.Seeded(7, "ranges")
	for _, sh := range sharings {
		for i, count := range counts {
			length := 1 + 7*i%40
			r := NewRanges[Scalar](length, count)
			s := New[Scalar](r, Consecutive[Scalar, *Scalar]{})
			numbers := make([]uint64, length)
			for j := range numbers {
				numbers[j] = []uint64{0, count - 1, rng.Below(src, count)}[j%3]
			}
			valid, message, joint := sh.decide(src, s, r.Encode(numbers), nil)
			if !valid {
				t.Fatalf("%s: %d numbers below %d are refused", sh.name, length, count)
			}
			if whole := s.Complete(message[1:1+s.arity], joint); !slices.Equal(whole, message) {
				t.Fatalf("%s: the message is not the one of its wires", sh.name)
			}
		}
	}
}

// TestNothingElseIsProven: one digit of any number may be one beyond its values, −1, half
// the field or anything, and the proof fails, honestly made or bent in any place. The
// bound on what a forger gains is 2^-240; here every trial fails.
func TestNothingElseIsProven(t *testing.T) {
	src := replay.Seeded(9, "soundness")
	const length = 9
	for _, sh := range []sharing{additive(2), shamir(1)} {
		for _, count := range []uint64{2, 17, 300, 65537} {
			r := NewRanges[Scalar](length, count)
			s := New[Scalar](r, Consecutive[Scalar, *Scalar]{})
			input := r.Encode(make([]uint64, length))
			for i := range input {
				values := uint64(r.digits[i%len(r.digits)].Values)
				for name, wrong := range map[string]Scalar{
					"one beyond": small(values), "−1": negative(1), "half": half(), "any": draw(src, 1)[0],
				} {
					bad := slices.Clone(input)
					bad[i] = wrong
					if valid, _, _ := sh.decide(src, s, bad, nil); valid {
						t.Fatalf("%s, below %d: digit %d may be %s", sh.name, count, i, name)
					}
				}
			}
			bad := slices.Clone(input)
			bad[0] = negative(1)
			for at := range s.ProofLen() {
				for name, input := range map[string][]Scalar{"valid": input, "invalid": bad} {
					if valid, _, _ := sh.decide(src, s, input, func(proof, _ []Scalar) {
						one := small(1)
						proof[at].Add(&proof[at], &one)
					}); valid {
						t.Fatalf("%s, below %d: a proof of %s input may be bent at %d", sh.name, count, name, at)
					}
				}
			}
			// A forger writes 0 if the calls' values are, or everywhere.
			for _, end := range []int{1 + r.calls, s.ProofLen() - s.arity} {
				if valid, _, _ := sh.decide(src, s, bad, func(proof, _ []Scalar) { clear(proof[s.arity+1 : s.arity+end]) }); valid {
					t.Fatalf("%s, below %d: a forged polynomial passes", sh.name, count)
				}
			}
		}
	}
}

// TestVerifiersLearnNothing: the wires at the query's point are uniform whatever the
// input is. In a field so small that they can be counted, for two inputs far apart:
// chi-square of two samples over 16 classes, failing by chance once in 10^6.
func TestVerifiersLearnNothing(t *testing.T) {
	src := replay.Seeded(11, "zero knowledge")
	r := NewRanges[Scalar](4, 16)
	s := New[Scalar](r, Consecutive[Scalar, *Scalar]{})
	const trials = 4000
	counted := map[int][2][16]float64{}
	for side, numbers := range [][]uint64{{0, 0, 0, 0}, {15, 3, 9, 15}} {
		for range trials {
			_, message, _ := additive(1).decide(src, s, r.Encode(numbers), nil)
			for w := range s.arity {
				c := counted[w]
				c[side][message[1+w].Append(nil)[3]%16]++
				counted[w] = c
			}
		}
	}
	for w, c := range counted {
		chi := 0.
		for k := range 16 {
			d, sum := c[0][k]-c[1][k], c[0][k]+c[1][k]
			chi += d * d / sum
		}
		if chi > 59 { // of 15 degrees of freedom: 4·10^-7 for each of the wires
			t.Errorf("wire %d: chi-square %.1f", w, chi)
		}
	}
	if len(counted) != s.arity || s.arity > 4 {
		t.Fatalf("%d wires", s.arity)
	}
}

// TestInterpolationIsExact: polynomials through random values come back at their points
// and at others, against Horner's rule; in a second field too.
func TestInterpolationIsExact(t *testing.T) {
	src := replay.Seeded(13, "lagrange")
	for _, n := range []int{1, 2, 3, 17} {
		coefficients := draw(src, n)
		at := func(x *Scalar) (y Scalar) {
			for _, c := range slices.Backward(coefficients) {
				y.Mul(&y, x)
				y.Add(&y, &c)
			}
			return y
		}
		points := draw(src, n)
		var values []Scalar
		for i := range points {
			values = append(values, at(&points[i]))
		}
		l := interpolateAt[Scalar](points)
		for _, x := range append(draw(src, 3), points...) {
			if got, want := dot[Scalar](l.rowAt(&x), values), at(&x); !got.IsEqual(&want) {
				t.Fatalf("%d points: another value", n)
			}
		}
	}
	r := NewRanges[fp64.Fp](5, 1000)
	s := New[fp64.Fp](r, Consecutive[fp64.Fp, *fp64.Fp]{})
	small := func(n uint64) fp64.Fp { return number[fp64.Fp](n) }
	one, joint, seeds := small(1), []fp64.Fp{small(77)}, make([]fp64.Fp, s.Seeds())
	query := make([]fp64.Fp, s.Queries())
	for i := range query {
		query[i] = small(1000 + uint64(i))
	}
	input := r.Encode([]uint64{0, 999, 5, 17, 256})
	for _, want := range []bool{true, false} {
		if got := s.Decide(s.Query(input, s.Prove(input, joint, seeds), joint, query, &one), joint); got != want {
			t.Errorf("in Field64 the proof is %t, want %t", got, want)
		}
		input[3] = small(16)
	}
}

// FuzzScalar: bytes are read as they are written or not at all.
func FuzzScalar(f *testing.F) {
	f.Add(make([]byte, 32))
	f.Add([]byte("\xed\xd3\xf5\x5c\x1a\x63\x12\x58\xd6\x9c\xf7\xa2\xde\xf9\xde\x14" + "\x00\x00\x00\x00\x00\x00\x00\x00" +
		"\x00\x00\x00\x00\x00\x00\x00\x10")) // the order
	f.Add([]byte("short"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var z Scalar
		if z.SetBytes(b) == nil && string(z.Append(nil)) != string(b) {
			t.Error("a second way to write a scalar")
		}
	})
}

// What an owner and a helper compute for a thousand numbers of about 18 bits.
func BenchmarkRanges(b *testing.B) {
	src := replay.Seeded(1, "bench")
	r := NewRanges[Scalar](1000, 1<<16+192*1024+1)
	s := New[Scalar](r, Consecutive[Scalar, *Scalar]{})
	input, joint := r.Encode(make([]uint64, 1000)), draw(src, 1)
	seeds, query, one := draw(src, s.Seeds()), draw(src, s.Queries()), small(1)
	proof := s.Prove(input, joint, seeds)
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			New[Scalar](r, Consecutive[Scalar, *Scalar]{})
		}
	})
	b.Run("prove", func(b *testing.B) {
		for b.Loop() {
			s.Prove(input, joint, seeds)
		}
		b.ReportMetric(float64(r.Inputs()), "digits")
		b.ReportMetric(float64(s.ProofLen()), "proof")
		b.ReportMetric(float64(s.VerifierLen()), "message")
		b.ReportMetric(float64(r.calls), "calls")
	})
	b.Run("query", func(b *testing.B) {
		for b.Loop() {
			s.Query(input, proof, joint, query, &one)
		}
	})
}
