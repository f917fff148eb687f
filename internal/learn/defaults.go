// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// CheckDefaults refuses, for a fit that protects scope, a schema in which a protected cell may have no
// code: such a table would be refused because of that cell's content, which is an unpaid release. A
// fit without privacy protects nothing.
func CheckDefaults(op string, s *schema.Schema, scope dp.Scope, notPrivate bool) error {
	if notPrivate {
		return nil
	}
	return s.CheckDefaults(op, scope)
}
