// SPDX-License-Identifier: Apache-2.0

package learn

import "strconv"

// Digits formats x with n significant digits and without an exponent.
func Digits(x float64, n int) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', n-1, 64), 64)
	if err != nil {
		rounded = x // beyond the largest number after rounding up
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
