// SPDX-License-Identifier: Apache-2.0

package cli

// Words converts names to plain strings, for completion.
func Words[T ~string](names []T) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = string(n)
	}
	return out
}
