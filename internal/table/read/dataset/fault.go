// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/plaintext"
)

// FaultError is a structural fault of a file. Its text states the place and the requirement, and never
// holds a cell.
type FaultError struct {
	File   string
	Column string // as in the schema or a verified header; "" if the fault is not in one column
	Line   int    // CSV: line of the record, from 1, not counting line ends inside cells; otherwise the row; 0 if unknown
	Fault  string
	Alike  int // further cells of the file's column with this fault, which a Check does not list
}

func (e *FaultError) Error() string {
	var b strings.Builder
	b.WriteString("dataset: ")
	if e.File != memoryFile {
		fmt.Fprintf(&b, "%s: ", e.File)
	}
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
	if e.Alike > 0 {
		fmt.Fprintf(&b, " (and %s)", plaintext.Count(e.Alike, "further cell"))
	}
	return b.String()
}

// faults decides the effect of a structural fault: a Read stops at the first one, a Check continues up
// to its limit.
type faults struct {
	limit int // 0: stop at the first
	found []FaultError
}

// errEnough ends a Check that has reached its limit.
var errEnough = fmt.Errorf("dataset: enough faults found")

// addFault records a fault, one for all cells of a column that have the same. It returns nil if reading may continue.
func (f *faults) addFault(e *FaultError) error {
	if f.limit == 0 {
		return e
	}
	if e.Column != "" && e.Line > 0 {
		for i := range f.found {
			if g := &f.found[i]; g.File == e.File && g.Column == e.Column && g.Fault == e.Fault {
				g.Alike += 1 + e.Alike
				return nil
			}
		}
	}
	f.found = append(f.found, *e)
	if len(f.found) >= f.limit {
		return errEnough
	}
	return nil
}
