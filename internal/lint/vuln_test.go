// SPDX-License-Identifier: Apache-2.0

//go:build unix

package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestVulnSaysWhatItKnows plays the scanner: what it finds and what goes wrong fails
// the target, and a database out of reach is neither a finding nor a clean bill.
func TestVulnSaysWhatItKnows(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("needs make")
	}
	for name, c := range map[string]struct {
		scanner string // a shell script
		good    bool
		says    string
	}{
		"clean":  {"echo No vulnerabilities found.", true, "No vulnerabilities found."},
		"found":  {"echo Vulnerability '#1'; exit 3", false, "Vulnerability #1"},
		"broken": {"echo loading packages: no such file >&2; exit 1", false, "loading packages"},
		"out of reach": {`echo "govulncheck: fetching vulnerabilities: Get \"https://db.invalid/index/modules.json.gz\": no such host" >&2; exit 1`,
			true, "vuln: NOT CHECKED: the database https://db.invalid cannot be reached"},
		"no database": {"echo creating client: unrecognized vulndb format >&2; exit 1", true, "vuln: NOT CHECKED: "},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			scanner := filepath.Join(dir, "scanner")
			if err := os.WriteFile(scanner, []byte("#!/bin/sh\n"+c.scanner+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("make", "-C", "../..", "vuln", "OUT="+dir, "GOVULNCHECK="+scanner, "VULNDB=https://db.invalid").CombinedOutput()
			if (err == nil) != c.good || !strings.Contains(string(out), c.says) {
				t.Errorf("%v, want success %t and %q:\n%s", err, c.good, c.says, out)
			}
			if strings.Contains(string(out), "NOT CHECKED") != strings.Contains(c.says, "NOT CHECKED") {
				t.Errorf("it does not say whether it has checked:\n%s", out)
			}
		})
	}
}
