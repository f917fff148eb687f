// SPDX-License-Identifier: Apache-2.0

// Package ledger durably records what is spent on a data set and refuses what would overspend it. A
// ledger is one file (SQLite) or a PostgreSQL database; both store the same entries and pass the same
// tests.
//
// Claims G-LEDGER-1, G-LEDGER-2, G-LEDGER-3, G-LEDGER-4, G-LEDGER-5, G-LEDGER-6, G-LEDGER-7 and G-LEDGER-8 are argued in
// evidence/guarantees/ledger.md; tags such as 1.2 mark the lines that the argument depends on.
//
// A job takes these steps:
//
// \treserved ─ began ─ committed ─ published
// \t │ └──── closed (spent, no result)
// \t └─ refunded (nothing was read)
//
// If the data set has an owner, an analyst's key signs the first step, which may be preceded by
// requested and by approved or refused.
//
// Every step is one transaction that adds one entry, is on disk before the next step starts, and
// contains the hash of the entry before it. The spending of a data set is the sum of its began entries
// or, among disjoint parts or cohorts, the largest of their sums. It is stored nowhere else: every
// question and every step reads all entries, checks them and adds up what it has checked (see books).
//
// To change here: a state of a job or a kind of entry is in entry.go and books.go (which steps may come before it), with
// a new format number in sql.go and its claim in evidence/guarantees/ledger.md. Both stores keep the same entries. What
// shows entries follows: release/card, release/dossier, explorer/serve.
//
// Judged by: go test ./internal/ledger (DISCREET_LONG=1 adds kills, failing system calls and PostgreSQL), ./cmd/discreet.
package ledger
