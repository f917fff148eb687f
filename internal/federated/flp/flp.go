// SPDX-License-Identifier: Apache-2.0

package flp

// Circuit says which vectors are valid: those for which its outputs are all 0. But for
// the calls of its one gadget all it does is linear in the input, so that it may be
// given a share and a share of each call's value.
type Circuit[E any] interface {
	// Inputs, Joint and Outputs are the numbers of elements that Evaluate takes and returns.
	Inputs() int
	Joint() int
	Outputs() int
	// Shape is the gadget's number of inputs, its degree and how often it is called.
	Shape() (arity, degree, calls int)
	// Gadget is the gadget's value on its inputs.
	Gadget(wires, joint []E) E
	// Evaluate returns the outputs; one is the caller's share of the number 1. The gadget
	// must not keep the wires it is called with.
	Evaluate(input, joint []E, one *E, gadget func(wires []E) E) []E
}

// System proves and verifies for one circuit. Goroutines may share it.
type System[E any, F Field[E]] struct {
	circuit              Circuit[E]
	arity, degree, calls int
	wires, gadget        lagrange[E, F]
	extend               [][]E // the wires at the gadget's points, by their own
	outputs              [][]E // the gadget at the wires' points after the first, by its own
}

// New makes a system, with n²·degree multiplications for n the degree times the calls.
func New[E any, F Field[E]](c Circuit[E], g Grid[E]) *System[E, F] {
	s := &System[E, F]{circuit: c}
	s.arity, s.degree, s.calls = c.Shape()
	wires, gadget := g.Points(s.calls, s.degree)
	s.wires, s.gadget = interpolateAt[E, F](wires), interpolateAt[E, F](gadget)
	for i := range gadget {
		s.extend = append(s.extend, s.wires.rowAt(&gadget[i]))
	}
	for k := range s.calls {
		s.outputs = append(s.outputs, s.gadget.rowAt(&wires[1+k]))
	}
	return s
}

// Seeds is how much randomness Prove takes, ProofLen how long a proof is, Queries how
// much randomness Query takes, and VerifierLen how long its answer is.
func (s *System[E, F]) Seeds() int       { return s.arity }
func (s *System[E, F]) ProofLen() int    { return s.arity + len(s.gadget.points) }
func (s *System[E, F]) VerifierLen() int { return 1 + s.arity + 1 }
func (s *System[E, F]) Queries() int {
	if n := s.circuit.Outputs(); n > 1 {
		return n + 1
	}
	return 1
}

// Prove returns the proof that an input is valid: the seeds, uniform elements that hide
// the input, and the values of the gadget's polynomial. Of an input that is not valid
// it proves nothing.
func (s *System[E, F]) Prove(input, joint, seeds []E) []E {
	values := make([][]E, s.arity) // of each wire, at its points
	for w := range values {
		values[w] = make([]E, len(s.wires.points))
		values[w][0] = seeds[w]
	}
	one, call := number[E, F](1), 0
	s.circuit.Evaluate(input, joint, &one, func(wires []E) E {
		call++
		for w := range values {
			values[w][call] = wires[w]
		}
		return s.circuit.Gadget(wires, joint)
	})
	proof := append(make([]E, 0, s.ProofLen()), seeds[:s.arity]...)
	at := make([]E, s.arity)
	for _, row := range s.extend {
		for w := range at {
			at[w] = dot[E, F](row, values[w])
		}
		proof = append(proof, s.circuit.Gadget(at, joint))
	}
	return proof
}

// Query asks a share of the input and of the proof: what it returns is the same share of
// the circuit's output, of the wires at the query's point, and of the gadget there. one
// is the share of 1. A query's last element is that point, and lies on the grid with
// negligible probability only: there it would show the input.
func (s *System[E, F]) Query(input, proof, joint, query []E, one *E) []E {
	seeds, poly := proof[:s.arity], proof[s.arity:]
	row := s.wires.rowAt(&query[len(query)-1])
	answer := make([]E, 1, s.VerifierLen())
	at := make([]E, s.arity)
	for w := range at {
		F(&at[w]).Mul(&row[0], &seeds[w])
	}
	call := 0
	outputs := s.circuit.Evaluate(input, joint, one, func(wires []E) E {
		call++
		for w := range at {
			var p E
			F(&p).Mul(&row[call], &wires[w])
			F(&at[w]).Add(&at[w], &p)
		}
		return dot[E, F](s.outputs[call-1], poly)
	})
	switch len(outputs) {
	case 0:
	case 1:
		answer[0] = outputs[0]
	default:
		answer[0] = dot[E, F](outputs, query)
	}
	answer = append(answer, at...)
	return append(answer, dot[E, F](s.gadget.rowAt(&query[len(query)-1]), poly))
}

// Complete returns the one verifier's message with these values of the wires that
// Decide takes (6.2).
func (s *System[E, F]) Complete(wires, joint []E) []E {
	answer := append(make([]E, 1, s.VerifierLen()), wires...)
	return append(answer, s.circuit.Gadget(wires, joint))
}

// Decide reports whether a verifier's message, put together from shares, is that of a
// valid input.
func (s *System[E, F]) Decide(verifier, joint []E) bool {
	if len(verifier) != s.VerifierLen() || !F(&verifier[0]).IsZero() {
		return false
	}
	value := s.circuit.Gadget(verifier[1:1+s.arity], joint)
	return F(&value).IsEqual(&verifier[1+s.arity])
}
