// SPDX-License-Identifier: Apache-2.0

// Package frontier measures how accurate a private classifier can be: the
// default learner against this project's other learners and against floors and
// published bars. One file per protocol.
//
//	partial.go       partly private, balanced, pure ε: floors
//	whole_row.go     everything private, nothing tuned, with and without a δ: S-BDT
//	peer_terms.go    the same on the terms of S-BDT: the best of an unpaid search
//	seven_tenths.go  everything private, (ε, 1/n), 70/30 splits: DP-EBM and DP-TR
//	pairs.go         everything private, pairs of columns declared or not
//	wide_bounds.go   everything private, bounds a thousand times too wide
//	private_label.go a private label beside public columns
//	persons.go       all rows of a person protected together
//	calibration.go   log loss, calibration error and AUC against ε on all tables
//	generated.go     the invented ones among those
//
// And what a change of the default learner is judged by: quick.go, the panel on real tables and those that
// sketches.go draws; compare.go, its worst cells; floor.go, whether any kind of table is worse than a constant.
package frontier

import "github.com/discreet-dp/discreet/lab/internal/experiment/frame"

// Figures are all of them, by protocol.
func Figures() []*frame.Figure {
	var out []*frame.Figure
	for _, p := range partials {
		out = append(out, p.newFigure())
	}
	out = append(out, wholeRow(), peerTerms())
	for _, t := range sevenTenths {
		out = append(out, t.newFigure())
	}
	for _, v := range wideBounds {
		out = append(out, v.newFigure())
	}
	for _, v := range declaredPairs {
		out = append(out, v.newFigure())
	}
	for _, v := range hiddenLabels {
		out = append(out, v.newFigure())
	}
	return append(out, newPersons(), newCalibration())
}
