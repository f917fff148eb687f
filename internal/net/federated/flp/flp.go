// SPDX-License-Identifier: Apache-2.0

package flp

// Circuit defines which vectors are valid: those for which all its outputs are 0. It may call one
// gadget; all its other operations are linear in the input, so that it can be evaluated on a share,
// given a share of each call's value.
type Circuit[E any] interface {
	// Inputs, Joint and Outputs are the numbers of elements that Evaluate takes and returns.
	Inputs() int
	Joint() int
	Outputs() int
	// Shape returns the gadget's number of inputs, its degree and the number of calls.
	Shape() (arity, degree, calls int)
	// Gadget returns the gadget's value on its inputs.
	Gadget(wires, joint []E) E
	// Evaluate returns the outputs; one is the caller's share of the number 1. The gadget must not
	// retain its wires.
	Evaluate(input, joint []E, one *E, gadget func(wires []E) E) []E
}

// System proves and verifies for one circuit. It is safe for concurrent use.
type System[E any, F Field[E]] struct {
	circuit              Circuit[E]
	arity, degree, calls int
	wires, gadget        lagrange[E, F]
	extend               [][]E // computes the wires at the gadget's points from those at their own
	outputs              [][]E // computes the gadget at the wires' points, except the first, from its own points
}

// New makes a system, with n²·degree multiplications, where n is the degree times the number of calls.
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

// Seeds is the amount of randomness that Prove needs, ProofLen the length of a proof, Queries the
// amount of randomness that Query needs, and VerifierLen the length of its answer.
func (s *System[E, F]) Seeds() int       { return s.arity }
func (s *System[E, F]) ProofLen() int    { return s.arity + len(s.gadget.points) }
func (s *System[E, F]) VerifierLen() int { return 1 + s.arity + 1 }
func (s *System[E, F]) Queries() int {
	if n := s.circuit.Outputs(); n > 1 {
		return n + 1
	}
	return 1
}

// Prove returns the proof that an input is valid: the seeds, uniform elements that hide the input, and
// the values of the gadget's polynomial. For an invalid input the result proves nothing.
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

// Query applies a query to a share of the input and of the proof. It returns the same share of the
// circuit's output, of the wires at the query's point, and of the gadget at that point. one is the
// share of 1. A query's last element is that point. It is on the grid, where it would reveal the
// input, with negligible probability only.
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

// Complete returns the only verifier's message with these values of the wires that Decide accepts
// (6.2).
func (s *System[E, F]) Complete(wires, joint []E) []E {
	answer := append(make([]E, 1, s.VerifierLen()), wires...)
	return append(answer, s.circuit.Gadget(wires, joint))
}

// Decide reports whether a verifier's message, assembled from shares, belongs to a valid input.
func (s *System[E, F]) Decide(verifier, joint []E) bool {
	if len(verifier) != s.VerifierLen() || !F(&verifier[0]).IsZero() {
		return false
	}
	value := s.circuit.Gadget(verifier[1:1+s.arity], joint)
	return F(&value).IsEqual(&verifier[1+s.arity])
}
