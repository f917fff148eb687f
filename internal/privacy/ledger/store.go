// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

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

// tx is the store inside a transaction.
type tx interface {
	// head returns the newest entry's head, which is stored separately from the entries.
	head() (Head, error)
	// raiseFormat sets the version of the ledger, so that older programs refuse it.
	raiseFormat(to int) error
	// append stores e and makes it the head.
	append(e Entry) error
	// entries calls f in order, for all entries of a job if dataset and job are given, of a data set
	// if only that is given, or of the ledger.
	entries(dataset, job string, f func(Entry) error) error
	// ofKinds calls f in order for the entries of a data set that have one of the kinds.
	ofKinds(dataset string, f func(Entry) error, kinds ...Kind) error
	// latest returns the latest time in any entry, "" if there is none.
	latest() (string, error)
	// last returns the newest stored entry; found is false if there is none.
	last() (e Entry, found bool, err error)
	// entryAt returns the entry with the number seq.
	entryAt(seq int64) (e Entry, found bool, err error)
	// first returns the oldest entry of a kind.
	first(dataset string, kind Kind) (e Entry, found bool, err error)
	// datasets lists the names of data sets in the order of their entries.
	datasets() ([]string, error)
	sums(dataset string) (sums, error)
	// unfinished lists the newest entries of jobs that have not ended.
	unfinished() ([]Entry, error)
	putResult(request string, result []byte) error
	// result returns a stored result, or nil if there is none.
	result(request string) ([]byte, error)
	// results calls f for the requests that have a result.
	results(f func(request string) error) error
}

// sums adds up a data set's entries by kind and part.
type (
	sums   map[sumKey]dp.Price
	sumKey struct {
		kind Kind
		part string // as in Entry: "" for all of the data set
	}
)
