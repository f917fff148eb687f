// SPDX-License-Identifier: Apache-2.0

package statistic

import (
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

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
