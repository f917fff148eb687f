// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
)

// Findings are what a command that checks has found.
type Findings []checked

// checked is a line of such a command's output.
type checked struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	err    error
}

// Note adds a check that failed with err, or passed if it is nil.
func (f *Findings) Note(name, detail string, err error) {
	*f = append(*f, checked{name, err == nil, detail, err})
}

// Write writes one line for each check of the command, or one JSON object, and returns an error if a check
// failed.
func (f Findings) Write(w io.Writer, command *cobra.Command, asJSON bool) error {
	failed := 0
	for i, c := range f {
		if !c.OK {
			failed++
			f[i].Detail = strings.ReplaceAll(dp.Reword(c.err, cli.StepWords(command)), "\n", "; ")
		}
	}
	if asJSON {
		if err := cli.WriteJSON(w, map[string]any{"ok": failed == 0, "checks": f}); err != nil {
			return err
		}
	} else {
		for _, c := range f {
			word := "ok  "
			if !c.OK {
				word = "FAIL"
			}
			plaintext.Fprintf(w, "%s  %s: %s\n", word, c.Name, c.Detail)
		}
	}
	if failed > 0 {
		_, op, _ := strings.Cut(command.CommandPath(), " ")
		return fmt.Errorf("%s: %d of %d checks failed", op, failed, len(f))
	}
	return nil
}
