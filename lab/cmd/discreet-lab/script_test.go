// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/discreet-dp/discreet/internal/check/testkit/clitest"
	"github.com/discreet-dp/discreet/internal/check/testkit/realdata"
)

func runScripts(m *testing.M) {
	testscript.Main(m, map[string]func(){"discreet-lab": main})
}

// TestScripts runs the manual of the command. Scripts about the real data sets
// are skipped where those are not at hand.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("DISCREET_DATASETS", realdata.Folder())
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, ".state"))
			e.Setenv("EXAMPLES", filepath.Join(realdata.Root(), "examples"))
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond != "datasets" {
				return false, errors.New("unknown condition " + cond)
			}
			_, err := os.Stat(realdata.Folder())
			return err == nil, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"census": clitest.Census, "exits": clitest.Exits},
	})
}
