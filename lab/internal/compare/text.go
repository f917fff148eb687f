// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/discreet-dp/discreet/lab/internal/plot"
)

// Points holds a comparison as numbers, for programs.
type Points struct {
	Private   bool      `json:"private"` // false: the numbers are exact
	Train     int       `json:"train"`
	HeldOut   int       `json:"held_out"`
	Repeats   int       `json:"repeats"`
	SplitSeed uint64    `json:"split_seed"`
	Points    []pointOf `json:"points"`
}

type pointOf struct {
	Learner  string   `json:"learner"`
	Epsilon  *float64 `json:"epsilon"` // null for a learner without privacy
	Accuracy Stat     `json:"accuracy"`
	AUC      *Stat    `json:"auc"` // null if held-out rows always lacked a class
}

// Numbers returns the numbers of the comparison.
func (r *Result) Numbers() Points {
	out := Points{Train: r.Train, HeldOut: r.Test, Repeats: r.Options.Repeats, SplitSeed: r.Options.Seed}
	for _, p := range r.Points {
		x := pointOf{Learner: p.Learner, Accuracy: p.Stat(Accuracy)}
		if p.Epsilon > 0 {
			eps := p.Epsilon.Float()
			x.Epsilon = &eps
		}
		if auc := p.Stat(AUC); auc.N > 0 {
			x.AUC = &auc
		}
		out.Points = append(out.Points, x)
	}
	return out
}

// WriteText writes the comparison for a terminal with the given number of columns.
func (r *Result) WriteText(out io.Writer, columns int, g plot.Glyphs) error {
	var b strings.Builder
	b.WriteString("NOT PRIVATE: exact numbers about rows of this table; a choice made by them is\ncovered by no ε\n\n")
	for _, m := range []Metric{Accuracy, AUC} {
		if !r.Has(m) {
			fmt.Fprintf(&b, "%s is undefined: held-out rows lack a class\n\n", m)
			continue
		}
		if err := r.Chart(m).WriteText(&b, columns, g); err != nil {
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
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.Learner, eps, statText(p.Stat(Accuracy)), statText(p.Stat(AUC)))
	}
	w.Flush()
	if r.Options.Repeats > 1 {
		b.WriteString("\n± is one standard deviation between splits, noise included.\n")
	}
	text := b.String()
	if g == plot.ASCII {
		text = strings.NewReplacer("ε", "epsilon", "±", "+-").Replace(text)
	}
	_, err := io.WriteString(out, text)
	return err
}

func statText(s Stat) string {
	switch s.N {
	case 0:
		return "undefined"
	case 1:
		return fmt.Sprintf("%.4f", s.Mean)
	}
	return fmt.Sprintf("%.4f ± %.4f", s.Mean, s.StdDev)
}
