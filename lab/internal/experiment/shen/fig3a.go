// SPDX-License-Identifier: Apache-2.0

package shen

import "github.com/discreet-dp/discreet/lab/internal/experiment/frame"

func newFig3a() *frame.Figure {
	return panel{
		name: "fig3a", data: "adult", table: "Adult",
		schema: "adult.yaml", files: []string{"adult/adult.data.gz", "adult/adult.test.gz"},
		rows:       "adult.data and adult.test together (48,842 rows), balanced to 23,374",
		everything: true,
		says: "With every feature and the label private, BRC performs consistently better than private logistic " +
			"regression",
	}.newFigure()
}
