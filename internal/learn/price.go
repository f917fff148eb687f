// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// CheckPrice refuses an ε and a δ that no fit can have, and a number of rows to reckon with below 0.
func CheckPrice(op string, eps dp.Epsilon, delta dp.Delta, notPrivate bool, rows int) error {
	bad := func(param, want string, got any) error {
		return &dp.ParamError{Op: op, Param: param, Want: want, Got: got}
	}
	switch {
	case notPrivate && eps != 0:
		return bad("epsilon", "must be inf when training without privacy", eps)
	case !notPrivate && (eps < 1 || eps > dp.MaxEpsilon):
		return bad("epsilon", fmt.Sprintf("must be > 0 and at most %s", dp.MaxEpsilon), eps)
	case delta < 0 || delta > dp.MaxDelta || delta != 0 && notPrivate:
		return bad("delta", "must be at least 0 and below 1, and 0 when training without privacy", delta)
	case rows < 0:
		return bad("rows", "must be at least 1, or 0 for none given", rows)
	}
	return nil
}
