// SPDX-License-Identifier: Apache-2.0

package ledger

// HoldsTogether reports whether an entry is what its hash says, whoever hands it over.
func (e *Entry) HoldsTogether() bool { return e.hashEntry() == e.Hash }
