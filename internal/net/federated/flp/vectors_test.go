// SPDX-License-Identifier: Apache-2.0

package flp

import (
	"encoding/hex"
	"encoding/json"
	"math/bits"
	"os"
	"slices"
	"testing"

	"github.com/cloudflare/circl/vdaf/prio3/arith"
	"github.com/cloudflare/circl/vdaf/prio3/arith/fp128"

	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// roots is VDAF's grid: roots of unity, of an order that is a power of two.
type roots[E any, F arith.Fp[E]] struct{}

func (roots[E, F]) Points(calls, degree int) (wires, gadget []E) {
	n := bits.Len(uint(calls))
	wires = powers[E, F](n, 1<<n)
	size := degree*(len(wires)-1) + 1
	return wires, powers[E, F](bits.Len(uint(size-1)), size)
}

// powers lists so many powers of the root of unity of order 2^n.
func powers[E any, F arith.Fp[E]](n, size int) []E {
	var root E
	F(&root).SetRootOfUnityTwoN(uint(n))
	out := make([]E, size)
	F(&out[0]).SetOne()
	for i := range out[1:] {
		F(&out[i+1]).Mul(&out[i], &root)
	}
	return out
}

// bitsSum is VDAF's SumVec, or, with bound, L1BoundSum of draft-ietf-ppm-l1-bound-sum-01:
// numbers of 0 to most in bits, of which the last counts so that no sum exceeds most;
// with bound one more, which is the sum of the others.
type bitsSum[E any, F Field[E]] struct {
	most                uint64
	length, bits, chunk int
	bound               bool
}

func (c bitsSum[E, F]) numbers() int {
	if c.bound {
		return c.length + 1
	}
	return c.length
}

func (c bitsSum[E, F]) Inputs() int                       { return c.numbers() * c.bits }
func (c bitsSum[E, F]) Joint() int                        { return (c.Inputs() + c.chunk - 1) / c.chunk }
func (c bitsSum[E, F]) Outputs() int                      { return 1 + c.numbers() - c.length }
func (c bitsSum[E, F]) Shape() (arity, degree, calls int) { return 2 * c.chunk, 2, c.Joint() }

func (c bitsSum[E, F]) last() uint64 { return c.most - (1<<(c.bits-1) - 1) }

func (c bitsSum[E, F]) encode(numbers []uint64) (out []E) {
	sum := uint64(0)
	for _, v := range numbers {
		sum += v
	}
	if c.bound {
		numbers = append(slices.Clone(numbers), sum)
	}
	for _, v := range numbers {
		top := uint64(0)
		if v > 1<<(c.bits-1)-1 {
			top, v = 1, v-c.last()
		}
		for i := range c.bits - 1 {
			out = append(out, number[E, F](v>>i&1))
		}
		out = append(out, number[E, F](top))
	}
	return out
}

func (c bitsSum[E, F]) decode(share []E) (sum E) {
	for i := range share {
		w := number[E, F](c.last())
		if i < c.bits-1 {
			w = number[E, F](1 << i)
		}
		F(&w).Mul(&w, &share[i])
		F(&sum).Add(&sum, &w)
	}
	return sum
}

func (c bitsSum[E, F]) Gadget(wires, _ []E) (sum E) {
	for i := 0; i < len(wires); i += 2 {
		var p E
		F(&p).Mul(&wires[i], &wires[i+1])
		F(&sum).Add(&sum, &p)
	}
	return sum
}

func (c bitsSum[E, F]) Evaluate(input, joint []E, one *E, gadget func(wires []E) E) []E {
	var check, weight E
	for k, some := range slices.Collect(slices.Chunk(input, c.chunk)) {
		wires := make([]E, 2*c.chunk)
		power := joint[k]
		for i := range c.chunk {
			var x E
			if i < len(some) {
				x = some[i]
			}
			F(&wires[2*i]).Mul(&power, &x)
			F(&wires[2*i+1]).Sub(&x, one)
			F(&power).Mul(&power, &joint[k])
		}
		value := gadget(wires)
		F(&check).Add(&check, &value)
	}
	if !c.bound {
		return []E{check}
	}
	for i := range c.length + 1 {
		v := c.decode(input[i*c.bits:][:c.bits])
		if i < c.length {
			F(&weight).Add(&weight, &v)
		} else {
			F(&weight).Sub(&weight, &v)
		}
	}
	return []E{check, weight}
}

// report is one of an official vector, as lab/peers/vdaf works it out.
type report struct {
	Name, Prove, Joint, Query string
	Most                      uint64
	Length, Chunk             int
	Bound                     bool
	Measurement               []uint64
	Inputs, Proofs, Verifiers []string
}

// TestOfficialVectors runs draft-irtf-cfrg-vdaf-18's vectors of SumVec and L1BoundSum, with
// additive shares in Field128: the proof, each verifier's share and the decision. They
// come from the crate prio (make peers), which is no part of this repository.
func TestOfficialVectors(t *testing.T) {
	path := os.Getenv("DISCREET_VDAF")
	if path == "" {
		t.Skip("DISCREET_VDAF names no file: make -C lab/peers/vdaf check writes it")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var reports []report
	if err := json.Unmarshal(text, &reports); err != nil || len(reports) < 5 {
		t.Fatalf("%d reports, %v", len(reports), err)
	}
	for _, r := range reports {
		c := bitsSum[fp128.Fp, *fp128.Fp]{r.Most, r.Length, bits.Len64(r.Most), r.Chunk, r.Bound}
		s := New[fp128.Fp](c, roots[fp128.Fp, *fp128.Fp]{})
		joint, query := elements(t, r.Joint), elements(t, r.Query)
		var input, proof, verifier []fp128.Fp
		n := number[fp128.Fp](uint64(len(r.Inputs)))
		var one fp128.Fp
		one.Inv(&n)
		for i := range r.Inputs {
			x, p := elements(t, r.Inputs[i]), elements(t, r.Proofs[i])
			answer := s.Query(x, p, joint, query, &one)
			if want := elements(t, r.Verifiers[i]); !slices.Equal(answer, want) {
				t.Errorf("%s: verifier %d answers\n%v, want\n%v", r.Name, i, answer, want)
			}
			input, proof, verifier = plus(input, x), plus(proof, p), plus(verifier, answer)
		}
		if !slices.Equal(input, c.encode(r.Measurement)) {
			t.Errorf("%s: another input than the measurement's", r.Name)
		}
		if got := s.Prove(input, joint, elements(t, r.Prove)); !slices.Equal(got, proof) {
			t.Errorf("%s: another proof:\n%v, want\n%v", r.Name, got, proof)
		}
		if !s.Decide(verifier, joint) {
			t.Errorf("%s: a valid report is refused", r.Name)
		}
		verifier[0].SetOne()
		if s.Decide(verifier, joint) {
			t.Errorf("%s: any report is taken", r.Name)
		}
	}
}

// TestWeightOneIsProven: L1BoundSum on Shamir's shares of scalars, as this package is used:
// one cell of weight at most 1 among many passes, and nothing heavier does.
func TestWeightOneIsProven(t *testing.T) {
	const steps = 100
	c := bitsSum[Scalar, *Scalar]{steps, 6, bits.Len64(steps), 5, true}
	s := New[Scalar](c, Consecutive[Scalar, *Scalar]{})
	src := replay.Seeded(15, "weight")
	for _, sh := range sharings {
		for _, v := range []struct {
			cells []uint64
			valid bool
		}{
			{[]uint64{0, 0, 0, 0, 0, 0}, true}, {[]uint64{0, steps, 0, 0, 0, 0}, true}, {[]uint64{1, 2, 3, 4, 5, 6}, true},
			{[]uint64{50, 50, 0, 0, 0, 0}, true}, {[]uint64{50, 51, 0, 0, 0, 0}, false},
			{[]uint64{100, 100, 100, 1, 1, 1}, false},
		} {
			input := c.encode(v.cells)
			if !v.valid { // the weight that it claims is the largest there is
				copy(input[c.length*c.bits:], c.encode([]uint64{steps, 0, 0, 0, 0, 0})[:c.bits])
			}
			if valid, _, _ := sh.decide(src, s, input, nil); valid != v.valid {
				t.Errorf("%s: %v is taken: %t", sh.name, v.cells, valid)
			}
		}
	}
}

func plus(x, y []fp128.Fp) []fp128.Fp {
	if x == nil {
		return slices.Clone(y)
	}
	for i := range x {
		x[i].Add(&x[i], &y[i])
	}
	return x
}

func elements(t *testing.T, text string) []fp128.Fp {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil || len(b)%16 != 0 {
		t.Fatalf("%d bytes are no elements: %v", len(b), err)
	}
	out := make([]fp128.Fp, len(b)/16)
	for i := range out {
		if err := out[i].UnmarshalBinary(b[16*i : 16*i+16]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
