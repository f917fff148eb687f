// SPDX-License-Identifier: Apache-2.0

package learn_test

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// The sentence about the guarantee names what differs between neighbours: a row's presence under
// add-remove, else what is protected of it.
func TestSupposeChange(t *testing.T) {
	person := &schema.Person{Column: "p", Rows: 2}
	for _, c := range []struct {
		relation dp.Relation
		person   *schema.Person
		scope    dp.Scope
		want     string
	}{
		{dp.ReplaceOne, nil, dp.PrivateFeatures, "Whatever the private columns of one row were"},
		{dp.ReplaceOne, nil, dp.FeaturesAndLabel, "Whatever the private columns and the label of one row were"},
		{dp.ReplaceOne, nil, dp.LabelOnly, "Whatever the label of one row was"},
		{dp.ReplaceOne, nil, dp.WholeRow, "Whatever the whole row (every feature and the label) was"},
		{dp.ReplaceOne, person, dp.PrivateFeatures, "Whatever the private columns of all rows of one person were"},
		{dp.ReplaceOne, person, dp.LabelOnly, "Whatever the labels of all rows of one person were"},
		{dp.ReplaceOne, person, dp.WholeRow, "Whatever the whole row (every feature and the label) was, for all rows of one person"},
		{dp.AddRemove, nil, dp.WholeRow, "Whether or not one row was in the table"},
		{dp.AddRemove, person, dp.WholeRow, "Whether or not the rows of one person were in the table"},
	} {
		if got := learn.SupposeChange(c.scope, &schema.Schema{Relation: c.relation, Person: c.person}); got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.relation, c.scope, got, c.want)
		}
	}
}
