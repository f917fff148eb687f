// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"io"
	"os"

	"github.com/vbauerster/mpb/v8/cwriter"
)

// findTerminal returns the file that w writes to, if it is a terminal.
func findTerminal(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok && cwriter.IsTerminal(int(f.Fd()))
}
