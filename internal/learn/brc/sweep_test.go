// SPDX-License-Identifier: Apache-2.0

package brc_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/brc"
	"github.com/discreet-dp/discreet/internal/learn/labeldp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/sample"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// TestSweep writes evidence/benchmarks/brc-choices.tsv, the numbers behind the
// tables of evidence/guarantees/brc.md, to the file DISCREET_BRC_SWEEP: what the
// choices that the paper leaves open are worth on its tables. Each repeat draws
// a balanced subset and a tenth of it to test; a repeat is the same for all.
func TestSweep(t *testing.T) {
	path := os.Getenv("DISCREET_BRC_SWEEP")
	if path == "" {
		t.Skip("set DISCREET_BRC_SWEEP to a file to write the sweep behind the tables of evidence/guarantees/brc.md")
	}
	const repeats = 20
	var out strings.Builder
	out.WriteString("data\tprivate\tlearner\tepsilon\trepeats\taccuracy\tstandard_error\n")
	for _, d := range []struct {
		name, schema string
		files        []string
	}{
		{"adult", "adult.yaml", []string{"adult/adult.data.gz", "adult/adult.test.gz"}},
		{"credit", "credit.yaml", []string{"credit/UCI_Credit_Card.csv.gz"}},
		{"bank", "bank.yaml", []string{"bank/bank-full.csv.gz"}},
	} {
		all := learntest.ReadReal(t, d.schema, d.files...)
		for _, view := range views {
			tab := &dataset.Table{Schema: view.of(all.Schema), Rows: all.Rows, Cols: all.Cols, Labels: all.Labels}
			for _, c := range view.choices {
				for _, eps := range []dp.Epsilon{40_000_000, 160_000_000, dp.Nano} {
					mean, squares := 0.0, 0.0
					for r := range uint64(repeats) {
						a := accuracy(t, tab, d.name, c.plan, eps, r)
						mean, squares = mean+a/repeats, squares+a*a/repeats
					}
					fmt.Fprintf(&out, "%s\t%s\t%s\t%s\t%d\t%.4f\t%.4f\n", d.name, view.private, c.name, eps, repeats, mean,
						math.Sqrt((squares-mean*mean)/(repeats-1)))
				}
			}
		}
	}
	if err := os.WriteFile(path, []byte(out.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// choice is one learner with its parameters.
type choice struct {
	name string
	plan func(s *schema.Schema, eps dp.Epsilon, rows int) (learn.Plan, error)
}

func boosted(name string, change func(*brc.Params)) choice {
	return choice{name, func(s *schema.Schema, eps dp.Epsilon, rows int) (learn.Plan, error) {
		p := brc.Printed()
		p.Epsilon = eps
		change(&p)
		return p.Plan(s, rows)
	}}
}

// views are what of a row is private, with the choices tried there.
var views = []struct {
	private string
	of      func(*schema.Schema) *schema.Schema
	choices []choice
}{
	{"some columns", func(s *schema.Schema) *schema.Schema { return s }, subroutines()},
	{"everything", func(s *schema.Schema) *schema.Schema { return hide(s, true) }, subroutines()},
	{"some columns, label", func(s *schema.Schema) *schema.Schema { return hide(s, false) }, shares()},
}

func subroutines() []choice {
	out := []choice{boosted("random, 25 rounds", func(*brc.Params) {})}
	for _, c := range []struct {
		rounds int
		c      float64
	}{{5, math.Sqrt2}, {10, math.Sqrt2}, {25, math.Sqrt2}, {10, 3}, {25, 3}} {
		out = append(out, boosted(fmt.Sprintf("stump, %d rounds, c1 = c2 = %.3g", c.rounds, c.c), func(p *brc.Params) {
			p.Subroutine, p.Rounds, p.C1, p.C2 = brc.Stump, c.rounds, c.c, c.c
		}))
	}
	return out
}

func shares() []choice {
	out := []choice{
		{"labeldp alone", func(s *schema.Schema, eps dp.Epsilon, rows int) (learn.Plan, error) {
			p := labeldp.Defaults()
			p.Epsilon = eps
			return p.Plan(s, rows)
		}},
		boosted("brc, everything private", func(*brc.Params) {}),
	}
	for _, share := range []float64{.05, .1, .2, .3, .5} {
		out = append(out, boosted(fmt.Sprintf("brc, share %g", share),
			func(p *brc.Params) { p.PrivateLabel, p.PublicShare = brc.LabelDP, share }))
	}
	return out
}

// hide makes the label private, and with all every column too. The table has
// been read, so the defaults for unreadable cells are never used.
func hide(s *schema.Schema, all bool) *schema.Schema {
	out := *s
	out.Label.Role, out.Label.Default = schema.Private, 0
	out.Columns = slices.Clone(s.Columns)
	for j := range out.Columns {
		if c := &out.Columns[j]; all && c.Role == schema.Public {
			c.Role, c.Default = schema.Private, &c.Lower
		}
	}
	return &out
}

func accuracy(t *testing.T, all *dataset.Table, name string,
	plan func(*schema.Schema, dp.Epsilon, int) (learn.Plan, error), eps dp.Epsilon, repeat uint64) float64 {
	src := replay.Seeded(repeat, "sweep "+name)
	train, test := sample.HoldOut(sample.Balance(all, src), 0.1, src)
	tab, err := memory.New(all.Subset(train))
	if err != nil {
		t.Fatal(err)
	}
	pl, err := plan(all.Schema, eps, tab.Rows())
	if err != nil {
		t.Fatal(err)
	}
	m, err := guard.Train(context.Background(), pl, tab, guard.Uncounted{}, mech.NewExit(replay.Seeded(repeat, "fit")))
	if err != nil {
		t.Fatal(err)
	}
	held := all.Subset(test)
	bound, err := m.Bind(held.Schema)
	if err != nil {
		t.Fatal(err)
	}
	scores, err := bound.Scores(held.Cols, held.Rows)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, l := range m.Labels(scores) {
		if l == held.Labels[i] {
			right++
		}
	}
	return float64(right) / float64(held.Rows)
}
