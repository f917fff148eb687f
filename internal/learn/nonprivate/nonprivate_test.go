// SPDX-License-Identifier: Apache-2.0

package nonprivate

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func table(label schema.Role, roles ...schema.Role) *schema.Schema {
	s := &schema.Schema{Unit: "one row", Relation: dp.ReplaceOne, Label: schema.Label{Name: "y", Role: label}}
	for i, r := range roles {
		s.Columns = append(s.Columns, schema.Column{Name: string(rune('a' + i)), Role: r, Kind: schema.Number, Upper: 1})
	}
	return s
}

func TestChoose(t *testing.T) {
	const pub, priv, ign = schema.Public, schema.Private, schema.Ignored
	mixed := table(pub, ign, priv, pub, priv)
	tests := []struct {
		name    string
		s       *schema.Schema
		columns Columns
		allow   bool
		cols    []int
		private bool
		refused string // parameter
		names   []string
	}{
		{name: "public columns", s: mixed, columns: Public, cols: []int{2}},
		{name: "override without need", s: mixed, columns: Public, allow: true, cols: []int{2}},
		{name: "all, refused", s: mixed, columns: All, refused: "not-private", names: []string{`"b"`, `"d"`}},
		{name: "all, allowed", s: mixed, columns: All, allow: true, cols: []int{1, 2, 3}, private: true},
		{name: "private label, refused", s: table(priv, pub), columns: Public, refused: "not-private",
			names: []string{`label "y"`}},
		{name: "private label, allowed", s: table(priv, pub), columns: Public, allow: true, cols: []int{0}, private: true},
		{name: "no public column", s: table(pub, priv), columns: Public, allow: true, refused: "columns"},
		{name: "no column", s: table(pub, ign), columns: All, allow: true, refused: "columns"},
		{name: "no choice", s: mixed, columns: "", allow: true, refused: "columns"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			u, err := Choose("twin", c.s, c.columns, c.allow)
			if c.refused != "" {
				var refused *dp.ParamError
				if !errors.As(err, &refused) || refused.Param != c.refused {
					t.Fatalf("error %v, want a refusal of %s", err, c.refused)
				}
				for _, name := range c.names {
					if !strings.Contains(err.Error(), name) {
						t.Errorf("%q does not name %s", err, name)
					}
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(u.Cols, c.cols) || u.Private() != c.private {
				t.Errorf("columns %v, private %v; want %v, %v", u.Cols, u.Private(), c.cols, c.private)
			}
			p := u.Privacy(true, false)
			if p.Scope != dp.Nothing || p.Epsilon != 0 || len(p.Bill) != 0 || p.NotPrivate != c.private || !p.Counted ||
				p.Seeded {
				t.Errorf("privacy %+v", p)
			}
			if c.private != strings.HasPrefix(p.Statement, "NOT PRIVATE") {
				t.Errorf("statement %q", p.Statement)
			}
			if u.Facts()[0].Text != p.Statement {
				t.Error("the plan and the model do not say the same")
			}
		})
	}
}
