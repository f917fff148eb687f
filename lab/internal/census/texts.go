// SPDX-License-Identifier: Apache-2.0

package census

import (
	"strconv"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// neverDrawn is the text for the code of undeclared levels.
const neverDrawn = "other: never drawn"

// cellTexts returns the text of each code of the j-th column. None needs quotes.
func cellTexts(s *schema.Schema, j int) (out []string) {
	for _, x := range sharedWorld().values[j] {
		out = append(out, strconv.Itoa(int(x)))
	}
	c := &s.Columns[j]
	out = append(out, schema.Values(c.Levels)...)
	if c.Missing {
		out = append(out, neverDrawn, missingToken)
	}
	return out
}
