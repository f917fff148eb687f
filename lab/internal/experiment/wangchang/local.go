// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"context"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/experiment/wangchang/continuous"
)

// classifiers are the local logistic regressions of one source's owners.
type classifiers struct {
	fits   fits
	mean   []float64 // of unperturbed parameters
	square float64   // mean of their squares
	test   labelled
}

// measureOwners perturbs every owner's parameters and averages them.
func (c classifiers) measureOwners(r frame.Repeat, p frame.Point, m mechanism, whole bool) frame.Measurement {
	parameters := c.mean
	var bill dp.Epsilon
	values := []frame.Value{}
	if p.Epsilon > 0 {
		make := func(d int) continuous.Mechanism { return m.make(d, p.Epsilon.Float()) }
		parameters = c.fits.meanOfOwners(make, whole, r.Stream(p.Series+", ε = "+p.Epsilon.String()))
		d := c.fits.d
		bill = p.Epsilon * dp.Epsilon(c.fits.classes)
		if whole {
			d, bill = c.fits.width, p.Epsilon
		}
		values = append(values,
			frame.Value{Metric: mse, Value: squaredError(parameters, c.mean)},
			frame.Value{Metric: mseClosedForm, Value: closedForm(make(d), c.square, c.fits.Len())})
	}
	values = append(values, frame.Value{Metric: accuracy, Value: accuracyOf(classifyRows(c.test, parameters), c.test.y)})
	return frame.Measurement{Values: values, Bill: bill}
}

func newClassifiers(f fits, test labelled) classifiers {
	return classifiers{f, f.meanOfOwners(nil, false, nil), f.meanSquare(), test}
}

// localImages are a set of images whose owners are drawn again in each repeat.
type localImages struct{ train, test labelled }

func openImages(ctx context.Context, w *frame.World, s images, words int) (localImages, error) {
	train, test, err := s.openImages(ctx, w, words)
	return localImages{train, test}, err
}

func (l localImages) firstOwners(r frame.Repeat, owners int) classifiers {
	order := shuffledRows(l.train.Len(), r.Stream("owners"))
	return newClassifiers(fitOwners(l.train, order, owners, onesOf(l.train.Len())), l.test)
}

// localPeople are the owners of the stand-in, the same in every repeat.
func localPeople(ctx context.Context, w *frame.World, owners int) (classifiers, error) {
	if err := w.CannotPermute(inventedPeople); err != nil {
		return classifiers{}, err
	}
	m, err := standInFits(ctx, w, owners)
	if err != nil {
		return classifiers{}, err
	}
	_, test := standIn(0)
	test.Rows = unsignedRows(test)
	return newClassifiers(fits{m, 1, m.width}, test), nil
}

// unsignedRows are people's vectors as the local classifiers see them: binary
// dimensions in {0, 1}.
func unsignedRows(l labelled) continuous.Rows { return l.Rows.(signed).People }

// budgetPoints are a mechanism's points at each ε.
func budgetPoints(series, parameters string, budgets []dp.Epsilon) (out []frame.Point) {
	for _, eps := range budgets {
		out = append(out, frame.Point{Series: series, Epsilon: eps, Parameters: parameters})
	}
	return out
}

// noteOf is what a record says of its data.
func noteOf(s source, words int) string {
	if s == ofCensus {
		return standInNote
	}
	return dictionaryNote(words)
}
