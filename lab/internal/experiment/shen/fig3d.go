// SPDX-License-Identifier: Apache-2.0

package shen

import "github.com/discreet-dp/discreet/lab/internal/experiment/frame"

func newFig3d() *frame.Figure {
	return panel{
		name: "fig3d", data: "bank", table: "Bank",
		schema: "bank.yaml", files: []string{"bank/bank-full.csv.gz"},
		rows:       "bank-full.csv (45,211 rows, duration in as in the paper although it is a leak), balanced to 10,578",
		everything: true,
		says: "With every feature and the label private, BRC performs consistently better than private logistic " +
			"regression",
	}.newFigure()
}
