// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"strings"
	"testing"
)

// Lines that end in want have a bound that no test knows.
const bounding = `package heldout

import "m.test/m/tune"

const (
	most   = 64
	untold = 49
	few    = 3
)

type key [32]byte

func f(n int, x float64, k key, b []byte) int {
	const inside = 5000
	switch {
	case n > most, n < few, n == 'a', len(k) == len(key{}), n > tune.Most:
		return min(n, 4)
	case n > untold, // want
		n >= 50_000, // want
		x <= 1<<40, // want
		n == inside: // want
	}
	switch n {
	case 9: // want
	case -9, 4:
	}
	if float64(untold) < x { // want
		return max(n, 2*untold) // want
	}
	for i := 0; i < 2*most; i++ {
	}
	return min(n, 100, len(b)) // want
}
`

func TestBounds(t *testing.T) {
	tryLines(t, checkBounds, "heldout/a.go", files{"heldout/a.go": bounding,
		"heldout/a_test.go": "package heldout\n\nvar sizes = []int{most - 1, most, most + 1}\n\nfunc float64(int) {}\n",
		"tune/a.go":         "package tune\n\nconst Most = 70\n",
		"model/a.go":        "package model\n\nfunc f(n int) bool { return n > 99 }\n"})
	if _, err := checkBounds(onDisk(t, files{"learn/a.go": "package learn\n\nvar broken int = \"\"\n"})); err == nil ||
		!strings.Contains(err.Error(), "learn does not compile") {
		t.Error("a package without types passes")
	}
}
