// SPDX-License-Identifier: Apache-2.0

// Package ledger counts, durably, what is spent on a data set and refuses what
// would overspend it. A ledger is one file (SQLite) or a PostgreSQL database;
// both keep the same entries and pass the same tests.
//
// Claims G-LEDGER-1, G-LEDGER-2, G-LEDGER-3, G-LEDGER-4, G-LEDGER-5 and G-LEDGER-6 are argued in
// evidence/guarantees/ledger.md; tags such as 1.2 mark the lines the argument leans on.
//
// A job goes one way:
//
//	reserved ─ began ─ committed ─ published
//	    │        └──── closed (spent, no result)
//	    └─ refunded (nothing was read)
//
// Where the data set has an owner, an analyst's key signs the first step, and
// requested and approved, or refused, may come before it.
//
// Every step is one transaction that adds one entry, is on disk before the next
// step starts, and names the hash of the entry before it. What a data set has
// spent is the sum of its began entries, among disjoint parts or cohorts the largest, and
// is stored nowhere else.
package ledger
