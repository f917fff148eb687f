// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"context"

	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

func newFig4() *frame.Figure {
	return crowd{
		source: ofMNIST, number: "4", repeats: 3, counts: []int{200, 500, 1_000, 2_000, 5_000, 10_000},
		record: dictionaryNote(fewWords),
		says: "Whatever the number of owners, PM has less noise than Duchi's mechanism and its classifiers are " +
			"more accurate",
		how: "50 visual words; 60,000 images shared evenly among the owners, anew in each repeat, so that more owners " +
			"have fewer each; ten reports an owner, one a class, each at ε = 5.",
		open: func(ctx context.Context, w *frame.World) (func(frame.Repeat, int) classifiers, error) {
			set, err := openImages(ctx, w, mnist, fewWords)
			return set.firstOwners, err
		},
		judge: func(c crowd, s *frame.Summary) []frame.Check {
			return []frame.Check{c.lessNoise(s), c.moreAccurate(s), c.checkDrops(s)}
		},
		page: nothingPrivate + " " + tiesNote,
	}.newFigure()
}
