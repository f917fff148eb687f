// SPDX-License-Identifier: Apache-2.0

package brc

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model/metrics"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// unbalanced is a table of six numbers, of which one is public, beside a public label that is positive
// in about 7 % of the rows.
func unbalanced(t *testing.T, rows int, seed uint64) *dataset.Table {
	text := "name: t\nunit: one row\nrelation: replace-one\n" +
		"file: {delimiter: \",\", quote: '\"', header: true}\ncolumns:\n"
	roles := []string{"private", "private", "private", "private", "private", "public"}
	for k, role := range roles {
		text += fmt.Sprintf("  - {name: c%d, role: %s, number: {lower: -3, upper: 3, default: 0}}\n", k, role)
	}
	s, err := schema.Parse([]byte(text + "  - {name: y, role: public, label: {levels: [n, p], positive: p, default: n}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	const values = 121 // of a number, .05 apart
	tab := &dataset.Table{Schema: s, Rows: rows, Labels: make([]uint8, rows), Cols: make([]column.Column, len(roles))}
	codes := make([][]uint32, len(roles))
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range rows {
		z := -3.6
		for k := range roles {
			x := min(3, max(-3, r.NormFloat64()))
			codes[k] = append(codes[k], uint32(math.Round((x+3)*20)))
			z += 0.8 * x
		}
		if r.Float64() < 1/(1+math.Exp(-z)) {
			tab.Labels[i] = 1
		}
	}
	for k := range codes {
		tab.Cols[k].Codes = column.Narrow(codes[k], values)
		for v := range values {
			tab.Cols[k].Values = append(tab.Cols[k].Values, float64(v)/20-3)
		}
	}
	return tab
}

// The paper's own choices answer the frequent class alone. Balanced weights alone make probabilities of equally
// frequent classes. Seeds are fixed.
func TestUnbalancedClassesByDefault(t *testing.T) {
	const fits = 3
	test := unbalanced(t, 4000, 100)
	measure := func(p Params) (balanced, loss float64) {
		p.Epsilon = dp.Nano / 10
		for seed := range uint64(fits) {
			train := unbalanced(t, 30_000, seed)
			pl, err := p.Plan(train.Schema, train.Rows)
			if err != nil {
				t.Fatal(err)
			}
			m := learntest.Fit(t, pl, train, nil, seed)
			scores, err := m.Scores(test.Cols, test.Rows)
			if err != nil {
				t.Fatal(err)
			}
			r, err := metrics.Evaluate(test.Labels, scores, []string{"n", "p"}, 1, m.Threshold())
			if err != nil {
				t.Fatal(err)
			}
			balanced += r.BalancedAccuracy / fits
			loss += r.LogLoss / fits
		}
		return balanced, loss
	}
	balanced, loss := measure(Defaults())
	printed, _ := measure(Printed())
	rate := 0.0
	for _, y := range test.Labels {
		rate += float64(y) / float64(test.Rows)
	}
	constant := -rate*math.Log(rate) - (1-rate)*math.Log(1-rate)
	t.Logf("balanced accuracy %.3f, as printed %.3f; log loss %.3f, of the base rate %.3f", balanced, printed, loss, constant)
	if balanced < 0.7 || printed > 0.55 || loss > constant-0.02 {
		t.Errorf("balanced accuracy %.3f, as printed %.3f; log loss %.3f, of the base rate %.3f", balanced, printed, loss, constant)
	}
}

// Automatic weights and output are those that cost nothing: the bill is that of the paper's choices.
func TestDefaultsFollowTheLabelsRole(t *testing.T) {
	hide := func(s *schema.Schema) { s.Label.Role, s.Label.Default = schema.Private, 0 }
	for name, c := range map[string]struct {
		change  func(*Params, *schema.Schema)
		weights ClassWeights
		output  Output
	}{
		"public label":      {func(*Params, *schema.Schema) {}, Balanced, Linear},
		"private label":     {func(_ *Params, s *schema.Schema) { hide(s) }, Declared, Votes},
		"label for a share": {func(p *Params, s *schema.Schema) { hide(s); p.PrivateLabel = LabelDP }, Declared, Votes},
		"add-remove":        {func(_ *Params, s *schema.Schema) { s.Relation = dp.AddRemove }, Declared, Votes},
		"declared weights":  {func(_ *Params, s *schema.Schema) { s.Label.Weights = []float64{1, 3} }, Declared, Linear},
		"shapes":            {func(p *Params, _ *schema.Schema) { p.Subroutine = Shape }, Balanced, Votes},
		"paper sensitivity": {func(p *Params, _ *schema.Schema) { p.Sensitivity = Paper }, Declared, Votes},
		"no public column": {func(_ *Params, s *schema.Schema) {
			s.Columns[5].Role = schema.Private
		}, Balanced, Linear},
	} {
		t.Run(name, func(t *testing.T) {
			tab := unbalanced(t, 300, 1)
			s := *tab.Schema
			tab.Schema = &s
			p := Defaults()
			p.Epsilon, p.Rounds = dp.Nano, 3
			c.change(&p, &s)
			byDefault, err := p.Plan(&s, tab.Rows)
			if err != nil {
				t.Fatal(err)
			}
			p.ClassWeights, p.Output = c.weights, c.output
			asked, err := p.Plan(&s, tab.Rows)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(learntest.Bytes(t, learntest.Fit(t, byDefault, tab, nil, 1)),
				learntest.Bytes(t, learntest.Fit(t, asked, tab, nil, 1))) {
				t.Errorf("not the model of weights %s and output %s", c.weights, c.output)
			}
			p.ClassWeights, p.Output = Declared, Votes
			printed, err := p.Plan(&s, tab.Rows)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(byDefault.Terms(), printed.Terms()) {
				t.Errorf("terms %+v, as printed %+v", byDefault.Terms(), printed.Terms())
			}
		})
	}
}
