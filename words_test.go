// SPDX-License-Identifier: Apache-2.0

package discreet

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// TestStepsAreGo: every kind of step has words without a flag or a command, and parameters are named as options.
func TestStepsAreGo(t *testing.T) {
	for kind := dp.NoStep + 1; kind < dp.StepKinds; kind++ {
		words := stepWords(dp.Step{Kind: kind, Name: "n1", Why: "0.5"})
		if words == "" || speaksOfCommands.MatchString(words) || strings.Contains(words, "{") {
			t.Errorf("kind %d has the words %q", kind, words)
		}
	}
	for name, want := range map[string]string{"rows": "give Options.Rows", "positives": `give Options.Params["positives"]`,
		"wait": "give wait"} {
		if got := stepWords(dp.Step{Kind: dp.GiveParam, Name: name}); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestPlanCountsMeasurements(t *testing.T) {
	for n, want := range map[int]string{1: "in total, 1 measurement\n", 2: "in total, 2 measurements\n"} {
		if got := (&Plan{Bill: make([]Release, n)}).String(); !strings.HasSuffix(got, want) {
			t.Errorf("%d: %q", n, got)
		}
	}
}
