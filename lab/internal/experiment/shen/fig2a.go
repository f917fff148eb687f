// SPDX-License-Identifier: Apache-2.0

package shen

import "github.com/discreet-dp/discreet/lab/internal/experiment/frame"

func newFig2a() *frame.Figure {
	return panel{
		name: "fig2a", data: "adult", table: "Adult",
		schema: "adult.yaml", files: []string{"adult/adult.data.gz", "adult/adult.test.gz"},
		rows: "adult.data and adult.test together (48,842 rows, the paper's \"around 50000\"), balanced to 23,374: " +
			"21,037 to train, 2,337 to test",
		nonPrivate: 0.7575, publicOnly: 0.6159,
		stated: []stated{{160_000_000, 0.73}},
		above:  20_000_000,
		says: "BRC exceeds logistic regression on the public features from ε = 0.02 on and reaches roughly 73 % at ε = " +
			"0.16, close to the 75.75 % without privacy",
	}.newFigure()
}
