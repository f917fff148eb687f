// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"strconv"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// CheckDefaults refuses, for a guarantee of the given scope, a schema in which some cell of the
// protected part of a row has no code. Such a table would be refused because of the content of a
// protected cell, which is an unpaid release. Private columns always have a code for every cell; so do
// categories, which have the code "other". The remaining cases are public numbers and a public label
// without a default, if the scope protects them too (evidence/guarantees/README.md, "Cells that cannot
// be read"). It fails with a *dp.ParamError of operation op.
func (s *Schema) CheckDefaults(op string, scope dp.Scope) error {
	const standIn = "choose it without looking at the data; such a row cannot be refused, since that would " +
		"reveal it, nor dropped, since that would change their number"
	refuse := func(name, hint string) error {
		return &dp.ParamError{Op: op, Param: "default of column " + strconv.Quote(name),
			Want: "must be declared, since the guarantee protects " + scope.Words() +
				": it is what a cell becomes that cannot be read", Hint: hint + standIn}
	}
	all := scope == dp.WholeRow || scope == dp.Party
	if all {
		for _, c := range s.FileColumns() {
			if c.Role != Ignored && c.Kind == Number && c.Default == nil {
				return refuse(c.Name, "write number: {..., default: NUMBER} in the schema, e.g. the middle of the bounds; ")
			}
		}
	}
	if label := all || scope == dp.FeaturesAndLabel || scope == dp.LabelOnly; label && s.Label.Default < 0 {
		return refuse(s.Label.Name, "write label: {..., default: CLASS} in the schema; ")
	}
	return nil
}
