// SPDX-License-Identifier: Apache-2.0

package coding

// Fate is what a reading does with a cell.
type Fate uint8

const (
	Read    Fate = iota // its value is used
	Missing             // it is empty, or a sign for a missing cell
	Other               // it is a value that the category does not declare
	Clamped             // it is a number or a date outside the bounds
	// Unreadable is a cell that is no number or date in such a column, or no class in the label.
	Unreadable
	Fates int = iota // the number of fates

	refused Fate = 1 << 7
)

// Counts has the number of cells of each fate but Read.
type Counts [Fates]int

// Refused reports that the row is a fault: its column is public, and the schema declares no value for
// such a cell.
func (f Fate) Refused() bool { return f&refused != 0 }

// Kind returns f without the mark of Refused.
func (f Fate) Kind() Fate { return f &^ refused }
