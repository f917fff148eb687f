// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"encoding/json"
	"fmt"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Facts collects the lines of a plan, in reading order.
type Facts []Fact

// Add adds a line, with its text as for Sprintf.
func (f *Facts) Add(key string, value any, format string, args ...any) {
	*f = append(*f, Fact{Key: key, Value: value, Text: fmt.Sprintf(format, args...)})
}

// AddScope adds what is protected, and between which tables.
func (f *Facts) AddScope(s *schema.Schema, scope dp.Scope) {
	f.Add("protects", string(scope), "protects %s of %s (%s)", scope.Words(), s.Unit, s.Neighbours())
}

// AddRows adds the number of rows, or of persons, that the rules assume; assumed if none was given.
func (f *Facts) AddRows(s *schema.Schema, rows int, assumed bool) {
	unit, why := "rows", ""
	if s.Person != nil {
		unit = "persons"
	}
	switch {
	case assumed && s.Relation == dp.AddRemove:
		why = ", since the number of " + unit + " is private and none was declared"
	case assumed:
		why = ", since none were given"
	}
	f.Add("rows", rows, "assumes %d %s%s", rows, unit, why)
}

// AddPrice adds the price of so many releases; none if nothing is private. spared says that a δ was
// given and does not help.
func (f *Facts) AddPrice(price dp.Price, releases int, spared bool) {
	if price.Epsilon == 0 {
		f.Add("epsilon", "inf", "NOT PRIVATE: no noise is added")
		return
	}
	f.Add("epsilon", price.Epsilon.Float(), "price ε = %s in %d releases", price.Epsilon, releases)
	if price.Delta > 0 {
		f.Add("delta", json.Number(price.Delta.String()), "and δ = %s: Gaussian noise, all releases accounted jointly",
			price.Delta)
	} else if spared {
		f.Add("delta", 0, "no δ is spent: Laplace noise is smaller here, and its guarantee is pure")
	}
}
