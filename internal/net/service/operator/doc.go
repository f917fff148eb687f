// SPDX-License-Identifier: Apache-2.0

// Package operator is the aggregator's client for operators and readers: it creates and ends tasks,
// and fetches their status, announcements and models.
//
// It verifies everything that has a signature: an announcement must be signed by an operator, and a
// list of owners must be the one that the announcement names.
package operator
