// SPDX-License-Identifier: Apache-2.0

package shen

import "github.com/discreet-dp/discreet/lab/internal/experiment/frame"

func newFig2c() *frame.Figure {
	return panel{
		name: "fig2c", data: "sepsis", table: "Sepsis",
		schema: "sepsis.yaml", files: []string{"sepsis/s41598-020-73558-3_sepsis_survival_primary_cohort.csv.gz"},
		rows:       "the primary cohort (110,204 admissions), balanced to 16,210",
		nonPrivate: 0.6983, publicOnly: 0.5416,
		stated: []stated{{80_000_000, 0.69}},
		above:  10_000_000,
		says: "BRC has higher accuracy than private logistic regression and the public features for all ε, and reaches " +
			"69 % at ε = 0.08, the accuracy without privacy",
	}.newFigure()
}
