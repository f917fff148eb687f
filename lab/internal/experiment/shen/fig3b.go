// SPDX-License-Identifier: Apache-2.0

package shen

import "github.com/discreet-dp/discreet/lab/internal/experiment/frame"

func newFig3b() *frame.Figure {
	return panel{
		name: "fig3b", data: "credit", table: "Credit",
		schema: "credit.yaml", files: []string{"credit/UCI_Credit_Card.csv.gz"},
		rows:       "UCI_Credit_Card.csv (30,000 rows), balanced to 13,272",
		everything: true,
		says: "With every feature and the label private, BRC performs consistently better than private logistic " +
			"regression",
	}.newFigure()
}
