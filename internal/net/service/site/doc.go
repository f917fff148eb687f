// SPDX-License-Identifier: Apache-2.0

// Package site implements the service of an institution, which answers what its signed policy allows: measurements
// of a training over the rows of several sites, evaluations, and votes (votes.go, and package party). It also
// implements the coordinator, which runs the learner.
//
// A site may be killed at any moment. It stores each masked answer before it sends it, and answers the
// same measurement with the same bytes as long as its rows are unchanged.
//
// Claims G-SITES-1 and 2; evidence/guarantees/sites.md.
package site
