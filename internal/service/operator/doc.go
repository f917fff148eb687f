// SPDX-License-Identifier: Apache-2.0

// Package operator asks an aggregator for what its operators and readers may have:
// to take up a signed task, how far tasks are, what was signed, and a task's model.
//
// It believes nothing that a signature can show: an announcement must be signed by an
// operator, and a list of owners must be the one that the announcement names.
package operator
