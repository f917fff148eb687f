// SPDX-License-Identifier: Apache-2.0

package ledger

import "context"

// Verify returns *Damaged if the ledger contradicts itself: a broken chain, a step out of order, an
// exceeded total, a result other than the committed one, or a missing newest entry. It checks what
// every step checks, and all stored results. It returns the head. If anchor is not nil, it must be an
// earlier head of this ledger. Only an anchor can detect a ledger that was restored to an older state
// as a whole.
func (l *Ledger) Verify(ctx context.Context, anchor *Head) (h Head, err error) {
	err = l.store.view(ctx, func(t tx) error {
		anchored := anchor == nil
		b, err := l.readBooks(t, func(e *Entry) error {
			anchored = anchored || *anchor == Head{e.Seq, e.Hash}
			return nil
		})
		switch {
		case err != nil:
			return err
		case !anchored:
			return &Damaged{anchor.Seq, "the anchor is not in the ledger: it was cut short, put back or rewritten"}
		}
		h = b.head
		return b.checkResults()
	})
	return h, err
}

// checkResults compares the stored results with the entries: each result must exist unchanged, and
// there must be no others.
func (b *books) checkResults() error {
	found := map[string]bool{}
	err := b.tx.results(func(request string, result []byte) error {
		want, ok := b.results[request]
		switch {
		case !ok || found[request]:
			return &Damaged{b.head.Seq, "a result is stored that no entry committed"}
		case !want.describes(result):
			return &Damaged{b.head.Seq, "a stored result is not the one committed"}
		}
		found[request] = true
		return nil
	})
	if err == nil && len(found) != len(b.results) {
		err = &Damaged{b.head.Seq, "a committed result is missing"}
	}
	return err
}
