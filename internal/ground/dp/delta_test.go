// SPDX-License-Identifier: Apache-2.0

package dp

import (
	"math/big"
	"testing"
)

func TestParseDelta(t *testing.T) {
	for text, want := range map[string]Delta{
		"0": 0, "0.0": 0, "0e9": 0, "1e-6": 1_000_000_000, "1e-15": 1, "1e-16": 1, "1e-300": 1,
		"0.1": 100_000_000_000_000, "1.0000000000000001e-15": 2, "0.999999999999999": MaxDelta,
	} {
		if got, err := ParseDelta(text); err != nil || got != want {
			t.Errorf("ParseDelta(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-0", "-1e-6", "1", "1.5", "NaN", "Inf", "1e-400", "0x1p-3", "1_0e-3", "1/2", " 0",
		"0.9999999999999999"} {
		if got, err := ParseDelta(text); err == nil {
			t.Errorf("ParseDelta(%q) = %d", text, got)
		}
	}
	for d, want := range map[Delta]string{0: "0", 1: "0.000000000000001", 1_000_000_000: "0.000001",
		MaxDelta: "0.999999999999999"} {
		if d.String() != want {
			t.Errorf("%d is written %s, want %s", int64(d), d, want)
		}
	}
}

// A float that stands for δ must not promise more than δ allows.
func TestDeltaFloatIsNeverAbove(t *testing.T) {
	for _, d := range []Delta{0, 1, 3, 7, 10, 999, 1_000_000_000, 123_456_789_012_345, MaxDelta} {
		got := new(big.Rat).SetFloat64(d.Float())
		want := big.NewRat(int64(d), Femto)
		if got.Cmp(want) > 0 || d > 0 && got.Cmp(new(big.Rat).Mul(want, big.NewRat(1<<51-1, 1<<51))) < 0 {
			t.Errorf("%s becomes %g", d, d.Float())
		}
	}
}
