// SPDX-License-Identifier: Apache-2.0

// Package size chooses how much a test does. The everyday command, go test ./..., runs each test at a
// size that takes moments; make ci sets DISCREET_LONG and runs the same tests at full size.
package size

import (
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"testing"
)

// Tests start hundreds of short processes and make thousands of command trees: collecting garbage as
// often as servers do took half of their time.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
		os.Setenv("GOGC", "400") // of processes that they start
	}
}

// Long reports whether tests run at full size.
func Long() bool { return os.Getenv("DISCREET_LONG") != "" }

// Of returns quick, or long if tests run at full size.
func Of[T any](quick, long T) T {
	if Long() {
		return long
	}
	return quick
}

// OnlyLong skips t unless tests run at full size. It is for what has no small size; why says what a
// small size would miss, and which quick test covers the claim.
func OnlyLong(t testing.TB, why string) {
	t.Helper()
	if !Long() {
		t.Skip("full size only (DISCREET_LONG=1): " + why)
	}
}

// Some returns n of the entries, spread evenly over their names in order, or all if tests run at full
// size.
func Some[T any](all map[string]T, n int) map[string]T {
	if Long() || n >= len(all) {
		return all
	}
	names := slices.Sorted(maps.Keys(all))
	some := map[string]T{}
	for i := range n {
		name := names[i*len(names)/n]
		some[name] = all[name]
	}
	return some
}
