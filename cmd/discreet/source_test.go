// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/build"
)

// TestReleaseNamesItsSource: a program that cannot name its commit signs nothing unless told to.
func TestReleaseNamesItsSource(t *testing.T) {
	defer func(was string) { build.Commit = was }(build.Commit)
	release := func(flags ...string) (int, string) {
		var out, talk bytes.Buffer
		line := append([]string{"release", "absent.json", "--key", "absent", "--out", "r.zip"}, flags...)
		return cli.Run(t.Context(), newRoot, line, nil, strings.NewReader(""), &out, &talk), talk.String()
	}
	for _, commit := range []string{"", strings.Repeat("a", 40) + " (modified)"} {
		build.Commit = commit
		if code, said := release(); code == cli.ExitOK || !strings.Contains(said, "any-source must be given") {
			t.Errorf("commit %q: exit code %d: %s", commit, code, said)
		}
		if _, said := release("--any-source"); strings.Contains(said, "any-source") {
			t.Errorf("commit %q: refused although told: %s", commit, said)
		}
	}
}
