// SPDX-License-Identifier: Apache-2.0

package dp

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Delta is the δ of an (ε, δ)-guarantee, counted in whole units of 1e-15 and
// exact under addition as Epsilon is. The zero value means a pure guarantee.
type Delta int64

const (
	// Femto is the number of Delta units in δ = 1.
	Femto = 1_000_000_000_000_000
	// MaxDelta is the largest δ that is accepted: just below 1.
	MaxDelta Delta = Femto - 1
)

// ParseDelta reads a decimal 0 ≤ δ < 1 and rounds it up once, to a whole unit.
// Everything else is refused with a *ParamError naming delta.
func ParseDelta(s string) (Delta, error) {
	// As in ParseEpsilon: the float settles grammar and range, so that the
	// exact rational cannot be made to grow; the rational settles the value.
	f, err := strconv.ParseFloat(s, 64)
	refuse := func(want string) (Delta, error) {
		return 0, &ParamError{Op: "delta", Param: "delta", Want: want, Got: s}
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
	r.Mul(r, big.NewRat(Femto, 1))
	up := new(big.Int).Quo(r.Num(), r.Denom())
	if !r.IsInt() {
		up.Add(up, big.NewInt(1))
	}
	if !up.IsInt64() || up.Int64() > int64(MaxDelta) {
		return refuse("must be at least 0 and below 1")
	}
	return Delta(up.Int64()), nil
}

// DeltaOf is ParseDelta for a float64, read as its shortest decimal.
func DeltaOf(f float64) (Delta, error) {
	return ParseDelta(strconv.FormatFloat(f, 'g', -1, 64))
}

// Float returns δ as a float64, rounded down, so that a mechanism with that δ also keeps to the exact
// one.
func (d Delta) Float() float64 {
	if d <= 0 {
		return 0
	}
	return math.Nextafter(float64(d)/Femto, 0) // the quotient is off by less than one step
}

// String writes δ as the shortest exact decimal.
func (d Delta) String() string {
	s := strings.TrimRight(fmt.Sprintf("%d.%015d", d/Femto, d%Femto), "0")
	return strings.TrimSuffix(s, ".")
}
