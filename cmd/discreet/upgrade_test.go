// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUpgrade has this program read files of an earlier one, which testdata/upgrade/make.sh made:
// models of every learner, a schema, a ledger with a job, and a release.
func TestUpgrade(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "upgrade"))); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Chdir(dir)
	try := func(want string, args ...string) {
		t.Helper()
		if out := runDiscreet(t, args...); !strings.Contains(out, want) {
			t.Errorf("discreet %s: %q is missing from %s", strings.Join(args, " "), want, out)
		}
	}
	models, err := filepath.Glob("*.json")
	if err != nil || len(models) != 7 {
		t.Fatalf("%d models of an earlier program, want 7: %v", len(models), err)
	}
	try("1 private, 1 public and 0 ignored columns", "schema", "check", "schema.yaml")
	for _, m := range models {
		try("Privacy statement", "show", m)
		try("", "card", "--model", m, "--out", m+".yaml", "--format", "yaml")
		try("", "predict", "--model", m, "--data", "table.csv", "--out", m+".csv")
		try("90", "evaluate", "--model", m, "--data", "table.csv")
		try("", "export", "--model", m, "--format", "sql", "--out", m+".sql")
	}
	try("", "explain", "--model", "additive.json", "--out", "page.html")
	try("VERIFIED", "verify", "release.zip", "--keys", "sign.pub")
	try("ok", "budget", "verify", "--ledger", "ledger.db")

	// The ledger goes on: its job gives the same bytes for nothing, and a new one is charged.
	first := []string{"train", "--data", "table.csv", "--schema", "schema.yaml", "--ledger", "ledger.db", "--dataset",
		"visits", "--epsilon", "1"}
	try("", append(first, "--job", "first", "--model", "again.json")...)
	old, err := os.ReadFile("auto.json")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile("again.json"); err != nil || string(again) != string(old) {
		t.Errorf("the job of an earlier program gives another model: %v", err)
	}
	try("", append(first, "--job", "second", "--model", "second.json")...)
	try("7", "budget", "show", "--ledger", "ledger.db")
}
