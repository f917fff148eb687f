// SPDX-License-Identifier: Apache-2.0

// Package demo shows the cost of privacy on a table. It compares the default learner and BRC at one ε
// with a model without the private columns and a model without privacy.
package demo

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/explain"
	"github.com/discreet-dp/discreet/internal/model/metrics"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// Epsilon is the price of each private model in the demo.
const Epsilon = "1"

// Result holds the quality of the models on held-out rows.
type Result struct {
	Rows   int // training rows
	Model  *model.Model
	trials []trial
}

// WriteHTML writes a page that explains the default learner's model.
func (r *Result) WriteHTML(w io.Writer) error {
	x, err := explain.Of(r.Model)
	if err != nil {
		return err
	}
	return x.WriteHTML(w)
}

// trial is one model.
type trial struct {
	name, meaning string
	choice        train.Choice
	auc           float64
}

// Run trains the models on one table and evaluates them on another. progress receives the number of
// finished models.
func Run(ctx context.Context, learn, judge *dataset.Table, progress func(done, total int)) (*Result, error) {
	private := train.PriceText{Epsilon: Epsilon}
	r := &Result{Rows: learn.Rows, trials: []trial{
		{name: "public columns only", meaning: "private columns not used",
			choice: train.Choice{Learner: "logistic", Options: map[string]string{"columns": "public"}}},
		{name: "brc", meaning: "epsilon = " + Epsilon, choice: train.Choice{Learner: "brc", Price: private}},
		{name: " (the default)", meaning: "epsilon = " + Epsilon,
			choice: train.Choice{Learner: train.DefaultLearner, Price: private}},
		{name: ", no noise", meaning: "NO PRIVACY",
			choice: train.Choice{Learner: train.DefaultLearner, Price: train.PriceText{Epsilon: "inf", NotPrivate: true}}},
	}}
	for i := range r.trials {
		t := &r.trials[i]
		m, err := t.trainAndJudge(ctx, learn, judge)
		if err != nil {
			return nil, err
		}
		if t.choice.Learner == train.DefaultLearner {
			t.name = m.Learner + t.name // what the default came to
			if !t.choice.Price.NotPrivate {
				r.Model = m
			}
		}
		progress(i+1, len(r.trials))
	}
	return r, nil
}

func (t *trial) trainAndJudge(ctx context.Context, learn, judge *dataset.Table) (*model.Model, error) {
	req, err := t.choice.Request("demo")
	if err != nil {
		return nil, err
	}
	training := train.Training{
		Op: "demo", Request: req, Schema: learn.Schema,
		Read: func(context.Context) (*dataset.Table, error) { return learn, nil },
	}
	m, err := training.Run(ctx)
	if err != nil {
		return nil, err
	}
	bound, err := m.Bind(judge.Schema)
	if err != nil {
		return nil, err
	}
	scores, err := bound.Scores(judge.Cols, judge.Rows)
	if err != nil {
		return nil, err
	}
	classes := schema.Values(judge.Schema.Label.Levels)
	found, err := metrics.Evaluate(judge.Labels, scores, classes, judge.Schema.Label.Positive, m.Threshold())
	if err != nil {
		return nil, err
	}
	if found.AUC == nil {
		return nil, fmt.Errorf("demo: the test half has one label only")
	}
	t.auc = *found.AUC
	return m, nil
}

// WriteText writes the results in plain words.
func (r *Result) WriteText(out io.Writer) error {
	var b strings.Builder
	b.WriteString("How well does a model tell the two labels apart? AUC on people it was not\n" +
		"trained on: 0.5 is guessing, 1 is perfect.\n\n")
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	for _, t := range r.trials {
		plaintext.Fprintf(w, "  %.3f\t%s\t%s\n", t.auc, t.name, t.meaning)
	}
	w.Flush()
	plaintext.Fprintf(&b, `
epsilon = %s means: the private columns of one person change the probability of
any model by at most a factor of e = %s. A reader who was 50 %% sure of something
about them is at most %s sure after seeing the model.
`, Epsilon, r.Model.Privacy.Factor(), r.Model.Privacy.Guess())
	_, err := io.WriteString(out, b.String())
	return err
}
