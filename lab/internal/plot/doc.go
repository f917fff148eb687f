// SPDX-License-Identifier: Apache-2.0

// Package plot draws our figures: a few lines against a public parameter, with their spread and
// reference levels, as SVG, as PNG and in a terminal.
//
// All figures have the same design. The title describes the content. The name of a line is at its end,
// in its colour, instead of in a box. The foot of a figure explains its error bars; a figure with
// unexplained error bars is refused. Text is readable at the width of a phone (about 360 points).
// Equal charts have equal bytes.
//
// # Colours
//
// There are six colours with a contrast of at least 3 to 1 against white. They can be distinguished
// with full colour vision and without any one of the three cones (TestColoursCanBeToldApart). The
// first two are Okabe and Ito's ("Color Universal Design", 2008); the others were chosen by a search
// for the largest distances. Each also has its own marker, so that figures are readable without
// colours.
//
//	blue #0072B2   vermilion #D55E00   moss #274509
//	rose #B8849E   plum #68254D        olive #70834F
//
// References are grey, each with its own dashes.
//
// Axes, marks, text and both file formats are drawn on the canvases of gonum.org/v1/plot.
package plot
