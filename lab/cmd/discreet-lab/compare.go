// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
	"github.com/discreet-dp/discreet/lab/internal/compare"
)

// compareFlags holds the flags of the command.
type compareFlags struct {
	*app
	data       []string
	schema     string
	learners   []string
	epsilons   []string
	repeats    int
	heldOut    float64
	splitSeed  uint64
	out        string
	json       bool
	notPrivate bool
	exceed     bool
}

func (a *app) newCompareCommand() *cobra.Command {
	l := &compareFlags{app: a}
	c := &cobra.Command{
		Use:   "compare",
		Short: "draw accuracy and AUC of learners against ε (not private)",
		Long: `Compare repeatedly splits a table into rows for training and rows for testing.
It trains each learner at each ε, and draws accuracy and AUC against ε. Learners
without privacy appear as horizontal lines.

The output is exact and so NOT PRIVATE. No ε covers a choice that is based on
it: if you choose a learner or an ε from this output, you have used the table
without limit. Use compare on public or synthetic tables (discreet demo --save
invents one), or after the decision. The command requires --not-private.

Learners are named as in train, with their options after colons. The seed
determines which splits are drawn. It has no effect on the noise, which is fresh
in every training.`,
		Example: `  discreet-lab compare --data census.csv --schema census.yaml --learners brc,erm,logistic \
    --epsilons 0.1,0.5,1 --not-private
  discreet-lab compare --data a.csv --schema s.yaml \
    --learners brc,brc:encoding=ordinal:rounds=50,logistic:columns=public \
    --epsilons 0.1,1 --repeats 50 --out figures --not-private`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return l.runCompare(c.Context()) },
	}
	c.Flags().StringArrayVar(&l.data, "data", nil,
		commands.TableWords+"; - is standard input; may be repeated")
	c.Flags().StringVar(&l.schema, "schema", "", "the schema `file` of the table")
	c.Flags().StringSliceVar(&l.learners, "learners", nil,
		"`names` of what to compare, each with its options: NAME[:OPTION=VALUE]...")
	c.Flags().StringSliceVar(&l.epsilons, "epsilons", nil, "the `numbers` ε that private learners are trained at")
	c.Flags().IntVar(&l.repeats, "repeats", 10, "number of random splits")
	c.Flags().Float64Var(&l.heldOut, "held-out", 0.25, "the `share` of the rows for testing")
	c.Flags().Uint64Var(&l.splitSeed, "split-seed", 1, "seed of the random splits; no effect on the noise")
	c.Flags().StringVar(&l.out, "out", "", "also write charts (SVG and PNG) and numbers to this `folder`")
	c.Flags().BoolVar(&l.json, "json", false, "print one JSON object")
	c.Flags().BoolVar(&l.notPrivate, "not-private", false, "accept output that is not private")
	c.Flags().BoolVar(&l.exceed, "exceed-max-epsilon", false, "compare although the schema declares a max_epsilon")
	cli.Reads(c, "data", "schema")
	cli.WritesInto(c, "out", comparisonFiles...)
	cli.Require(c, "data", "schema", "learners", "epsilons")
	commands.CompleteFlag(c, "learners", train.LearnerNames()...)
	return c
}

func (l *compareFlags) runCompare(ctx context.Context) error {
	o, err := l.readOptions()
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	s, err := schema.Load(l.schema)
	if err != nil {
		return err
	}
	if err := o.Check(s); err != nil {
		if _, ok := errors.AsType[*dp.ParamError](err); ok {
			return &cli.UsageError{Err: err}
		}
		return err
	}
	if excess := (train.Price{NotPrivate: true}).Excess(s); excess != "" && !l.exceed {
		return &cli.BudgetError{Err: fmt.Errorf("compare: %s; only --exceed-max-epsilon goes beyond it", excess)}
	}
	t, err := l.ReadTable(ctx, s, l.data)
	if err != nil {
		return err
	}
	report, done := l.ShowRuns("comparing")
	o.Progress = report
	r, err := compare.Run(ctx, t, *o)
	done()
	if err != nil {
		return err
	}
	if l.out != "" {
		if err := l.saveResult(r); err != nil {
			return err
		}
	}
	if l.json {
		return cli.WriteJSON(l.Stdout, r.Numbers())
	}
	return r.WriteText(l.Stdout, l.columns(), l.glyphs())
}

// readOptions checks the flags by themselves, before any file is opened.
func (l *compareFlags) readOptions() (*compare.Options, error) {
	if !l.notPrivate {
		return nil, &dp.ParamError{Op: "compare", Param: "not-private", Want: "is required: held-out scores are exact " +
			"and reveal the rows, and no epsilon covers a choice that is based on them",
			Hint: "give --not-private for public or synthetic tables, or after the decision; discreet demo --save invents a " +
				"table"}
	}
	o := &compare.Options{Repeats: l.repeats, HeldOut: l.heldOut, Seed: l.splitSeed}
	seen := map[string]bool{}
	for _, spec := range l.learners {
		if seen[spec] {
			return nil, &dp.ParamError{Op: "compare", Param: "learners", Want: "must differ", Got: strconv.Quote(spec)}
		}
		seen[spec] = true
		entry, err := parseContestant(spec)
		if err != nil {
			return nil, err
		}
		o.Learners = append(o.Learners, entry)
	}
	for _, text := range l.epsilons {
		if strings.EqualFold(text, "inf") {
			return nil, &dp.ParamError{Op: "compare", Param: "epsilons", Want: "must be finite", Got: text,
				Hint: "learners without privacy, such as logistic, are the horizontal lines"}
		}
		eps, err := dp.ParseEpsilon(text)
		if err != nil {
			return nil, err
		}
		o.Epsilons = append(o.Epsilons, eps)
	}
	slices.Sort(o.Epsilons)
	return o, nil
}

// comparisonFiles are the files that saveResult writes.
var comparisonFiles = []string{"accuracy.svg", "accuracy.png", "auc.svg", "auc.png", "comparison.json"}

// saveResult writes charts and numbers to the folder.
func (l *compareFlags) saveResult(r *compare.Result) error {
	if err := os.MkdirAll(l.out, 0o777); err != nil {
		return err
	}
	write := func(name string, f func(io.Writer) error) error {
		path := filepath.Join(l.out, name)
		if err := l.WriteFile(path, f); err != nil {
			return err
		}
		l.Say("wrote %s", path)
		return nil
	}
	for _, m := range []compare.Metric{compare.Accuracy, compare.AUC} {
		if !r.Has(m) {
			continue
		}
		name := strings.ToLower(string(m))
		if err := errors.Join(write(name+".svg", r.Chart(m).WriteSVG), write(name+".png", r.Chart(m).WritePNG)); err != nil {
			return err
		}
	}
	return write("comparison.json", func(w io.Writer) error { return cli.WriteJSON(w, r.Numbers()) })
}

// parseContestant parses NAME[:OPTION=VALUE]..., a learner with its options that takes part in a comparison.
func parseContestant(spec string) (compare.Learner, error) {
	parts := strings.Split(spec, ":")
	all := train.Learners()
	i := slices.IndexFunc(all, func(l *train.Learner) bool { return l.Name == parts[0] })
	if i < 0 {
		return compare.Learner{}, dp.Refuse("compare", "learners", "must be among "+strings.Join(train.LearnerNames(), ", "), parts[0])
	}
	l, name := all[i], parts[0]
	for _, part := range parts[1:] {
		key, text, _ := strings.Cut(part, "=")
		o := l.Option(key)
		if o == nil {
			var names []string
			for _, o := range l.Options {
				names = append(names, o.Name)
			}
			return compare.Learner{}, dp.Refuse(l.Name, "option", "must be one of "+strings.Join(names, ", "), strconv.Quote(key))
		}
		if err := o.Value.Set(text); err != nil {
			return compare.Learner{}, dp.Refuse(l.Name, o.Name, err.Error(), strconv.Quote(text))
		}
		name += ", " + key + " " + text
	}
	return compare.Learner{
		Name: name, Private: l.Private,
		Plan: func(eps dp.Epsilon, s *schema.Schema, rows int) (learn.Plan, error) {
			return l.Plan(train.Price{Epsilon: eps, NotPrivate: !l.Private}, s, rows)
		},
	}, nil
}
