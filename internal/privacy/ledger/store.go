// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// store keeps entries and results. Its two implementations are SQL databases
// that differ in how a transaction excludes others and reaches the disk.
type store interface {
	// create makes the tables if there are none.
	create(ctx context.Context) error
	// update runs f in a transaction that no other writer overlaps, in this
	// process or another. After nil everything f wrote is on disk. After an
	// error all of it is stored or none: the caller cannot know which.
	update(ctx context.Context, f func(tx) error) error
	// view runs f on one state of the ledger.
	view(ctx context.Context, f func(tx) error) error
	close() error
}

// tx is the store inside a transaction.
type tx interface {
	// head is the newest entry as stored beside the entries.
	head() (Head, error)
	// raiseFormat marks the ledger as one that programs of an earlier format must refuse.
	raiseFormat(to int) error
	// append stores e and makes it the head.
	append(e Entry) error
	// entries calls f in order: all of a data set if it is named, all of a
	// job if that is named too, all of the ledger if neither is.
	entries(dataset, job string, f func(Entry) error) error
	// ofKinds calls f in order for the entries of a data set that are of some kinds.
	ofKinds(dataset string, f func(Entry) error, kinds ...Kind) error
	// latest is the latest time that any entry has, "" if there is none.
	latest() (string, error)
	// last is the newest stored entry; found is false if there is none.
	last() (e Entry, found bool, err error)
	// entryAt is the entry of that number.
	entryAt(seq int64) (e Entry, found bool, err error)
	// first is the oldest entry of a kind.
	first(dataset string, kind Kind) (e Entry, found bool, err error)
	// datasets lists the names of data sets in the order of their entries.
	datasets() ([]string, error)
	sums(dataset string) (sums, error)
	// unfinished lists the newest entries of jobs that are not at their end.
	unfinished() ([]Entry, error)
	putResult(request string, result []byte) error
	// result returns nil if there is none.
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
