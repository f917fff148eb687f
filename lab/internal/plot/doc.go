// SPDX-License-Identifier: Apache-2.0

// Package plot draws our figures: a few lines against a public parameter, with
// their spread and reference levels, as SVG, as PNG and in a terminal.
//
// Every figure looks alike. The title says what is seen; names stand at the end
// of their lines, in their colour, not in a box; the foot of a figure says what
// its error bars are, and a figure with unexplained error bars is refused. Text
// is sized to be read at the width of a phone (about 360 points). Equal charts
// have equal bytes.
//
// # Colours
//
// Six, told apart with full colour vision and without any one of the three
// cones (TestColoursCanBeToldApart), with a contrast of at least 3 to 1 against
// white. The first two are Okabe and Ito's ("Color Universal Design", 2008); the
// others were searched for to lie as far from them and each other as can be.
// Each also has its own marker, so that no figure needs its colours.
//
//	blue #0072B2   vermilion #D55E00   moss #274509
//	rose #B8849E   plum #68254D        olive #70834F
//
// References are grey, each with its own dashes.
//
// Axes, marks, text and both file formats are drawn on the canvases of
// gonum.org/v1/plot.
package plot
