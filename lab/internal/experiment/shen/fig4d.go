// SPDX-License-Identifier: Apache-2.0

package shen

import (
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// smallTest parts off 23 of 226 rows.
const smallTest = 23.5 / 226

func newFig4d() *frame.Figure {
	return panel{
		name: "fig4d", data: "adult-500", table: "500 rows of Adult",
		schema: "adult.yaml", files: []string{"adult/adult.data.gz"},
		rows: "the first 500 of adult.data, balanced to 226, 23 of them to test (a tenth, rounded up as " +
			"scikit-learn does), " +
			"three hundred repeats because 23 rows say little",
		first: 500, test: smallTest, repeats: 300,
		epsilons:   []dp.Epsilon{dp.Nano / 2, dp.Nano, 2 * dp.Nano, 4 * dp.Nano, 8 * dp.Nano},
		nonPrivate: 0.8261, publicOnly: 0.6087,
		stated: []stated{{8 * dp.Nano, 0.79}},
		above:  dp.Nano / 2,
		says: "On 500 rows BRC consistently exceeds private logistic regression, exceeds the public features, and " +
			"reaches roughly 79 % at ε = 8, almost the 82.61 % without privacy",
		finding: "The printed 82.61 % and 60.87 % are 19/23 and 14/23: those of one split with 23 test rows; means of ten " +
			"would be 230ths, and both are multiples of ten of them. One split of 23 rows has a standard error of 9 points, " +
			"so nothing could differ from it: the mean of all our repeats is held to the printed values as everywhere else. " +
			"The paper says \"exceeds the public features for ε ≥ 0.02\", which is below its grid of 0.5 to 8; it is checked " +
			"on the grid.",
	}.newFigure()
}
