// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/heldout"
	"github.com/discreet-dp/discreet/internal/plot"
)

// points is what compare prints for programs.
type points struct {
	Private   bool    `json:"private"` // false: the numbers are exact
	Train     int     `json:"train"`
	HeldOut   int     `json:"held_out"`
	Repeats   int     `json:"repeats"`
	SplitSeed uint64  `json:"split_seed"`
	Points    []point `json:"points"`
}

type point struct {
	Learner  string        `json:"learner"`
	Epsilon  *float64      `json:"epsilon"` // null for a learner without privacy
	Accuracy heldout.Stat  `json:"accuracy"`
	AUC      *heldout.Stat `json:"auc"` // null where held-out rows always lacked a class
}

func pointsOf(r *heldout.Result) points {
	out := points{Train: r.Train, HeldOut: r.Test, Repeats: r.Options.Repeats, SplitSeed: r.Options.Seed}
	for _, p := range r.Points {
		x := point{Learner: p.Learner, Accuracy: p.Stat(heldout.Accuracy)}
		if p.Epsilon > 0 {
			eps := p.Epsilon.Float()
			x.Epsilon = &eps
		}
		if auc := p.Stat(heldout.AUC); auc.N > 0 {
			x.AUC = &auc
		}
		out.Points = append(out.Points, x)
	}
	return out
}

// outFile is a file that a command writes.
type outFile struct {
	name  string
	write func(io.Writer) error
}

func filesOf(r *heldout.Result) (out []outFile) {
	for _, m := range []heldout.Metric{heldout.Accuracy, heldout.AUC} {
		if r.Has(m) {
			chart, name := r.Chart(m), strings.ToLower(string(m))
			out = append(out, outFile{name + ".svg", chart.WriteSVG}, outFile{name + ".png", chart.WritePNG})
		}
	}
	return append(out, outFile{"comparison.json", func(w io.Writer) error { return cli.WriteJSON(w, pointsOf(r)) }})
}

// print writes the comparison for a terminal.
func (l *compareLearners) print(r *heldout.Result) error {
	var b strings.Builder
	b.WriteString("NOT PRIVATE: exact numbers about rows of this table; a choice made by them is\ncovered by no ε\n\n")
	for _, m := range []heldout.Metric{heldout.Accuracy, heldout.AUC} {
		if !r.Has(m) {
			fmt.Fprintf(&b, "%s is undefined: held-out rows lack a class\n\n", m)
			continue
		}
		if err := r.Chart(m).WriteText(&b, l.Columns(), l.Glyphs()); err != nil {
			return err
		}
		b.WriteString("\n")
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "learner\tε\taccuracy\tAUC\n")
	for _, p := range r.Points {
		eps := "no noise"
		if p.Epsilon > 0 {
			eps = p.Epsilon.String()
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.Learner, eps, statText(p.Stat(heldout.Accuracy)), statText(p.Stat(heldout.AUC)))
	}
	w.Flush()
	if r.Options.Repeats > 1 {
		b.WriteString("\n± is one standard deviation between splits, noise included.\n")
	}
	text := b.String()
	if l.Glyphs() == plot.ASCII {
		text = strings.NewReplacer("ε", "epsilon", "±", "+-").Replace(text)
	}
	_, err := io.WriteString(l.Stdout, text)
	return err
}

func statText(s heldout.Stat) string {
	switch s.N {
	case 0:
		return "undefined"
	case 1:
		return fmt.Sprintf("%.4f", s.Mean)
	}
	return fmt.Sprintf("%.4f ± %.4f", s.Mean, s.StdDev)
}
