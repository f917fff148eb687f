// SPDX-License-Identifier: Apache-2.0

// Package store durably stores an aggregator's state: tasks, rounds, reports, decisions about secret
// sums, and models.
//
// Everything acknowledged is on disk. An owner's report for a task is stored at most once: its key and
// the hash of its bytes remain after the bytes are deleted. A round is sealed before its reports are
// read, and is advanced once, so that exactly the reports stored when it was sealed make a broadcast.
// What follows from them is computed elsewhere; after a crash it is computed again from the same
// reports, with the same result.
//
// The store is one SQLite file, or a PostgreSQL database that several aggregators share.
package store
