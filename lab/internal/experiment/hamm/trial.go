// SPDX-License-Identifier: Apache-2.0

package hamm

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

const accuracy = "accuracy"

// The lines of the figures.
const (
	soft            = "soft"
	softShades      = "soft, votes as probabilities"
	softPrinted     = "soft, printed"
	majority        = "majority"
	majorityPrinted = "majority, printed"
	average         = "average"
	release         = "released one by one"
	softExact       = "soft, no noise"
	individual      = "one party alone"
	pooled          = "all rows pooled"
	ensemble        = "vote of all parties, no noise"
)

// combiners are the private lines that the product's combiner draws.
var combiners = map[string]func(*multiparty.Params){
	soft:       func(*multiparty.Params) {},
	softShades: func(*multiparty.Params) {},
	softPrinted: func(p *multiparty.Params) {
		p.Form, p.Mode, p.Reg = multiparty.Output, multiparty.Printed, printedRidge
	},
	majority: func(p *multiparty.Params) { p.Method = multiparty.Majority },
	majorityPrinted: func(p *multiparty.Params) {
		p.Method, p.Form, p.Mode, p.Reg = multiparty.Majority, multiparty.Output, multiparty.Printed, printedRidge
	},
	softExact: func(p *multiparty.Params) { p.NotPrivate = true },
}

// printedRidge is λ of the printed form. Our notes of the paper bear none. The
// product's rule, up to 8 here, left nothing but a constant answer at every ε, which
// says nothing about the form (changed on 2026-11-22).
const printedRidge = 0.003

// nameAt names a line at a number of parties.
func nameAt(line string, parties int) string { return fmt.Sprintf("%s@%d", line, parties) }

// trial is one repeat: parties with their votes.
type trial struct {
	*task
	repeat    frame.Repeat
	test, aux *dataset.Table
	tables    []*dataset.Table
	models    []*model.Model
	votes     [][]uint8 // about aux
	tested    [][]uint8 // about test
	margins   bool      // votes that are shares are margins, else probabilities

	lock    sync.Mutex
	handIns map[handIns]*combination
}

// handIns tell apart what was handed in.
type handIns struct {
	kind          multiparty.Kind
	parties, rows int
}

// beginTrial deals the rows and lets every party train and vote.
func (t *task) beginTrial(ctx context.Context, all *dataset.Table, r frame.Repeat,
	fit func(party int) fitter) (*trial, error) {
	tr := &trial{task: t, repeat: r}
	tr.test, tr.aux, tr.tables = t.dealRows(all, r.Stream("deal"))
	return tr, tr.collectVotes(ctx, fit)
}

func (tr *trial) collectVotes(ctx context.Context, fit func(party int) fitter) error {
	for k, tab := range tr.tables {
		m, err := fit(k)(ctx, tab)
		if err != nil {
			return err
		}
		votes, _, err := predictLabels(m, tr.aux)
		if err != nil {
			return err
		}
		tested, _, err := predictLabels(m, tr.test)
		if err != nil {
			return err
		}
		tr.models, tr.votes, tr.tested = append(tr.models, m), append(tr.votes, votes), append(tr.tested, tested)
	}
	return nil
}

// combination is a plan with what was handed in.
type combination struct {
	plan  *multiparty.Plan
	aux   *multiparty.Auxiliary
	tally *multiparty.Tally
}

// handIn hands in what the first parties have to say about the first rows:
// labels, or coefficients for Average.
func (tr *trial) handIn(p multiparty.Params, parties, rows int) (*combination, error) {
	kind := multiparty.Labels
	if p.Method == multiparty.Average {
		kind = multiparty.Coefficients
	}
	return tr.combineVotes(p, kind, parties, rows)
}

// combineVotes takes what was handed in once for all plans.
func (tr *trial) combineVotes(p multiparty.Params, kind multiparty.Kind, parties, rows int) (*combination, error) {
	p.Parties, p.Encoding = parties, tr.encoding
	tr.lock.Lock()
	defer tr.lock.Unlock()
	key := handIns{kind, parties, rows}
	had := tr.handIns[key]
	if had == nil {
		var err error
		if had, err = tr.collectBallots(p, kind, parties, rows); err != nil {
			return nil, err
		}
		if tr.handIns == nil {
			tr.handIns = map[handIns]*combination{}
		}
		tr.handIns[key] = had
	}
	pl, err := p.Plan(tr.aux.Schema, rows)
	if err != nil {
		return nil, err
	}
	tally, err := had.tally.For(pl)
	return &combination{pl, had.aux, tally}, err
}

func (tr *trial) collectBallots(p multiparty.Params, kind multiparty.Kind, parties, rows int) (*combination, error) {
	c := &combination{aux: &multiparty.Auxiliary{Cols: tr.aux.Cols, Rows: rows,
		Digest: sha256.Sum256([]byte(tr.aux.Schema.Name))}}
	if rows < tr.aux.Rows {
		first := make([]int, rows)
		for i := range first {
			first[i] = i
		}
		c.aux.Cols = tr.aux.Subset(first).Cols
	}
	s := tr.aux.Schema
	var err error
	if c.plan, err = p.Plan(s, rows); err != nil {
		return nil, err
	}
	if c.tally, err = c.plan.NewTally(rows, c.aux.Digest); err != nil {
		return nil, err
	}
	h := multiparty.Header{Kind: kind, Levels: multiparty.Levels(s), Rows: rows, Aux: c.aux.Digest}
	for k := range parties {
		body := func(w *multiparty.Writer) error { return w.Labels(tr.votes[k][:rows]) }
		switch kind {
		case multiparty.Coefficients:
			coef, layout, err := multiparty.CoefficientsOf(tr.models[k], s, p.Encoding)
			if err != nil {
				return nil, err
			}
			h.Encoder, h.Layout = string(p.Encoding), layout
			body = func(w *multiparty.Writer) error { return w.Coefficients(coef) }
		case multiparty.Probabilities:
			of := shadesOf
			if tr.margins {
				of = marginsOf
			}
			shades, err := of(tr.models[k], tr.aux)
			if err != nil {
				return nil, err
			}
			body = func(w *multiparty.Writer) error { return w.Probabilities(shades[:rows*s.Classes()]) }
		}
		f, err := handIn(k, h, body)
		if err != nil {
			return nil, err
		}
		if _, err := c.tally.Add(strings.NewReader(string(f))); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *combination) combineModel(ctx context.Context, exit *mech.Exit) (*model.Model, error) {
	return c.plan.Combine(ctx, c.aux, c.tally, guard.Uncounted{}, exit)
}

// measureLine is the accuracy of one line on the test rows.
func (tr *trial) measureLine(ctx context.Context, p frame.Point) (frame.Measurement, error) {
	line, parties := p.Series, len(tr.tables)
	if name, m, ok := strings.Cut(p.Series, "@"); ok {
		line = name
		parties, _ = strconv.Atoi(m)
	}
	labels, bill, err := tr.predictLine(ctx, line, parties, p.Epsilon)
	if err != nil {
		return frame.Measurement{}, err
	}
	value := 0.0
	if labels != nil {
		value = accuracyOf(labels, tr.test)
	} else { // the mean of the parties alone
		for _, l := range tr.tested[:parties] {
			value += accuracyOf(l, tr.test) / float64(parties)
		}
	}
	return frame.Measurement{Values: []frame.Value{{Metric: accuracy, Value: value}}, Bill: bill}, nil
}

// predictLine are a line's answers about the test rows; nil for individual.
func (tr *trial) predictLine(ctx context.Context, line string, parties int,
	eps dp.Epsilon) ([]uint8, dp.Epsilon, error) {
	// Streams name ε and not the line, so that lines see noise of one direction.
	exit := mech.NewExit(tr.repeat.Stream(fmt.Sprintf("%d parties, ε = %s", parties, eps)))
	switch line {
	case individual:
		return nil, 0, nil
	case ensemble:
		return tr.electClass(tr.tested[:parties]), 0, nil
	case pooled:
		m, err := fitRidge(tr.encoding)(ctx, concatTables(tr.tables[:parties]))
		if err != nil {
			return nil, 0, err
		}
		labels, _, err := predictLabels(m, tr.test)
		return labels, 0, err
	case release:
		var released [][]uint8
		rows, err := widenTable(tr.test, tr.encoding)
		if err != nil {
			return nil, 0, err
		}
		for _, m := range tr.models[:parties] {
			released = append(released, rows.predictLabels(tr.perturbMean([]*model.Model{m}, eps, exit)))
		}
		return tr.electClass(released), eps, nil
	}
	params := multiparty.Defaults()
	params.Epsilon = eps
	if line == average && tr.test.Schema.Classes() > 2 {
		labels, _, err := predictLabels(tr.perturbMean(tr.models[:parties], eps, exit), tr.test)
		return labels, eps, err
	}
	if line == average {
		params.Method = multiparty.Average
	} else {
		combiners[line](&params)
	}
	if params.NotPrivate {
		params.Epsilon = 0
	}
	kind := multiparty.Labels
	switch line {
	case average:
		kind = multiparty.Coefficients
	case softShades:
		kind = multiparty.Probabilities
	}
	c, err := tr.combineVotes(params, kind, parties, tr.aux.Rows)
	if err != nil {
		return nil, 0, err
	}
	m, err := c.combineModel(ctx, exit)
	if err != nil {
		return nil, 0, err
	}
	labels, _, err := predictLabels(m, tr.test)
	return labels, m.Privacy.Epsilon, err
}

// electClass is the class with most votes, of equal ones the first.
func (tr *trial) electClass(votes [][]uint8) []uint8 {
	out := make([]uint8, tr.test.Rows)
	count := make([]int, tr.test.Schema.Classes())
	for i := range out {
		clear(count)
		for _, v := range votes {
			count[v[i]]++
		}
		for k, n := range count {
			if n > count[out[i]] {
				out[i] = uint8(k)
			}
		}
	}
	return out
}

// perturbMean is the mean of the parties' coefficients, each class's clipped to the
// product's bound, with noise for a whole party: Average for any number of
// classes, and what a party alone would have to release.
func (tr *trial) perturbMean(models []*model.Model, eps dp.Epsilon, exit *mech.Exit) *model.Model {
	cols := len(tr.test.Schema.Features())
	scale := math.Sqrt(float64(cols + 1))
	bound := multiparty.Defaults().Bound
	var sum []float64
	classes := 1
	for _, m := range models {
		vectors := [][]float64{}
		for _, part := range logisticParts(m) {
			vectors = append(vectors, append(append([]float64{}, part.Coef...), part.Bias))
		}
		classes = len(vectors)
		if sum == nil {
			sum = make([]float64, classes*len(vectors[0]))
		}
		for k, v := range vectors {
			length := 0.0
			for _, x := range v {
				length += x * x * scale * scale
			}
			shrink := min(1, bound/math.Sqrt(length)*(1-0x1p-30))
			for f, x := range v {
				sum[k*len(v)+f] += x * scale * shrink / float64(len(models))
			}
		}
	}
	values := make([]mech.Ratio, len(sum))
	for i, x := range sum {
		values[i] = mech.RatioOf(x)
	}
	l2 := 2 * bound * math.Sqrt(float64(classes)) / float64(len(models))
	w := exit.Release("coefficients", mech.Sized(mech.GammaFor(eps, l2*(1+0x1p-30), len(values))), values...)
	out := *models[0]
	d := len(w) / classes
	for i := range w {
		w[i] /= scale
	}
	var parts []*model.Logistic
	for k := range classes {
		part := w[k*d:][:d]
		parts = append(parts, &model.Logistic{Coef: part[:d-1], Bias: part[d-1]})
	}
	out.Classifier = model.OneVersusRestOf(parts)
	return &out
}

// concatTables puts tables of one schema and one dictionary one behind the other.
func concatTables(tables []*dataset.Table) *dataset.Table {
	out := &dataset.Table{Schema: tables[0].Schema, Cols: make([]column.Column, len(tables[0].Cols))}
	builders := make([]column.Builder, len(out.Cols))
	for _, t := range tables {
		codes := make([]uint32, t.Rows)
		for j := range t.Cols {
			if t.Cols[j].Codes.Len() == 0 {
				continue
			}
			t.Cols[j].Codes.Read(0, codes)
			builders[j].Append(codes)
		}
		out.Rows += t.Rows
		out.Labels = append(out.Labels, t.Labels...)
	}
	for j := range out.Cols {
		out.Cols[j] = column.Column{Codes: builders[j].Codes(), Values: tables[0].Cols[j].Values}
	}
	return out
}
