// SPDX-License-Identifier: Apache-2.0

// Package inside contains the pass that gives access to what a guard hides from learners, and the way
// of hiding it. The compiler lets only packages below internal/guard import it.
package inside

// Pass is the permission to call guard.Guard.Inside. Only Take makes a valid one: the zero value,
// which type inference can make anywhere, is refused.
type Pass struct{ taken bool }

// Take makes a pass.
func Take() Pass { return Pass{true} }

// Opens reports whether Take made p.
func (p Pass) Opens() bool { return p.taken }

// Sealed hides a value from learners. Package fmt shows the fields of any struct, even unexported
// ones, but not the result of a function.
type Sealed[T any] func() T

// Seal hides x.
func Seal[T any](x T) Sealed[T] { return func() T { return x } }
