// SPDX-License-Identifier: Apache-2.0

package dp

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Epsilon is a pure privacy loss ε counted in whole nano-units (1e-9). Integers keep bills exact: sums
// do not depend on the order of additions. The zero value means "nothing is released".
type Epsilon int64

const (
	// Nano is the number of Epsilon units in ε = 1.
	Nano = 1_000_000_000
	// MaxEpsilon is the largest ε that any learner accepts, even if the owner sets no limit. A larger
	// ε would be no meaningful protection.
	MaxEpsilon Epsilon = 1000 * Nano
)

// ParseEpsilon reads a decimal ε > 0 and rounds it up once, to a whole nano-unit: "0.16" is exactly
// 160,000,000 units. It rounds up so that the ledger is charged at least what was requested; the
// excess is below 1e-9. Zero, negative, NaN, infinite, sub-nano and oversized values are refused with
// a *ParamError naming epsilon.
func ParseEpsilon(s string) (Epsilon, error) {
	// The float parse settles the grammar and the range (so that the exact
	// rational below cannot be made to grow); the rational settles the value.
	f, err := strconv.ParseFloat(s, 64)
	refuse := func(want string) (Epsilon, error) {
		return 0, &ParamError{Op: "epsilon", Param: "epsilon", Want: want, Got: s}
	}
	if err != nil && !math.IsInf(f, 0) || strings.ContainsAny(s, "xX_pP") {
		return refuse("must be a decimal number such as 0.5")
	}
	if !(f > 0) || math.IsInf(f, 1) {
		return refuse("must be finite and > 0")
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return refuse("must be a decimal number such as 0.5")
	}
	r.Mul(r, big.NewRat(Nano, 1))
	if r.Cmp(big.NewRat(1, 1)) < 0 {
		return refuse("must be at least 1e-9, the smallest unit the ledger counts")
	}
	if r.Cmp(new(big.Rat).SetInt64(int64(MaxEpsilon))) > 0 {
		return refuse(fmt.Sprintf("must be at most %s", MaxEpsilon))
	}
	up := new(big.Int).Quo(r.Num(), r.Denom())
	if !r.IsInt() {
		up.Add(up, big.NewInt(1))
	}
	return Epsilon(up.Int64()), nil
}

// EpsilonOf is ParseEpsilon for a float64, read as its shortest decimal: 0.16 means exactly 0.16, not
// the nearest binary fraction.
func EpsilonOf(f float64) (Epsilon, error) {
	return ParseEpsilon(strconv.FormatFloat(f, 'g', -1, 64))
}

// Float returns ε as a float64, for display and for noise scales.
func (e Epsilon) Float() float64 {
	if e == Infinite {
		return math.Inf(1)
	}
	return float64(e) / Nano
}

// String writes ε as the shortest decimal.
func (e Epsilon) String() string { return strconv.FormatFloat(e.Float(), 'f', -1, 64) }

// Split divides e into parts that add up to e exactly: the first e mod parts get one nano-unit more
// than the others (largest remainder). Each part must be used for its own noise scale. It is an error
// if a part would be zero.
func (e Epsilon) Split(parts int) ([]Epsilon, error) {
	if parts < 1 {
		return nil, &ParamError{Op: "split epsilon", Param: "parts", Want: "must be at least 1", Got: parts}
	}
	if int64(e) < int64(parts) {
		return nil, &ParamError{Op: "split epsilon", Param: "epsilon",
			Want: fmt.Sprintf("must give each of %d measurements at least 1e-9", parts), Got: e.String()}
	}
	out := make([]Epsilon, parts)
	each, more := int64(e)/int64(parts), int64(e)%int64(parts)
	for i := range out {
		out[i] = Epsilon(each)
		if int64(i) < more {
			out[i]++
		}
	}
	return out, nil
}
