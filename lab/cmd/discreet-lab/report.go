// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/lab/internal/experiment"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	pages "github.com/discreet-dp/discreet/lab/internal/report"
)

// reportPage is the flags of the command.
type reportPage struct {
	*app
	out string
}

func (a *app) newReportCommand() *cobra.Command {
	r := &reportPage{app: a}
	c := &cobra.Command{
		Use:   "report DIR...",
		Short: "make one page of measured figures",
		Long: `Report reads the folders that experiment run wrote below each DIR and makes one
HTML page of them: each figure with the paper's claim, the verdict on it, the
chart, what the paper states beside what came out, and every mean with its
spread. What a folder lacks is said on the page.

The page is a single file that loads nothing. Its links to raw lines are
relative, so they work where page and folders move together. Made in a checkout,
it says which figures other code than the checkout's measured.`,
		Example: `  discreet-lab report figures --out report.html
  discreet-lab report figures more-figures --out evidence/report.html`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return r.writePage(args) },
	}
	c.Flags().StringVar(&r.out, "out", "", "the HTML `file` to write; replaced if it is there")
	cli.ReadsArguments(c, frame.Files...)
	cli.Writes(c, "out")
	cli.Require(c, "out")
	return c
}

func (r *reportPage) writePage(dirs []string) error {
	p := &pages.Page{}
	code := map[string]string{} // by paper
	for _, f := range experiment.All() {
		paper, _, _ := strings.Cut(f.Name, "/")
		if _, known := code[paper]; !known {
			code[paper] = codeOf(f.Name, time.Time{})
		}
		p.Catalogue = append(p.Catalogue, pages.About{Name: f.Name, Paper: f.Paper, Title: f.Title, Claim: f.Claim,
			Protocol: f.Protocol, Code: code[paper]})
	}
	from := map[string]string{} // figure to the folder it was found in
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return &cli.UsageError{Err: fmt.Errorf("report: %s must be a folder that experiment run wrote to", dir)}
		}
		figures, err := pages.Read(openfile.Folder(dir))
		if err != nil {
			return err
		}
		for _, f := range figures {
			folder := filepath.Join(dir, filepath.FromSlash(f.Folder))
			if first, twice := from[f.Name]; twice {
				return &cli.UsageError{Err: fmt.Errorf("report: %s must lie in one folder only (found %s and %s)", f.Name, first,
					folder)}
			}
			from[f.Name] = folder
			f.Link = linkTo(folder, r.out)
		}
		p.Figures = append(p.Figures, figures...)
	}
	if err := r.WritePublicFile(r.out, p.WriteHTML); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	r.Say("wrote %s (figures: %d)", r.out, len(p.Figures))
	return nil
}

// linkTo is the folder as seen from the page, empty if no relative path
// leads there.
func linkTo(folder, page string) string {
	to, err := filepath.Abs(folder)
	if err != nil {
		return ""
	}
	at, err := filepath.Abs(filepath.Dir(page))
	if err != nil {
		return ""
	}
	rel, err := filepath.Rel(at, to)
	if err != nil {
		return ""
	}
	return "./" + filepath.ToSlash(rel)
}
