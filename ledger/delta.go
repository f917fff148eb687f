// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/dp"
)

// Delta is a failure probability δ counted in whole units of 1e-15, exact under
// addition as dp.Epsilon is.
type Delta int64

// deltaOne is the number of Delta units in δ = 1.
const deltaOne = 1_000_000_000_000_000

// ParseDelta reads a decimal 0 ≤ δ < 1 and rounds it up once, to a whole unit.
// Everything else is refused with a *dp.ParamError naming delta.
func ParseDelta(s string) (Delta, error) {
	// As in dp.ParseEpsilon: the float settles grammar and range, so that the
	// exact rational cannot be made to grow; the rational settles the value.
	f, err := strconv.ParseFloat(s, 64)
	refuse := func(want string) (Delta, error) {
		return 0, &dp.ParamError{Op: "delta", Param: "delta", Want: want, Got: s}
	}
	if err != nil && !math.IsInf(f, 0) || strings.ContainsAny(s, "xX_pP") {
		return refuse("must be a decimal number such as 1e-6")
	}
	if !(f >= 0 && f < 1) || math.Signbit(f) {
		return refuse("must be at least 0 and below 1")
	}
	digits, _, _ := strings.Cut(strings.ToLower(s), "e")
	if f == 0 && strings.ContainsAny(digits, "123456789") {
		return refuse("must be 0 or a number that is not absurdly small")
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return refuse("must be a decimal number such as 1e-6")
	}
	r.Mul(r, big.NewRat(deltaOne, 1))
	up := new(big.Int).Quo(r.Num(), r.Denom())
	if !r.IsInt() {
		up.Add(up, big.NewInt(1))
	}
	if !up.IsInt64() || up.Int64() >= deltaOne {
		return refuse("must be at least 0 and below 1")
	}
	return Delta(up.Int64()), nil
}

// String writes δ as the shortest exact decimal.
func (d Delta) String() string {
	s := strings.TrimRight(fmt.Sprintf("%d.%015d", d/deltaOne, d%deltaOne), "0")
	return strings.TrimSuffix(s, ".")
}
