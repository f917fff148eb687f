// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/commands/cli"
)

// TestManPages renders a page of the manual for every command of both programs, into folders of
// DISCREET_MAN if that is set, as make packages does. groff reads each without a complaint, if it is here.
func TestManPages(t *testing.T) {
	dir := os.Getenv("DISCREET_MAN")
	if dir == "" {
		dir = t.TempDir()
	}
	for _, root := range []*cobra.Command{newTestRoot(), newNetRoot(&cli.App{})} {
		writeManPages(t, root, filepath.Join(dir, root.Name()))
	}
}

func writeManPages(t *testing.T, root *cobra.Command, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	root.DisableAutoGenTag = true
	never := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) // the same commit gives the same bytes
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: root.Name(), Date: &never}, dir); err != nil {
		t.Fatal(err)
	}
	commands := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Hidden || c.Deprecated != "" || c.Name() == "help" {
			return
		}
		commands++
		page := filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1")
		text, err := os.ReadFile(page)
		if err != nil || !strings.Contains(string(text), ".SH SYNOPSIS") {
			t.Errorf("%s: %v", page, err)
		}
		if commands%size.Of(10, 1) == 0 {
			checkManPage(t, page)
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
	if commands < 20 {
		t.Errorf("only %d commands have a page", commands)
	}
}

// checkManPage has groff read a page, if it is on this machine; it complains on standard error.
func checkManPage(t *testing.T, page string) {
	t.Helper()
	groff, err := exec.LookPath("groff")
	if err != nil {
		return
	}
	var complaints strings.Builder
	run := exec.Command(groff, "-Kutf8", "-man", "-Tutf8", "-ww", "-z", page)
	run.Stderr = &complaints
	if err := run.Run(); err != nil || complaints.Len() > 0 {
		t.Errorf("%s: %v: %.300s", page, err, complaints.String())
	}
}
