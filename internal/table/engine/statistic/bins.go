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

// checkBins refuses bins that a table of schema s cannot have.
func checkBins(s *schema.Schema, bins []feature.Bins) error {
	for k := range bins {
		if err := bins[k].Check(s); err != nil {
			return err
		}
	}
	return nil
}
