// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"math"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// String describes the content of a bin in words.
func (c Cut) String() string {
	if c.Level != "" {
		return c.Level
	}
	return briefNumber(*c.From) + " … " + briefNumber(*c.To)
}

// briefNumber formats a bin's edge with four digits.
func briefNumber(x float64) string {
	if size := math.Abs(x); size >= 1e4 && size < 1e6 && x == math.Trunc(x) {
		return minusSign(strconv.FormatFloat(x, 'f', 0, 64))
	} else if size >= 1e4 && size < 1e9 {
		unit := math.Pow(10, math.Floor(math.Log10(size))-3)
		return minusSign(strconv.FormatFloat(math.Round(x/unit)*unit, 'f', 0, 64))
	}
	return minusSign(strconv.FormatFloat(x, 'g', 4, 64))
}

// amountText formats a bin's edge: a number, or a date.
func amountText(c *schema.Column, x float64) string {
	if c.Date == "" {
		return briefNumber(x)
	}
	return schema.FormatDate("YYYY-MM-DD", c.Since+int(math.Floor(x)))
}

func minusSign(s string) string { return strings.ReplaceAll(s, "-", "−") }
