// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"strings"
	"syscall"

	"github.com/vbauerster/mpb/v8/cwriter"

	"github.com/discreet-dp/discreet/lab/internal/plot"
)

// drawChart writes a chart to an .svg or .png file.
func (a *app) drawChart(path string, fig *plot.Lines) error {
	write := fig.WriteSVG
	if filepath.Ext(path) == ".png" {
		write = fig.WritePNG
	}
	return a.WriteFile(path, write)
}

// columns is the width to draw in: as the terminal, or 80 if there is none.
func (a *app) columns() int {
	if width, _, err := cwriter.GetSize(int(syscall.Stdout)); err == nil && width > 0 {
		return width
	}
	return 80
}

// glyphs are the characters to draw with: plain ASCII if the locale is declared and is
// not UTF-8.
func (a *app) glyphs() plot.Glyphs {
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
