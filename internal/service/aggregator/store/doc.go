// SPDX-License-Identifier: Apache-2.0

// Package store is what an aggregator must not forget, whatever happens to its
// process: tasks, rounds, reports, what was decided about secret sums, and models.
//
// What was acknowledged is on disk. An owner's report for a task is stored at
// most once: its key and the hash of its bytes stay when the bytes are dropped. A
// round is sealed before it is read and is advanced once, so the reports that
// made a broadcast are exactly those that were stored when it was sealed. What
// follows from them is computed outside; after a crash it is computed again, from
// the same reports, and must come out the same.
//
// One SQLite file, or a PostgreSQL database that several aggregators share.
package store
