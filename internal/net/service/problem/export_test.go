// SPDX-License-Identifier: Apache-2.0

package problem

// Kinds lists every kind.
func Kinds() []Kind { return append([]Kind(nil), kinds...) }
