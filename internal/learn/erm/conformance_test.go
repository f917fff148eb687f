// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// settings are the corners of the parameter space, each at ε = 1.
func settings() map[string]Params {
	with := func(change func(*Params)) Params {
		p := Defaults()
		p.Epsilon = dp.Nano
		change(&p)
		return p
	}
	return map[string]Params{
		"auto":             with(func(p *Params) {}),
		"objective":        with(func(p *Params) { p.Method = Objective }),
		"objective, gamma": with(func(p *Params) { p.Method, p.Noise = Objective, Gamma }),
		"objective, cms11": with(func(p *Params) { p.Method, p.Mode, p.Encoding = Objective, CMS11, feature.Ordinal }),
		"objective, huber": with(func(p *Params) { p.Method, p.Loss, p.Norm = Objective, Huber, 0.7 }),
		"output":           with(func(p *Params) { p.Method = Output }),
		"output, gamma":    with(func(p *Params) { p.Method, p.Noise = Output, Gamma }),
		"output, cms11":    with(func(p *Params) { p.Method, p.Mode, p.Reg = Output, CMS11, 0.01 }),
		"output, laplace":  with(func(p *Params) { p.Method, p.Noise, p.Loss = Output, Laplace, Huber }),
		"output, chosen":   with(func(p *Params) { p.Method, p.Epsilon = Output, 2*dp.Nano }),
		"not private":      with(func(p *Params) { p.Epsilon, p.NotPrivate = 0, true }),
	}
}

func planner(p Params, s *schema.Schema, rows int) func() (learn.Plan, error) {
	return func() (learn.Plan, error) { return p.Plan(s, rows) }
}

func TestConformance(t *testing.T) {
	for name, p := range settings() {
		t.Run(name, func(t *testing.T) {
			learntest.Run(t, learntest.Case{Plan: planner(p, census.Schema(), 400), Table: censustest.Table(1, 400)})
		})
	}
}

func TestPlanRefuses(t *testing.T) {
	three, counted := *census.Schema(), *census.Schema()
	three.Label.Levels = make([]schema.Level, 3)
	counted.Relation = dp.AddRemove
	for _, c := range []struct {
		name   string
		s      *schema.Schema
		change func(*Params)
		param  string
	}{
		{"five nano for three levels, two for each", &three, func(p *Params) { p.Epsilon = 5 }, "epsilon"},
		{"add-remove", &counted, func(*Params) {}, "relation"},
		{"no epsilon", census.Schema(), func(p *Params) { p.Epsilon = 0 }, "epsilon"},
		{"one nano, which cannot be split", census.Schema(), func(p *Params) { p.Epsilon = 1 }, "epsilon"},
		{"epsilon without privacy", census.Schema(), func(p *Params) { p.NotPrivate = true }, "epsilon"},
		{"unknown loss", census.Schema(), func(p *Params) { p.Loss = "hinge" }, "loss"},
		{"width not a number", census.Schema(), func(p *Params) { p.Loss, p.Width = Huber, math.NaN() }, "width"},
		{"unknown method", census.Schema(), func(p *Params) { p.Method = "" }, "method"},
		{"unknown mode", census.Schema(), func(p *Params) { p.Mode = "cm08" }, "mode"},
		{"unknown noise", census.Schema(), func(p *Params) { p.Noise = "" }, "noise"},
		{"laplace in the objective", census.Schema(), func(p *Params) { p.Noise = Laplace }, "noise"},
		{"tiny reg", census.Schema(), func(p *Params) { p.Reg = 1e-9 }, "reg"},
		{"negative reg", census.Schema(), func(p *Params) { p.Reg = -1 }, "reg"},
		{"reg not a number", census.Schema(), func(p *Params) { p.Reg = math.NaN() }, "reg"},
		{"norm not a number", census.Schema(), func(p *Params) { p.Norm = math.NaN() }, "norm"},
		{"norm above the scaled rows", census.Schema(), func(p *Params) { p.Norm = 1.01 }, "norm"},
		{"unknown threshold", census.Schema(), func(p *Params) { p.Threshold = "" }, "threshold"},
		{"unknown encoding", census.Schema(), func(p *Params) { p.Encoding = "" }, "encoding"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := settings()["objective"]
			c.change(&p)
			_, err := p.Plan(c.s, 0)
			var refused *dp.ParamError
			if !errors.As(err, &refused) || refused.Param != c.param {
				t.Errorf("Plan: %v, want a refusal of %s", err, c.param)
			}
		})
	}
}
