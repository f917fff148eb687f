// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/lab/internal/experiment"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/sources"
)

// experimentRun is the flags of the command.
type experimentRun struct {
	*app
	out     string
	repeats int
	seed    uint64
	quick   bool
	permute bool
	json    bool
}

// measured is what run prints for programs.
type measured struct {
	Verdict frame.Verdict  `json:"verdict"`
	Files   []string       `json:"files"`
	Records []frame.Record `json:"records"`
}

func (a *app) experimentRun() *cobra.Command {
	e := &experimentRun{app: a}
	c := &cobra.Command{
		Use:   "run PAPER/FIGURE",
		Short: "measure a figure, draw it and judge the paper's claim",
		Long: `Run measures a figure and writes its records (JSON lines), its chart (SVG and
PNG) and the verdict to a folder of the figure's name below --out. What the
records hold already is not measured again, so an interrupted run goes on where
it stopped.

In a checkout records keep a digest of the code that the figure depends on, and a
verdict on records of other code says that they are older than the code.

It reads the data sets from $DISCREET_DATASETS and the schemas from examples.
Nothing it does is private: the data are public, the seeds known, and every
model it trains is marked as seeded.`,
		Example: `  discreet-lab experiment run shen/fig2a --out figures --quick
  discreet-lab experiment run shen/fig2a --out figures --repeats 100 --seed 1 --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return e.runExperiment(c.Context(), args[0]) },
		ValidArgsFunction: func(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
			for _, f := range experiment.All() {
				names = append(names, f.Name)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.Flags().StringVar(&e.out, "out", "", "the `folder` to write to")
	c.Flags().IntVar(&e.repeats, "repeats", 0, "how often to measure each point; 0 for the paper's number")
	c.Flags().Uint64Var(&e.seed, "seed", 1, "what every number follows from")
	c.Flags().BoolVar(&e.quick, "quick", false, "a few repeats, enough to see the shape")
	c.Flags().BoolVar(&e.permute, "permute-labels", false,
		"a null run: deal labels anew first, and see whether the claim can fail")
	c.Flags().BoolVar(&e.json, "json", false, "print one JSON object")
	cli.WritesInto(c, "out", figureFiles()...)
	cli.Require(c, "out")
	return c
}

// figureFiles are all that run may write, from the folder that --out names on.
func figureFiles() (names []string) {
	for _, f := range experiment.All() {
		for _, end := range []string{"", frame.Permuted} {
			for _, name := range frame.Files {
				names = append(names, filepath.Join(filepath.FromSlash(f.Name+end), name))
			}
		}
	}
	return names
}

func (e *experimentRun) runExperiment(ctx context.Context, name string) error {
	code := codeOf(name, programTime())
	if code == "" {
		e.Say("records keep no digest of the code: this folder is no checkout, or its code is newer than the program")
	}
	report, done := e.ShowRuns("measuring")
	res, err := experiment.Run(ctx, name, frame.Options{
		Out: e.out, Repeats: e.repeats, Seed: e.seed, Quick: e.quick, PermuteLabels: e.permute,
		Datasets: e.Getenv("DISCREET_DATASETS"), Progress: report, Code: code,
	})
	done()
	if _, ok := errors.AsType[*dp.ParamError](err); ok {
		return &cli.UsageError{Err: err}
	}
	if err != nil {
		return err
	}
	for _, f := range res.Files {
		e.Say("wrote %s", f)
	}
	if e.json {
		return cli.WriteJSON(e.Stdout, measured{res.Verdict, res.Files, res.Records})
	}
	return writeVerdict(e.Stdout, &res.Verdict)
}

// codeOf is the digest of the code of a figure's paper in the checkout that the command runs in; "" if there is none, or if
// it is newer than built.
func codeOf(figure string, built time.Time) string {
	paper, _, _ := strings.Cut(figure, "/")
	code, err := sources.Digest(sources.Root("."), "lab/internal/experiment/"+paper, built)
	if err != nil {
		return "" // a program away from its checkout does not know its code
	}
	return code
}

// programTime is when this program was built.
func programTime() (built time.Time) {
	if path, err := os.Executable(); err == nil {
		if info, err := os.Stat(path); err == nil {
			built = info.ModTime()
		}
	}
	return built
}

func writeVerdict(out io.Writer, v *frame.Verdict) error {
	var b strings.Builder
	plaintext.Fprintf(&b, "%s: %s (%d repeats, seed %d)\n%s\n", v.Figure, v.Outcome, v.Repeats, v.Seed, v.Reason)
	if v.Older {
		b.WriteString("older than the code: other code than today's measured some of the numbers\n")
	}
	for _, c := range v.Checks {
		plaintext.Fprintf(&b, "  %-11s  %s: paper %s, here %s", c.Word, c.What, c.Paper, c.Ours)
		if c.Later != "" {
			plaintext.Fprintf(&b, " (does not count: %s)", c.Later)
		}
		b.WriteString("\n")
	}
	for _, n := range v.Notes {
		plaintext.Fprintf(&b, "  %s\n", n)
	}
	_, err := io.WriteString(out, b.String())
	return err
}
