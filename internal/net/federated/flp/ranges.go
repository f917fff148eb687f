// SPDX-License-Identifier: Apache-2.0

package flp

// Digit is one digit of a number: a whole number from 0 to Values − 1, multiplied by Weight.
type Digit struct {
	Values int
	Weight uint64
}

const (
	// base is the largest number of values of a digit, which is the gadget's degree. A larger base
	// gives fewer digits and longer polynomials; 16 gives about the smallest proofs.
	base = 16
	// mostCalls bounds the gadget's calls, and so the time of a proof, which grows with them.
	mostCalls = 16
)

// DigitsFor returns digits with which exactly the numbers from 0 to count − 1 can be written, for any
// count from 2 to 2^63 (6.1).
func DigitsFor(count uint64) (digits []Digit) {
	for count > base {
		w := count / base
		digits = append(digits, Digit{base, w})
		count -= (base - 1) * w // at least w numbers are left to the others
	}
	return append(digits, Digit{int(count), 1})
}

// Ranges is the circuit for the digits of a vector of numbers. It is valid if each digit has one of
// its permitted values.
type Ranges[E any, F Field[E]] struct {
	digits  []Digit
	weights []E
	small   []E // 0, 1, 2, ..., for vanish
	length  int
	group   int // numbers per call of the gadget
	calls   int
}

// NewRanges returns the circuit of a vector of length numbers below count; see DigitsFor.
func NewRanges[E any, F Field[E]](length int, count uint64) *Ranges[E, F] {
	r := &Ranges[E, F]{digits: DigitsFor(count), length: length}
	for _, d := range r.digits {
		r.weights = append(r.weights, number[E, F](d.Weight))
	}
	for n := range uint64(base * base / 4) {
		r.small = append(r.small, number[E, F](n))
	}
	_, degree, _ := r.Shape()
	for best, calls := 0, 1; calls <= min(mostCalls, length); calls++ {
		group := (length + calls - 1) / calls
		if size := 2*group*len(r.digits) + degree*calls; best == 0 || size < best {
			best, r.group = size, group
		}
	}
	r.calls = (length + r.group - 1) / r.group
	return r
}

func (r *Ranges[E, F]) Inputs() int  { return r.length * len(r.digits) }
func (r *Ranges[E, F]) Joint() int   { return 1 }
func (r *Ranges[E, F]) Outputs() int { return r.calls }

func (r *Ranges[E, F]) Shape() (arity, degree, calls int) {
	for _, d := range r.digits {
		degree = max(degree, d.Values)
	}
	return r.group * len(r.digits), degree, r.calls
}

// Encode returns the digits of numbers, which must be in range.
func (r *Ranges[E, F]) Encode(numbers []uint64) []E {
	out := make([]E, 0, r.Inputs())
	for _, v := range numbers {
		for _, d := range r.digits {
			n := min(v/d.Weight, uint64(d.Values-1))
			v -= n * d.Weight
			out = append(out, number[E, F](n))
		}
	}
	return out
}

// Decode returns the numbers, or shares of them, given their digits, or shares of these.
func (r *Ranges[E, F]) Decode(digits []E) []E {
	out := make([]E, r.length)
	for i := range out {
		out[i] = dot[E, F](r.weights, digits[i*len(r.digits):])
	}
	return out
}

// Evaluate implements Circuit: it calls the gadget for each group of numbers, and each call's value is
// an output.
func (r *Ranges[E, F]) Evaluate(input, _ []E, _ *E, gadget func(wires []E) E) (outputs []E) {
	wires := make([]E, r.group*len(r.digits))
	for len(input) > 0 {
		n := copy(wires, input)
		clear(wires[n:]) // digits of no number
		outputs = append(outputs, gadget(wires))
		input = input[n:]
	}
	return outputs
}

// Gadget implements Circuit: Σ r^i·∏(y_i − v) over digits i and the permitted values v.
func (r *Ranges[E, F]) Gadget(wires, joint []E) (sum E) {
	for i := len(wires) - 1; i >= 0; i-- {
		p := r.vanish(&wires[i], r.digits[i%len(r.digits)].Values)
		F(&sum).Mul(&sum, &joint[0])
		F(&sum).Add(&sum, &p)
	}
	return sum
}

// vanish returns ∏(y − v) for v = 0 to n − 1, n ≥ 2. It combines the factors of v and n − 1 − v to
// y·(y − n + 1) + v·(n − 1 − v).
func (r *Ranges[E, F]) vanish(y *E, n int) E {
	var pair, factor E
	F(&pair).Sub(y, &r.small[n-1])
	F(&pair).Mul(&pair, y)
	p := pair
	for v := 1; v < n/2; v++ {
		F(&factor).Add(&pair, &r.small[v*(n-1-v)])
		F(&p).Mul(&p, &factor)
	}
	if n%2 == 1 {
		F(&factor).Sub(y, &r.small[n/2])
		F(&p).Mul(&p, &factor)
	}
	return p
}
