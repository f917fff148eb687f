// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"io"
	"os"
	"strings"

	"github.com/vbauerster/mpb/v8/cwriter"

	"github.com/discreet-dp/discreet/internal/plot"
)

// findTerminal returns the file that w writes to, if it is a terminal.
func findTerminal(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok && cwriter.IsTerminal(int(f.Fd()))
}

// Columns returns the width of the terminal, or 80 if there is none.
func (a *App) Columns() int {
	if f, ok := findTerminal(a.Stdout); ok {
		if width, _, err := cwriter.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return 80
}

// Glyphs returns the characters to draw with: plain ASCII if the locale is set and is not UTF-8.
func (a *App) Glyphs() plot.Glyphs {
	for _, key := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(a.Getenv(key)); locale != "" {
			if strings.Contains(locale, "utf") {
				return plot.Unicode
			}
			return plot.ASCII
		}
	}
	return plot.Unicode
}
