// SPDX-License-Identifier: Apache-2.0

package sites

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine/question"
)

// Responder answers measurements behind a site's guard.
type Responder struct {
	Guard  *guard.Guard
	Honest int
	Values int // the most numbers of one measurement

	// kept is what the last question is answered with: a learner measures its parts one after another.
	kept  string
	cells any
}

// Contribute is the site's part of a measurement, with its share of the noise. It must be masked
// before it leaves.
func (r *Responder) Contribute(ctx context.Context, a *Ask) ([]mech.Whole, error) {
	s, err := r.sum(ctx, a)
	if err != nil {
		return nil, err
	}
	return r.Guard.Contribute(a.Label, a.Share(), s, r.Honest)
}

// sum is what is measured.
func (r *Responder) sum(ctx context.Context, a *Ask) (*guard.Sum, error) {
	if len(a.Forms) == 0 || len(a.Forms) > maxForms || len(a.Questions) == 0 || len(a.Questions) > len(a.Forms) {
		return nil, fmt.Errorf("sites: a measurement must have 1 to %d forms, and no more questions", maxForms)
	}
	var sums []*guard.Sum
	numbers := 0
	for i := range a.Forms {
		s, err := r.form(ctx, a, &a.Forms[i])
		if err != nil {
			return nil, err
		}
		if numbers += s.Len(); numbers > r.Values {
			return nil, fmt.Errorf("sites: a measurement must have at most %d numbers", r.Values)
		}
		sums = append(sums, s)
	}
	if len(sums) == 1 {
		return sums[0], nil
	}
	return r.Guard.Join(sums...)
}

const (
	maxForms = 1 << 10
	maxRuns  = 1 << 10
)

// form makes the sum of one form. What is refused here follows from the message alone.
func (r *Responder) form(ctx context.Context, a *Ask, f *AskedForm) (*guard.Sum, error) {
	if f.Question < 0 || f.Question >= len(a.Questions) {
		return nil, fmt.Errorf("sites: a form must name one of the questions")
	}
	q, err := question.Decode(r.Guard.Schema(), a.Questions[f.Question])
	if err != nil {
		return nil, err
	}
	if q.Against != question.WholeLabel {
		return nil, fmt.Errorf("sites: a question must be about the whole label")
	}
	bins := 0
	for k := range q.Bins {
		bins += q.Bins[k].Len()
	}
	if bins > r.Values {
		return nil, fmt.Errorf("sites: a question must be about at most %d bins", r.Values)
	}
	part := f.Part >= 0 && f.Part < len(q.Bins)
	switch {
	case f.View == guard.CellsPart && q.Kind == question.Cells && part:
		c, err := keep(r, a.Questions[f.Question], func() (*guard.Cells, error) {
			return r.Guard.Cells(ctx, q.Score, q.Bins, guard.Caps(q.Caps))
		})
		if err != nil {
			return nil, err
		}
		return c.Part(f.Part), nil
	case f.View == guard.SlopeView && q.Kind == question.ClassSlope:
		return r.Guard.ClassSlope(ctx, q.Classes, q.Shape, q.Most)
	case f.View == guard.HalvesView && q.Kind == question.ClassResiduals:
		c, err := r.Guard.ClassResiduals(ctx, q.Classes, &q.Bins[0])
		if err != nil {
			return nil, err
		}
		return c.Halves(), nil
	case q.Kind == question.ClassCells:
		return r.classForm(ctx, a, f, q, part)
	}
	return nil, fmt.Errorf("sites: a form must be one of its question's")
}

func (r *Responder) classForm(ctx context.Context, a *Ask, f *AskedForm, q *question.Question, part bool) (*guard.Sum, error) {
	ok := false
	switch f.View {
	case guard.ClassPart:
		ok = part
	case guard.AllOfClass:
		ok = true
	case guard.OneClass:
		ok = f.Part >= 0 && f.Part < r.Guard.Schema().Classes()
	case guard.ClassesOnce:
		ok = part && len(f.Runs) == q.Bins[f.Part].Len()+1
		if ok {
			runs := f.Runs[len(f.Runs)-1]
			ok = runs > 0 && runs <= maxRuns
			for _, at := range f.Runs[:len(f.Runs)-1] {
				ok = ok && at >= 0 && at < runs
			}
		}
	}
	if !ok {
		return nil, fmt.Errorf("sites: a form must be one of its question's")
	}
	c, err := keep(r, a.Questions[f.Question], func() (*guard.ClassCells, error) { return r.Guard.ClassCells(ctx, q.Bins) })
	if err != nil {
		return nil, err
	}
	switch f.View {
	case guard.ClassPart:
		return c.Part(f.Part), nil
	case guard.AllOfClass:
		return c.Classes(), nil
	case guard.OneClass:
		return c.Class(f.Part), nil
	}
	return c.AllClasses(f.Part, f.Runs[len(f.Runs)-1], func(b int) int { return f.Runs[b] }), nil
}

// keep returns what the question was answered with before, or asks.
func keep[T any](r *Responder, text []byte, ask func() (T, error)) (T, error) {
	if old, ok := r.cells.(T); ok && r.kept == string(text) {
		return old, nil
	}
	c, err := ask()
	if err == nil {
		r.kept, r.cells = string(text), c
	}
	return c, err
}
