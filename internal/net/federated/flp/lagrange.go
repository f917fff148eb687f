// SPDX-License-Identifier: Apache-2.0

package flp

// Grid supplies the points at which polynomials are known.
type Grid[E any] interface {
	// Points returns the points of a gadget's wires, one for the seed followed by one per call, and
	// the points of the gadget's own polynomial, degree·(wires − 1) + 1. Wires beyond the calls are 0.
	Points(calls, degree int) (wires, gadget []E)
}

// Consecutive is the grid 0, 1, 2, ..., which exists in every large field.
type Consecutive[E any, F Field[E]] struct{}

// Points implements Grid.
func (Consecutive[E, F]) Points(calls, degree int) (wires, gadget []E) {
	gadget = make([]E, degree*calls+1)
	for i := range gadget {
		gadget[i] = number[E, F](uint64(i))
	}
	return gadget[:calls+1], gadget
}

// number returns a small number as an element of the field.
func number[E any, F Field[E]](n uint64) (z E) {
	if err := F(&z).SetUint64(n); err != nil {
		panic(err) // no field here is so small
	}
	return z
}

// lagrange interpolates polynomials given by their values at points.
type lagrange[E any, F Field[E]] struct {
	points  []E
	weights []E // 1/∏(x_i − x_j), j ≠ i
}

// interpolateAt prepares interpolation at distinct points: n² multiplications.
func interpolateAt[E any, F Field[E]](points []E) lagrange[E, F] {
	l := lagrange[E, F]{points, make([]E, len(points))}
	for i := range points {
		w := number[E, F](1)
		for j := range points {
			if j != i {
				var d E
				F(&d).Sub(&points[i], &points[j])
				F(&w).Mul(&w, &d)
			}
		}
		F(&l.weights[i]).Inv(&w)
	}
	return l
}

// rowAt returns the weights of the values at the points for the value at x: 4n multiplications.
func (l lagrange[E, F]) rowAt(x *E) []E {
	row := make([]E, len(l.points))
	before := number[E, F](1)
	for i := range l.points { // the product of x − x_j for j < i, then for j > i
		var d E
		F(&row[i]).Mul(&l.weights[i], &before)
		F(&d).Sub(x, &l.points[i])
		F(&before).Mul(&before, &d)
	}
	after := number[E, F](1)
	for i := len(row) - 1; i >= 0; i-- {
		var d E
		F(&row[i]).Mul(&row[i], &after)
		F(&d).Sub(x, &l.points[i])
		F(&after).Mul(&after, &d)
	}
	return row
}

// dot returns Σ x_i·y_i, up to the length of the shorter vector.
func dot[E any, F Field[E]](x, y []E) (sum E) {
	var p E
	for i := range min(len(x), len(y)) {
		F(&p).Mul(&x[i], &y[i])
		F(&sum).Add(&sum, &p)
	}
	return sum
}
