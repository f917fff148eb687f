// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"os"
	"testing"
)

const root = "../../.."

// TestRepository holds this repository to every rule.
func TestRepository(t *testing.T) {
	m, err := Load(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Files) < 2 {
		t.Fatalf("found %d files: the rules looked at nothing", len(m.Files))
	}
	for _, rule := range []struct {
		name  string
		check func(*Module) []string
	}{
		{"rooms", checkRooms},
		{"imports", checkImports},
		{"headers", checkHeaders},
		{"output", checkOutput},
		{"flags", checkFlags},
		{"terminal", checkTerminal},
		{"opening", checkOpening},
		{"dependencies", checkDependencies},
		{"claims", checkClaims},
		{"tags", checkTags},
		{"clients", checkClients},
		{"doors", checkDoors},
		{"named tests", checkNamedTests},
		{"named packages", checkNamedPackages},
		{"links", checkLinks},
		{"streams", checkStreams},
		{"skipped tests", checkSkipped},
	} {
		t.Run(rule.name, func(t *testing.T) {
			for _, complaint := range rule.check(m) {
				t.Error(complaint)
			}
		})
	}
	t.Run("places", func(t *testing.T) {
		bad, err := checkPlaces(root)
		if err != nil {
			t.Fatal(err)
		}
		for _, complaint := range bad {
			t.Error(complaint)
		}
	})
}
