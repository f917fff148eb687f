// SPDX-License-Identifier: Apache-2.0

// Package chaudhuri measures the figures of the slides "Privacy-Preserving
// Classification" by Chaudhuri, Monteleoni and Sarwate (published in JMLR 12,
// 2011): objective against output perturbation. One file per figure.
package chaudhuri

import "github.com/discreet-dp/discreet/lab/internal/experiment/frame"

const slides = "Chaudhuri, Monteleoni, Sarwate: Privacy-Preserving Classification, slides, ITA; published in " +
	"Differentially Private Empirical Risk Minimization, JMLR 12 (2011)"

// Figures are the slides' figures, in their order.
func Figures() []*frame.Figure { return []*frame.Figure{newAdult(), newKDD99()} }
