// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"io"
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

// DrawChart writes a chart to an .svg or .png file.
func DrawChart(path string, fig *plot.Lines) error {
	write := fig.WriteSVG
	if filepath.Ext(path) == ".png" {
		write = fig.WritePNG
	}
	return WriteFile(path, write)
}
