// SPDX-License-Identifier: Apache-2.0

package shen

import "github.com/discreet-dp/discreet/lab/internal/experiment/frame"

func newFig3c() *frame.Figure {
	return panel{
		name: "fig3c", data: "sepsis", table: "Sepsis",
		schema: "sepsis.yaml", files: []string{"sepsis/s41598-020-73558-3_sepsis_survival_primary_cohort.csv.gz"},
		rows:       "the primary cohort (110,204 admissions), balanced to 16,210",
		everything: true,
		says: "With every feature and the label private, BRC performs consistently better than private logistic " +
			"regression",
	}.newFigure()
}
