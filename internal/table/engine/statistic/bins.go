// SPDX-License-Identifier: Apache-2.0

package statistic

import (
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// columnsOf lists the columns that bins cut.
func columnsOf(bins []feature.Bins) (columns []int) {
	for k := range bins {
		columns = append(columns, bins[k].Columns()...)
	}
	return columns
}

// binReader finds the bins of the rows of a run.
type binReader struct {
	*feature.BoundBins
	bins, spare []uint32
}

// read is the bins of n rows, until it is called again.
func (r *binReader) read(n int) []uint32 {
	r.bins, r.spare = room(r.bins, n), room(r.spare, n)
	r.Read(0, r.bins, r.spare)
	return r.bins
}

// checkBins refuses bins that a table of schema s cannot have.
func checkBins(s *schema.Schema, bins []feature.Bins) error {
	for k := range bins {
		if err := bins[k].Check(s); err != nil {
			return err
		}
	}
	return nil
}

// place is where a row is in a question about bins: the bin or, in a column of
// small codes, the code, which needs no looking up row by row.
type place struct {
	places int
	len    int // the number of bins
	bins   *feature.BoundBins
	codes  *column.Codes // nil if the place is the bin
	byCode []uint32      // the bin of each of its codes
}

func placeOf(b *feature.Bins, cols []column.Column) place {
	if b.OfColumn() && cols[b.Column].Codes.U8 != nil {
		byCode := make([]uint32, 1<<8) // codes that the column cannot hold are no one's
		copy(byCode, b.ByCode(&cols[b.Column]))
		return place{places: len(byCode), len: b.Len(), codes: &cols[b.Column].Codes, byCode: byCode}
	}
	return place{places: b.Len(), len: b.Len(), bins: b.Bind(cols)}
}

// binOf is the bin that a place lies in.
func (p *place) binOf(at int) int {
	if p.codes != nil {
		return int(p.byCode[at])
	}
	return at
}
