// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"io"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet/internal/atomicfile"
	"github.com/discreet-dp/discreet/internal/plot"
)

// WriteFile lets f write the file at path, which holds what it held before, or
// nothing, until all of it has been written. It is for its user alone.
func WriteFile(path string, f func(io.Writer) error) error {
	return atomicfile.Write(path, atomicfile.Private, f)
}

// WritePublicFile is WriteFile for what derives from no row: others may read it as
// the umask says.
func WritePublicFile(path string, f func(io.Writer) error) error {
	return atomicfile.Write(path, atomicfile.Public, f)
}

// CheckWritable tells whether path can be written, and leaves nothing behind.
func CheckWritable(path string) error { return atomicfile.Check(path) }

// RefuseReplacing refuses an output of the command op that is one of its inputs, whatever
// they are called: what is read would be lost when something fails later.
func RefuseReplacing(op, out string, inputs ...string) error {
	to, err := os.Stat(out)
	if err != nil {
		return nil // a new file
	}
	for _, in := range inputs {
		if from, err := os.Stat(in); err == nil && os.SameFile(from, to) {
			return Refuse(op, "out", "must not be a file that is read, since it would be replaced", out)
		}
	}
	return nil
}

// DrawChart writes a chart to an .svg or .png file.
func DrawChart(path string, fig *plot.Lines) error {
	write := fig.WriteSVG
	if filepath.Ext(path) == ".png" {
		write = fig.WritePNG
	}
	return WriteFile(path, write)
}
