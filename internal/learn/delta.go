// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// CheckDelta refuses a δ that protects nobody: at δ = 1/rows the guarantee
// allows publishing one row drawn at random. rows is 0 where their number is
// not known or not public; the caller checks again when it is.
func CheckDelta(op string, delta dp.Delta, rows int) error {
	if rows > 0 && delta >= (dp.Femto+dp.Delta(rows)-1)/dp.Delta(rows) {
		return &dp.ParamError{Op: op, Param: "delta",
			Want: fmt.Sprintf("must be below 1/rows = 1/%d: at that the guarantee allows publishing a row", rows), Got: delta}
	}
	return nil
}
