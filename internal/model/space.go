// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// SpecOf describes the space sp of schema s.
func SpecOf(s *schema.Schema, sp *feature.Space) SpaceSpec {
	spec := SpaceSpec{Encoding: sp.Encoding}
	for _, j := range sp.Columns {
		spec.Columns = append(spec.Columns, s.Columns[j].Name)
	}
	return spec
}
