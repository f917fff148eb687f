// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

func newFig5() *frame.Figure {
	return crowd{
		source: ofCensus, number: "5", repeats: 10, counts: []int{100, 300, 1_000, 3_000, 10_000, 30_000, 100_000},
		record: standInNote,
		says: "From 10,000 owners on PM and Duchi's mechanism lose about as much; before, the error of the mean falls " +
			"much and accuracy rises little",
		how: "67 dimensions; each owner has 120 invented people and sends one report at ε = 5.",
		open: func(ctx context.Context, w *frame.World) (func(frame.Repeat, int) classifiers, error) {
			whole, err := localPeople(ctx, w, standInOwners)
			return func(_ frame.Repeat, owners int) classifiers {
				return newClassifiers(whole.fits.firstFits(owners), whole.test)
			}, err
		},
		judge: func(c crowd, s *frame.Summary) []frame.Check {
			return []frame.Check{c.checkMeeting(s, 10_000), c.checkDrops(s)}
		},
		page: standInSays,
	}.newFigure()
}

// checkMeeting checks that both mechanisms are as accurate from so many owners on.
func (c crowd) checkMeeting(s *frame.Summary, from int) frame.Check {
	check := frame.Check{What: c.long + ": accuracy of PM less that of Duchi",
		Paper: "similar over 10,000 owners (read as: within a point, both above their accuracy with the fewest owners " +
			"with 95 % confidence)"}
	var l listed
	for _, owners := range c.counts {
		if owners < from {
			continue
		}
		d := s.Difference(c.nameAt(pm, owners), c.nameAt(duchi, owners), ownersEpsilon, accuracy)
		check.Parts = append(check.Parts, frame.Within(d, -0.01, 0.01))
		for _, m := range []mechanism{pm, duchi} {
			learned := s.Difference(c.nameAt(m, owners), c.nameAt(m, c.counts[0]), ownersEpsilon, accuracy)
			check.Parts = append(check.Parts, frame.Above(learned, 0))
		}
		l.addLine("%+.1f points with %d", 100*d.Mean, owners)
	}
	check.Ours = l.String()
	return check
}

// checkDrops checks the paper's summary of both figures: from the fewest owners to
// the most the error of PM's mean falls a lot more than accuracy rises.
func (c crowd) checkDrops(s *frame.Summary) frame.Check {
	few, many := c.nameAt(pm, c.counts[0]), c.nameAt(pm, c.counts[len(c.counts)-1])
	error1, error2 := s.Mean(few, ownersEpsilon, mse).Mean, s.Mean(many, ownersEpsilon, mse).Mean
	a1, a2 := s.Mean(few, ownersEpsilon, accuracy).Mean, s.Mean(many, ownersEpsilon, accuracy).Mean
	return frame.Check{
		What: c.long + ": PM, fewest to most owners",
		Paper: "mean squared error drops substantially, accuracy improves a little (read as: at least ten times less " +
			"error; 0 to 10 points)",
		Ours: fmt.Sprintf("error %.2g to %.2g, accuracy %.1f to %.1f %%", error1, error2, 100*a1, 100*a2),
		Parts: []frame.Part{frame.Within(s.Difference(many, few, ownersEpsilon, accuracy), 0, 0.1),
			frame.Below(s.Statistic(func(s *frame.Summary) float64 {
				return s.Mean(many, ownersEpsilon, mse).Mean - s.Mean(few, ownersEpsilon, mse).Mean/10
			}), 0)},
	}
}
