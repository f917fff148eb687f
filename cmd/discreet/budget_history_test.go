// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger"
)

// A value of any length leaves the columns of the history where they are: each value is below its heading.
func TestHistoryIsAligned(t *testing.T) {
	l, err := ledger.Create(t.Context(), filepath.Join(t.TempDir(), "l.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, price := range map[string]dp.Price{"d": {Epsilon: dp.Nano}, strings.Repeat("long", 32): {Epsilon: 123456789, Delta: 1},
		"more": {Epsilon: 5 * dp.Nano, Delta: dp.Femto / 10}} {
		if err := l.Declare(t.Context(), ledger.Dataset{Name: name, Epsilon: price.Epsilon, Delta: price.Delta}); err != nil {
			t.Fatal(err)
		}
	}
	var text strings.Builder
	if err := writeTable(t.Context(), &text, l, ""); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	var want []string // what stands below the headings
	for _, line := range lines[1:] {
		for _, heading := range []string{"dataset", "epsilon", "delta", "hash"} {
			rest := line[strings.Index(lines[0], heading):]
			value, _, _ := strings.Cut(rest, " ")
			want = append(want, value)
			if !strings.HasPrefix(rest, " ") && !strings.HasSuffix(strings.TrimSuffix(line, rest), "  ") {
				t.Errorf("the column %s begins within a value:\n%s", heading, &text)
			}
		}
	}
	for _, value := range []string{"d", "more", "1", "5", "0.123456789", "0.000000000000001", "0.1"} {
		if !slices.Contains(want, value) {
			t.Errorf("%s stands below no heading:\n%s", value, &text)
		}
	}
}
