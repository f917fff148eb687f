// SPDX-License-Identifier: Apache-2.0

// Package wangchang measures the figures of Wang and Chang, "Privacy-Preserving
// Boosting in the Local Setting": boosting on numbers that their owners have
// perturbed. One file per figure; what several share is in
//
//	data.go, images.go, standin.go, synthetic.go, ipums.go  who owns what
//	design.go, logistic.go, owners.go, local.go             local classifiers and their mean
//	centroid.go, stump.go                                   the other base classifiers
//	boost.go                                                Algorithm 2
//	shipped.go, reports.go                                  what discreet does instead
//	panel.go, crowd.go, hits.go, stumps.go                  what figures have in common
//
// The paper's figures use its mechanisms with real numbers (room continuous) and
// its visual words (room features), which are learned from unperturbed images.
package wangchang

import (
	"os"

	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

const paper = "Wang and Chang: Privacy-Preserving Boosting in the Local Setting, arXiv 2002.02096"

// Figures are the paper's figures, in their order, its table, and what mode local
// costs; with a user's extract of the Brazilian census, what the paper says of
// it.
func Figures() []*frame.Figure {
	out := []*frame.Figure{newFig2(), newFig3(), newFig4(), newFig5(), newFig6(), newFig7(), newFig8(), newFig9(),
		newFig10(), newFig11(), newTable2(), newHonesty()}
	if path := os.Getenv(extractVariable); path != "" {
		out = append(out, newBrazil(path))
	}
	return out
}
