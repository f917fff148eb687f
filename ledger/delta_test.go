// SPDX-License-Identifier: Apache-2.0

package ledger

import "testing"

func TestParseDelta(t *testing.T) {
	for text, want := range map[string]Delta{
		"0": 0, "0.0": 0, "0e9": 0, "1e-6": 1_000_000_000, "1e-15": 1, "1e-16": 1, "1e-300": 1,
		"0.1": 100_000_000_000_000, "1.0000000000000001e-15": 2, "0.999999999999999": deltaOne - 1,
	} {
		if got, err := ParseDelta(text); err != nil || got != want {
			t.Errorf("ParseDelta(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-0", "-1e-6", "1", "1.5", "NaN", "Inf", "1e-400", "0x1p-3", "1_0e-3", "1/2", " 0", "0.9999999999999999"} {
		if got, err := ParseDelta(text); err == nil {
			t.Errorf("ParseDelta(%q) = %d", text, got)
		}
	}
	for d, want := range map[Delta]string{0: "0", 1: "0.000000000000001", 1_000_000_000: "0.000001", deltaOne - 1: "0.999999999999999"} {
		if d.String() != want {
			t.Errorf("%d is written %s, want %s", int64(d), d, want)
		}
	}
}
