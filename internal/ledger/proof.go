// SPDX-License-Identifier: Apache-2.0

package ledger

// HoldsTogether reports whether an entry matches its hash. The entry may come from any source.
func (e *Entry) HoldsTogether() bool { return e.hashEntry() == e.Hash }
