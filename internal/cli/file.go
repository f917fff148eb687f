// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"path/filepath"

	"github.com/discreet-dp/discreet/internal/atomicfile"
	"github.com/discreet-dp/discreet/internal/plot"
)

// CheckWritable returns an error if path cannot be written. It leaves nothing behind.
func CheckWritable(path string) error { return atomicfile.Check(path) }

// DrawChart writes a chart to an .svg or .png file.
func (a *App) DrawChart(path string, fig *plot.Lines) error {
	write := fig.WriteSVG
	if filepath.Ext(path) == ".png" {
		write = fig.WritePNG
	}
	return a.WriteFile(path, write)
}
