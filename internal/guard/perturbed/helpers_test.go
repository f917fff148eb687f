// SPDX-License-Identifier: Apache-2.0

package perturbed

import (
	"context"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard/internal/inside"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine/solver"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func spaceOf(t *testing.T, s *schema.Schema, enc feature.Encoding) *feature.Space {
	t.Helper()
	sp, err := feature.NewSpace(s, enc, s.Features())
	if err != nil {
		t.Fatal(err)
	}
	return sp
}

// problem is one of the corners of the choices, at ε = 1.
func problem(t *testing.T, name string, s *schema.Schema) *Problem {
	t.Helper()
	p := &Problem{Space: spaceOf(t, s, feature.OneHot), Norm: 1, Reg: 0.1, Noise: Blocks, Epsilon: dp.Nano - dp.Nano/100,
		Rest: dp.Nano / 100}
	switch name {
	case "objective":
	case "objective, gamma":
		p.Noise = Gamma
	case "objective, printed":
		p.Printed, p.Space = true, spaceOf(t, s, feature.Ordinal)
	case "objective, huber":
		p.Loss.Huber, p.Norm = 0.5, 0.7
	case "output":
		p.Output, p.Rest = true, 0
	case "output, printed":
		p.Output, p.Rest, p.Printed, p.Reg = true, 0, true, 0.01
	default:
		t.Fatal(name)
	}
	return p
}

// rowsOf are the rows of a table, without the door of a guard.
func rowsOf(t *testing.T, tab *dataset.Table) *Rows {
	t.Helper()
	return &Rows{table: inside.Seal(learntest.Engine(t, tab)), weights: tab.Schema.Label.RowWeights(), private: true}
}

// draw is the linear term, zeros if there is none.
func draw(s *Sizes, seed uint64) []float64 {
	if s.term == nil {
		return make([]float64, s.dim)
	}
	zeros := make([]mech.Ratio, s.dim)
	for i := range zeros {
		zeros[i].Den = 1
	}
	return mech.NewExit(replay.Seeded(seed, "term")).Release(termLabel, s.term, zeros...)
}

// lineOf is a table of one number column in [-1, 1] and the label of a schema.
func lineOf(label *schema.Schema, xs []float64, labels []uint8) *dataset.Table {
	s := *label
	s.Columns = []schema.Column{{Name: "x", Role: schema.Private, Kind: schema.Number, Lower: -1, Upper: 1,
		Default: new(float64)}}
	codes := make([]uint32, len(xs))
	for i := range codes {
		codes[i] = uint32(i)
	}
	return &dataset.Table{Schema: &s, Rows: len(xs), Labels: labels,
		Cols: []column.Column{{Codes: column.Narrow(codes, len(xs)), Values: xs}}}
}

func gradient(t *testing.T, p *Problem, tab *dataset.Table, w []float64) []float64 {
	t.Helper()
	r := rowsOf(t, tab)
	s, err := solver.Losses{Space: p.Space, Loss: p.Loss, Rows: r.rowShape(p), Coef: w,
		Value: true, Hess: true}.Floats(context.Background(), r.table())
	if err != nil {
		t.Fatal(err)
	}
	return s.Grad
}

func apart(a, b []float64) float64 {
	d := make([]float64, len(a))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return vectorLength(d)
}

// share is how far it is from a to b in parts of what m declares, in its norm.
func share(m mech.Mechanism, a, b []float64) float64 {
	passage := func(v []float64) mechtest.Passage {
		p := mechtest.Passage{Norm: m.Norm()}
		if m, ok := m.(interface{ Blocks() []int }); ok {
			p.Blocks = m.Blocks()
		}
		for _, x := range v {
			p.Values = append(p.Values, mech.RatioOf(x))
		}
		return p
	}
	return passage(a).Moved(passage(b)) / m.Sensitivity()
}

// exactGradient is that of J, written from its definition.
func exactGradient(p *Problem, s *Sizes, tab *dataset.Table, b, w []float64) []float64 {
	sum, lost := make([]float64, len(w)), make([]float64, len(w)) // Kahan
	add := func(f int, v float64) {
		y := v - lost[f]
		s := sum[f] + y
		lost[f], sum[f] = (s-sum[f])-y, s
	}
	for i := range tab.Rows {
		x := learntest.Widen(p.Space, p.Norm, tab, i)
		z, sign := 0.0, -1.0
		if int(tab.Labels[i]) == tab.Schema.Label.Positive {
			sign = 1
		}
		for f := range x {
			z += x[f] * w[f]
		}
		_, slope, _ := p.Loss.At(sign * z)
		for f := range x {
			add(f, sign*slope*x[f])
		}
	}
	for f := range w {
		add(f, b[f])
		add(f, s.n*s.reg*w[f])
		sum[f] /= s.n
	}
	return sum
}
