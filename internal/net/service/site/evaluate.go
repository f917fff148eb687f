// SPDX-License-Identifier: Apache-2.0

package site

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/metrics"
	"github.com/discreet-dp/discreet/internal/net/federated/sites"
	"github.com/discreet-dp/discreet/internal/net/service/admission"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train/evaluation"
)

// HeldOut are a site's rows for evaluations.
type HeldOut struct {
	Table *dataset.Table
	Rows  sites.Digest // digest of the files from which Table was read
}

// paramsOf returns the parameters of an evaluation.
func paramsOf(t *sites.Training) (p evaluation.Params, err error) {
	p = evaluation.Params{Epsilon: t.Epsilon, Delta: t.Evaluation.Delta, Threshold: t.Evaluation.Threshold, By: t.Evaluation.By}
	for _, text := range t.Evaluation.Models {
		m, err := model.Unmarshal(text)
		if err != nil {
			return p, err
		}
		p.Models = append(p.Models, m)
	}
	return p, nil
}

// checkEvaluation refuses anything but an evaluation of rows with this site's schema.
func (s *Server) checkEvaluation(t *sites.Training) error {
	if t.Evaluation == nil {
		return nil
	}
	p, err := paramsOf(t)
	if err == nil {
		_, err = p.Plan(s.Table.Schema(), 0)
	}
	if err != nil {
		return problem.New(problem.Malformed, "an evaluation: %v", err)
	}
	return nil
}

// rowsOf returns the digest of the rows that a training measures.
func (s *Server) rowsOf(t *training) sites.Digest {
	switch {
	case t.about.Evaluation == nil:
		return s.Rows
	case s.HeldOut == nil:
		return ""
	}
	return s.HeldOut.Rows
}

// tableOf is the table that a training measures. That of an evaluation has the cells of each held-out
// row, which follow from that row and the models alone.
func (s *Server) tableOf(about *sites.Training) (engine.Table, error) {
	if about.Evaluation == nil {
		return s.Table, nil
	}
	p, err := paramsOf(about)
	if err != nil {
		return nil, err
	}
	pl, err := p.Plan(s.HeldOut.Table.Schema, 0)
	if err != nil {
		return nil, err
	}
	cut, err := pl.Cut(s.HeldOut.Table)
	if err != nil {
		return nil, err
	}
	return memory.New(cut)
}

// exactly requests numbers without noise.
type exactly struct {
	Model     []byte  `json:"model"`
	Threshold float64 `json:"threshold"`
}

// evaluateExactly answers without privacy, if the officer allows it.
func (s *Server) evaluateExactly(ctx context.Context, body []byte) ([]byte, error) {
	if !s.policy().ExactEvaluation || s.HeldOut == nil || !slices.Contains(s.policy().Coordinators, admission.Caller(ctx).Name) {
		return nil, problem.New(problem.NotAllowed, "an evaluation that is not private")
	}
	var ask exactly
	if err := sites.Decode(body, &ask); err != nil {
		return nil, problem.New(problem.Malformed, "an evaluation")
	}
	m, err := model.Unmarshal(ask.Model)
	if err != nil {
		return nil, problem.New(problem.Malformed, "an evaluation: %v", err)
	}
	t, l := s.HeldOut.Table, &s.HeldOut.Table.Schema.Label
	p, err := m.Bind(t.Schema)
	if err != nil {
		return nil, problem.New(problem.Malformed, "an evaluation: %v", err)
	}
	scores, err := p.Scores(t.Cols, t.Rows)
	if err != nil {
		return nil, err
	}
	classes := schema.Values(l.Levels)
	r, err := metrics.Evaluate(t.Labels, scores, classes, l.Positive, ask.Threshold)
	if err != nil {
		return nil, err
	}
	return json.Marshal(r)
}

// Evaluate measures models on the held-out rows of all sites, as Train trains, and passes the release
// to keep.
func (c *Coordinator) Evaluate(ctx context.Context, s *schema.Schema, p evaluation.Params,
	keep func(*evaluation.Release) error) error {
	pl, about, err := c.DescribeEvaluation(s, p)
	if err != nil {
		return err
	}
	cells, err := pl.Cut(noRows(s))
	if err != nil {
		return err
	}
	_, err = across(ctx, c, about, cells.Schema, pl, form[*evaluation.Release]{(*evaluation.Release).Marshal, evaluation.Unmarshal, keep})
	return err
}

// DescribeEvaluation plans an evaluation, and refuses one that no site can answer, before any site is
// asked.
func (c *Coordinator) DescribeEvaluation(s *schema.Schema, p evaluation.Params) (*evaluation.Plan, *sites.Training, error) {
	pl, err := p.Plan(s, 0)
	if err != nil {
		return nil, nil, err
	}
	e := &sites.Evaluation{Threshold: p.Threshold, Delta: p.Delta, By: p.By}
	for _, m := range p.Models {
		text, err := model.Marshal(m)
		if err != nil {
			return nil, nil, err
		}
		e.Models = append(e.Models, text)
	}
	about, err := c.describe(s, pl.Terms(), e)
	return pl, about, err
}

// noRows returns an empty table, which Cut converts to a table with the schema of the cells.
func noRows(s *schema.Schema) *dataset.Table {
	return &dataset.Table{Schema: s, Cols: make([]column.Column, len(s.Columns)), Labels: []uint8{}}
}

// EvaluateExactly asks each site for exact numbers about its own held-out rows, which are not private.
func (c *Coordinator) EvaluateExactly(ctx context.Context, m *model.Model, threshold float64) ([]*metrics.Report, error) {
	text, err := model.Marshal(m)
	if err != nil {
		return nil, err
	}
	ask, err := json.Marshal(exactly{text, threshold})
	if err != nil {
		return nil, err
	}
	c.connect()
	answers, err := c.callAll(ctx, evaluateCall, ask, nil)
	if err != nil {
		return nil, err
	}
	out := make([]*metrics.Report, len(answers))
	for i, a := range answers {
		out[i] = new(metrics.Report)
		if err := sites.Decode(a, out[i]); err != nil {
			return nil, fmt.Errorf("site %s: %w", c.Peers[i].Name, err)
		}
		if !fits(out[i], schema.Values(m.Schema.Label.Levels)) {
			return nil, fmt.Errorf("site %s: its report must be about the model's classes", c.Peers[i].Name)
		}
	}
	return out, nil
}

// fits reports whether a site's report has the shape of a report about the classes, and names no others: it is printed.
func fits(r *metrics.Report, classes []string) bool {
	for _, name := range append(slices.Clone(r.Unpredicted), r.Majority) {
		if !slices.Contains(classes, name) {
			return false
		}
	}
	return slices.Equal(r.Confusion.Labels, classes) && len(r.Confusion.Counts) == len(classes) &&
		!slices.ContainsFunc(r.Confusion.Counts, func(counts []int) bool { return len(counts) != len(classes) })
}
