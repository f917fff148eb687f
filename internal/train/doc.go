// SPDX-License-Identifier: Apache-2.0

// Package train trains models on request. It contains the table of learners and their options and the
// pricing of a request, and fixes the order in which a training is checked, charged, fitted, stored
// and published. The library and the command line both use it.
package train
