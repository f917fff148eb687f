// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"io"
	"os"

	"github.com/vbauerster/mpb/v8/cwriter"
)

// Terminal returns the terminal that standard output is, if it is one.
func (a *App) Terminal() (*os.File, bool) { return findTerminal(a.data) }

// findTerminal returns the file that w writes to, if it is a terminal.
func findTerminal(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok && cwriter.IsTerminal(int(f.Fd()))
}
