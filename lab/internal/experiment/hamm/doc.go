// SPDX-License-Identifier: Apache-2.0

// Package hamm measures what "Learning privately from multiparty data" by Hamm,
// Cao and Belkin (ICML 2016) claims, on the paper's three tasks. The text that
// we have is a reader's notes without numbers (evidence/papers.md), so tables,
// parties, sizes and axes are ours, and what is judged is order and trend.
package hamm

import (
	"slices"

	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

const paper = "Hamm, Cao, Belkin: Learning privately from multiparty data, ICML 2016"

// Figures are the paper's three tasks against ε and against the number of
// parties, people as parties, the rate of Theorem 4 in parties and in auxiliary
// rows, ensembles of mixed types, and what parties hand in.
func Figures() []*frame.Figure {
	var figures []*frame.Figure
	for _, t := range []*task{newActivity(), newIntrusion(), newURLs()} {
		figures = append(figures, t.againstEpsilon(), t.againstParties(), t.newRate())
	}
	return slices.Concat(figures, []*frame.Figure{newPeople(), auxiliaryRows(), newMixed(), newBallots(),
		maliciousURLs().againstEpsilon(), newHAR().againstEpsilon()})
}
