// SPDX-License-Identifier: Apache-2.0

package sites

import (
	"context"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/extend"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/question"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Responder answers measurements behind a site's guard.
type Responder struct {
	Guard  *guard.Guard
	Honest int
	Values int // largest number of values in one measurement

	// kept is the answer to the last question. It is reused because a learner measures its parts one
	// after another.
	kept  string
	cells any
}

// Contribute returns the site's part of a measurement, with its share of the noise. It must be masked
// before it is sent.
func (r *Responder) Contribute(ctx context.Context, a *Ask) ([]mech.Whole, error) {
	in := extend.Open(r.Guard)
	defer in.Until(ctx)()
	s, err := r.sum(a)
	if err != nil {
		return nil, err
	}
	return in.Contribute(a.Label, a.Share(), s, r.Honest)
}

// sum returns the sum to be measured.
func (r *Responder) sum(a *Ask) (*guard.Sum, error) {
	if len(a.Forms) == 0 || len(a.Forms) > maxForms || len(a.Questions) == 0 || len(a.Questions) > len(a.Forms) {
		return nil, fmt.Errorf("sites: a measurement must have 1 to %d forms, and no more questions", maxForms)
	}
	var sums []*guard.Sum
	numbers := 0
	for i := range a.Forms {
		s, err := r.form(a, &a.Forms[i])
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

// form makes the sum of one form. Its refusals depend on the message alone.
func (r *Responder) form(a *Ask, f *AskedForm) (*guard.Sum, error) {
	if f.Question < 0 || f.Question >= len(a.Questions) {
		return nil, fmt.Errorf("sites: a form must name one of the questions")
	}
	q, err := question.Decode(r.Guard.Schema(), a.Questions[f.Question])
	if err != nil {
		return nil, err
	}
	if q.Against != engine.WholeLabel || q.Kind != question.Sum {
		return nil, fmt.Errorf("sites: a question must be a sum over the whole label")
	}
	switch of := q.Statistic.(type) {
	case statistic.Cells:
		if f.View != guard.CellsPart || f.Part < 0 || f.Part >= len(of.Bins) || !r.fits(of.Bins) {
			return nil, errForm
		}
		c, err := keep(r, a.Questions[f.Question], func() (*guard.Cells, error) {
			return r.Guard.Cells(of.Under, of.Bins, guard.Caps(of.Caps))
		})
		if err != nil {
			return nil, err
		}
		return c.Part(f.Part), nil
	case statistic.ClassCells:
		if !r.fits(of.Bins) {
			return nil, errForm
		}
		return r.classForm(a, f, of.Bins)
	case statistic.ClassSlope:
		if f.View == guard.SlopeView {
			return r.Guard.ClassSlope(of.Under, of.Along, of.From, of.Most)
		}
	}
	return nil, errForm
}

var errForm = errors.New("sites: a form must be one of its question's, of a size that the policy allows")

// fits reports whether there are no more bins than a measurement may have values.
func (r *Responder) fits(bins []feature.Bins) bool {
	n := 0
	for k := range bins {
		n += bins[k].Len()
	}
	return n <= r.Values
}

// classForm is form for counts by class.
func (r *Responder) classForm(a *Ask, f *AskedForm, bins []feature.Bins) (*guard.Sum, error) {
	ok, part := false, f.Part >= 0 && f.Part < len(bins)
	switch f.View {
	case guard.ClassPart, guard.RowsPart:
		ok = part
	case guard.AllOfClass:
		ok = true
	case guard.OneClass:
		ok = f.Part >= 0 && f.Part < r.Guard.Schema().Classes()
	case guard.ClassesOnce:
		if ok = part && len(f.Runs) == bins[f.Part].Len()+1; ok {
			runs := f.Runs[len(f.Runs)-1]
			ok = runs > 0 && runs <= maxRuns
			for _, at := range f.Runs[:len(f.Runs)-1] {
				ok = ok && at >= 0 && at < runs
			}
		}
	}
	if !ok {
		return nil, errForm
	}
	c, err := keep(r, a.Questions[f.Question], func() (*guard.ClassCells, error) { return r.Guard.ClassCells(bins) })
	if err != nil {
		return nil, err
	}
	switch f.View {
	case guard.ClassPart:
		return c.Part(f.Part), nil
	case guard.RowsPart:
		return c.Rows(f.Part), nil
	case guard.AllOfClass:
		return c.Classes(), nil
	case guard.OneClass:
		return c.Class(f.Part), nil
	}
	return c.AllClasses(f.Part, f.Runs[len(f.Runs)-1], f.Runs), nil
}

// keep returns the stored answer to a question, or asks it.
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
