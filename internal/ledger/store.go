// SPDX-License-Identifier: Apache-2.0

package ledger

import "context"

// store stores entries and results. Its two implementations are SQL databases that differ in how a
// transaction excludes others and is written to disk.
type store interface {
	// create creates the tables if they do not exist.
	create(ctx context.Context) error
	// update runs f in a transaction that excludes all other writers, in this process and others. Once
	// it has returned nil, everything that f wrote is on disk. After an error either all of it is
	// stored or nothing is; the caller cannot know which.
	update(ctx context.Context, f func(tx) error) error
	// view runs f on one consistent state of the ledger.
	view(ctx context.Context, f func(tx) error) error
	close() error
}

// tx is the store inside a transaction. Entries can be read in one way only: all of them.
type tx interface {
	// head returns the newest entry's head, which is stored separately from the entries, and the
	// version of the tables.
	head() (h Head, version int, err error)
	// raiseFormat sets the version of the ledger, so that older programs refuse it.
	raiseFormat(to int) error
	// append stores e and makes it the head.
	append(e Entry) error
	// entries calls f for all entries in order.
	entries(f func(Entry) error) error
	putResult(request string, result []byte) error
	// result returns a stored result, or nil if there is none.
	result(request string) ([]byte, error)
	// results calls f for all stored results.
	results(f func(request string, result []byte) error) error
}
