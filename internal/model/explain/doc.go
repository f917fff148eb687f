// SPDX-License-Identifier: Apache-2.0

// Package explain says what a model learnt, from the model alone: no row is
// read, so an explanation costs no budget and tells nothing the model does not.
//
// An additive model is its own explanation: one step function per column, drawn
// with the uncertainty that the model states of itself. A logistic model is a
// table of coefficients. A vote of random thresholds has no parts that mean
// anything one by one, and is refused.
//
// The page is a single HTML file without scripts that asks no one for anything.
// It reads on a phone, on paper, in light and in dark. Equal models give equal
// bytes. Its drawings are step functions in the page's own colours, which
// package plot (lines between measured points, on white) does not draw.
package explain
