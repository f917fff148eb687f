// SPDX-License-Identifier: Apache-2.0

package shen

import "github.com/discreet-dp/discreet/lab/internal/experiment/frame"

func newFig2d() *frame.Figure {
	return panel{
		name: "fig2d", data: "bank", table: "Bank",
		schema: "bank.yaml", files: []string{"bank/bank-full.csv.gz"},
		rows:       "bank-full.csv (45,211 rows, duration in as in the paper although it is a leak), balanced to 10,578",
		nonPrivate: 0.9688, publicOnly: 0.6711,
		above: 20_000_000,
		says: "BRC performs better than private logistic regression for all ε and supersedes the public features from " +
			"ε = 0.02 on",
	}.newFigure()
}
