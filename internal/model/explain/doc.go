// SPDX-License-Identifier: Apache-2.0

// Package explain shows what a model learnt, from the model alone. No row is read, so an explanation
// costs no budget and reveals nothing beyond the model.
//
// An additive model is its own explanation: one step function per column, drawn with the uncertainty
// that the model states. A logistic model is a table of coefficients. A vote of random thresholds is
// refused, because its parts have no meaning individually.
//
// The page is one HTML file without scripts that loads nothing. It is readable on a phone, on paper,
// and in light and dark colours. Equal models give equal bytes. Its drawings are step functions in the
// page's own colours, which package plot (lines between measured points, on white) does not draw.
package explain
