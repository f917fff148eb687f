// SPDX-License-Identifier: Apache-2.0

// Package train is what it takes to train a model: the table of learners and
// their options, the price of a request, and the order in which a training is
// checked, charged, fitted, kept and published. The library and the command line
// are two ways to ask for it.
package train
