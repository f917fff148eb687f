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

// specsOf is bins as messages.
func specsOf(bins []feature.Bins) (specs []feature.BinsSpec) {
	for k := range bins {
		specs = append(specs, bins[k].Spec())
	}
	return specs
}

// binsOf is bins of a table of schema s.
func binsOf(s *schema.Schema, specs []feature.BinsSpec) (bins []feature.Bins, err error) {
	for k := range specs {
		b, err := specs[k].Bins(s)
		if err != nil {
			return nil, err
		}
		bins = append(bins, b)
	}
	return bins, nil
}
