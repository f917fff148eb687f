// SPDX-License-Identifier: Apache-2.0

package planning

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// TestStepsAreThePages: every kind of step has words, which name no flag and no command.
func TestStepsAreThePages(t *testing.T) {
	for kind := dp.NoStep + 1; kind < dp.StepKinds; kind++ {
		for _, name := range []string{"rows", "held-out"} {
			words := StepWords(dp.Step{Kind: kind, Name: name, Why: "0.5"})
			if words == "" || strings.Contains(words, "--") || strings.Contains(words, "discreet ") || strings.Contains(words, "{") {
				t.Errorf("kind %d has the words %q", kind, words)
			}
		}
	}
}
