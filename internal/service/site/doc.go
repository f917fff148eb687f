// SPDX-License-Identifier: Apache-2.0

// Package site is one training over the rows of several sites, on the network: the service of a site,
// which answers measurements within its signed policy, and the coordinator, which runs the learner.
//
// A site may be killed at any moment. It writes each masked answer to its state before it sends it, and
// gives the same measurement the same bytes again while its rows are the same.
//
// Claims G-SITES-1 and 2; evidence/guarantees/sites.md.
package site
