// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
)

// TestHostileYAMLTakesLittle: no flag reads a text that stands for gigabytes of a YAML library.
func TestHostileYAMLTakesLittle(t *testing.T) {
	scene(t)
	some := []string{"site check --policy", "site check --map", "helper --config", "card --about-file", "schema check FILE"}
	if size.Long() {
		some = some[:0]
		for what, line := range reading {
			if line != "" {
				some = append(some, what)
			}
		}
	}
	const most = 200 << 20
	for _, what := range some {
		for _, text := range []string{strings.Repeat("[", 100_000), strings.Repeat("{a: ", 30_000)} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			swap(t, what, text, "given.txt")
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > most {
				t.Errorf("%s takes %d MB, want at most %d", what, took>>20, most>>20)
			}
		}
	}
}
