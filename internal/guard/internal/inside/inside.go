// SPDX-License-Identifier: Apache-2.0

// Package inside is the pass to what a guard keeps from learners, and how it keeps that. The compiler lets packages below
// internal/guard alone import it.
package inside

// Pass opens guard.Guard.Inside. One that Take has not made, as the zero value that type inference
// can make anywhere, opens nothing.
type Pass struct{ taken bool }

// Take makes a pass.
func Take() Pass { return Pass{true} }

// Opens reports whether Take made p.
func (p Pass) Opens() bool { return p.taken }

// Sealed holds what no learner may see. Package fmt shows the fields of any struct, even those that the
// compiler hides, but not what a function returns.
type Sealed[T any] func() T

// Seal holds x.
func Seal[T any](x T) Sealed[T] { return func() T { return x } }
