// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"fmt"
	"strings"
)

// FaultError is a structural fault of a file. Its text says where and what was
// required, and never holds a cell.
type FaultError struct {
	File   string
	Column string // as the schema or a verified header spells it; "" when the fault is not in one column
	Line   int    // CSV: line of the record, from 1, not counting line ends inside cells; else row; 0 when unknown
	Fault  string
}

func (e *FaultError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "dataset: %s: ", e.File)
	if e.Line > 0 {
		unit := "line"
		if FormatOf(e.File) == Parquet || e.File == memoryFile || IsAddress(e.File) {
			unit = "row"
		}
		fmt.Fprintf(&b, "%s %d: ", unit, e.Line)
	}
	if e.Column != "" {
		fmt.Fprintf(&b, "column %q: ", e.Column)
	}
	b.WriteString(e.Fault)
	return b.String()
}

// faults decides what a structural fault does: a Read stops at the first one,
// a Check goes on until it has enough of them.
type faults struct {
	limit int // 0: stop at the first
	found []FaultError
}

// errEnough ends a Check that has found its limit.
var errEnough = fmt.Errorf("dataset: enough faults found")

// addFault returns nil when reading may go on.
func (f *faults) addFault(e *FaultError) error {
	if f.limit == 0 {
		return e
	}
	f.found = append(f.found, *e)
	if len(f.found) >= f.limit {
		return errEnough
	}
	return nil
}
