// SPDX-License-Identifier: Apache-2.0

package shen

import "github.com/discreet-dp/discreet/lab/internal/experiment/frame"

func newFig2b() *frame.Figure {
	return panel{
		name: "fig2b", data: "credit", table: "Credit",
		schema: "credit.yaml", files: []string{"credit/UCI_Credit_Card.csv.gz"},
		rows:       "UCI_Credit_Card.csv (30,000 rows), balanced to 13,272",
		nonPrivate: 0.8298, publicOnly: 0.5678,
		above: 20_000_000,
		says: "BRC performs better than private logistic regression for all ε and supersedes the public features from " +
			"ε = 0.02 on",
	}.newFigure()
}
