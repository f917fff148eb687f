// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/commands/cli"
)

// Ctrl-C ends a training that is reading, without a model. The table never
// ends, so nothing else can end it.
func TestInterruptEndsTraining(t *testing.T) {
	dir := sampleFolder(t, 10)
	text, err := os.ReadFile(filepath.Join(dir, "census.csv"))
	if err != nil {
		t.Fatal(err)
	}
	_, rows, _ := bytes.Cut(text, []byte("\n"))
	cmd := exec.CommandContext(t.Context(), "discreet", "train", "--data", "-", "--schema", "census.yaml", "--learner",
		"brc", "--epsilon", "1", "--model", "m.json")
	cmd.Dir = dir
	var talk bytes.Buffer
	cmd.Stderr = &talk
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write(text); err != nil {
		t.Fatal(err)
	}
	// A pipe holds less than this, so once it is written some of it was read.
	if _, err := in.Write(bytes.Repeat(rows, 1<<12)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for err == nil { // until no one reads
		_, err = in.Write(rows)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != cli.ExitFailed {
		t.Errorf("ends with %v", err)
	}
	if _, got, _ := strings.Cut(talk.String(), "\n"); got != "error: interrupted\n" { // after the line about the check
		t.Errorf("says %q", &talk)
	}
	if _, err := os.Stat(filepath.Join(dir, "m.json")); !os.IsNotExist(err) {
		t.Errorf("a model is there (%v)", err)
	}
}
