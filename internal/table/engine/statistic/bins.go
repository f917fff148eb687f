// SPDX-License-Identifier: Apache-2.0

package statistic

import (
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
