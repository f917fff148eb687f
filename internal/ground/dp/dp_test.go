// SPDX-License-Identifier: Apache-2.0

package dp

import (
	"errors"
	"strings"
	"testing"
)

func TestParseEpsilonRoundsUpOnce(t *testing.T) {
	for text, want := range map[string]Epsilon{
		"1":                        Nano,
		"0.16":                     160_000_000, // the float 0.16 is a little more; the decimal is meant
		"0.1":                      100_000_000,
		"1e-9":                     1,
		"0.0000000011":             2, // between units: up
		"1000":                     MaxEpsilon,
		"0.3333333333333333333":    333_333_334,
		"1.0000000000000000000001": Nano + 1,
	} {
		got, err := ParseEpsilon(text)
		if err != nil || got != want {
			t.Errorf("ParseEpsilon(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestParseEpsilonRefuses(t *testing.T) {
	for _, text := range []string{"", "0", "-0", "-1", "NaN", "Inf", "-Inf", "+Inf", "1e-300", "1e-10", "5e-324",
		"1e-999999999", "1e999999999", "1e9", "1000.000000001", "0x1p3", "1_0", "1/2", "1,5", " 1", "one"} {
		_, err := ParseEpsilon(text)
		var p *ParamError
		if !errors.As(err, &p) || p.Param != "epsilon" || !strings.Contains(err.Error(), "epsilon") {
			t.Errorf("ParseEpsilon(%q): %v; want a refusal naming epsilon", text, err)
		}
	}
}

func TestSplitAddsUpExactly(t *testing.T) {
	for _, e := range []Epsilon{1, 2, 30, 31, Nano, Nano + 7, 160_000_000, MaxEpsilon} {
		for _, parts := range []int{1, 2, 3, 25, 30} {
			got, err := e.Split(parts)
			if int64(e) < int64(parts) {
				if err == nil {
					t.Errorf("Split(%d, %d) gave a part of zero", e, parts)
				}
				continue
			}
			sum := Epsilon(0)
			for i, p := range got {
				sum += p
				if p < 1 || got[0]-p > 1 || i > 0 && p > got[i-1] {
					t.Errorf("Split(%d, %d) part %d is %d after %d", e, parts, i, p, got[0])
				}
			}
			if err != nil || sum != e || len(got) != parts {
				t.Errorf("Split(%d, %d): %d parts adding to %d, %v", e, parts, len(got), sum, err)
			}
		}
	}
	if _, err := Epsilon(Nano).Split(0); err == nil {
		t.Error("Split into no parts was accepted")
	}
}

func TestParamErrorSaysEverything(t *testing.T) {
	err := &ParamError{Op: "brc", Param: "rounds", Want: "must be at least 1", Got: 0, Hint: "the paper uses 25"}
	if got := err.Error(); got != "brc: rounds must be at least 1 (got 0); the paper uses 25" {
		t.Error(got)
	}
	if got := (&ParamError{Op: "train", Param: "epsilon", Want: "is required"}).Error(); got !=
		"train: epsilon is required (none given)" {
		t.Error(got)
	}
	if got := Refuse("helper", "certificate", "must be a helper's", nil).Error(); got != "helper: certificate must be a helper's" {
		t.Error(got)
	}
}

// The words of a price change at 1 and 10 alone, and a weak one has a warning.
func TestStrength(t *testing.T) {
	for eps, want := range map[Epsilon]Strength{1: Strong, Nano: Strong, Nano + 1: Moderate, 10 * Nano: Moderate,
		10*Nano + 1: Weak, MaxEpsilon: Weak} {
		if got := eps.Strength(); got != want || (eps.Warning() != "") != (want == Weak) {
			t.Errorf("epsilon %s is %s (%q), want %s", eps, got, eps.Warning(), want)
		}
	}
	if got := DescribeScale(); got != "Ponomareva et al. (2023, How to DP-fy ML) call a guarantee strong up to epsilon = 1, "+
		"reasonable (here: moderate) up to 10, and weak above." {
		t.Error(got)
	}
}
