// SPDX-License-Identifier: Apache-2.0

// Package nonprivate is shared by learners without privacy. They require an explicit permission before
// they use a private column or a private label, and their models state what was not protected.
package nonprivate

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Columns selects the feature columns that a learner uses.
type Columns string

const (
	All    Columns = "all"    // every column that is not ignored
	Public Columns = "public" // public columns only
)

// Use is a checked choice of columns.
type Use struct {
	Cols    []int // indices into the schema's Columns, ascending
	schema  *schema.Schema
	private []string // names of the private columns in use, and of a private label
}

// Choose resolves columns, for learner op. It returns a *dp.ParamError for an unknown choice and for
// one without columns. It also refuses private columns or a private label unless allow is set, which
// is the operator's explicit statement that nothing needs protection.
func Choose(op string, s *schema.Schema, columns Columns, allow bool) (*Use, error) {
	if err := learn.Unconstrained(op, s); err != nil {
		return nil, err
	}
	u := &Use{schema: s}
	switch columns {
	case All:
		u.Cols = s.Features()
	case Public:
		u.Cols = s.ByRole(schema.Public)
	default:
		return nil, &dp.ParamError{Op: op, Param: "columns", Want: `must be "all" or "public"`,
			Got: fmt.Sprintf("%q", columns)}
	}
	if len(u.Cols) == 0 {
		return nil, &dp.ParamError{Op: op, Param: "columns", Want: "must name at least one column of the schema",
			Got: fmt.Sprintf("%q", columns)}
	}
	for _, j := range u.Cols {
		if s.Columns[j].Role == schema.Private {
			u.private = append(u.private, fmt.Sprintf("%q", s.Columns[j].Name))
		}
	}
	if s.Label.Role == schema.Private {
		u.private = append(u.private, fmt.Sprintf("the label %q", s.Label.Name))
	}
	if len(u.private) > 0 && !allow {
		return nil, &dp.ParamError{
			Op: op, Param: "not-private",
			Want: "is required to train without privacy on " + strings.Join(u.private, ", "),
			Hint: "use a private learner such as additive, or public columns and a public label only",
		}
	}
	return u, nil
}

// Private reports whether the fit uses anything that the schema declares private.
func (u *Use) Private() bool { return len(u.private) > 0 }

// Facts returns the plan's lines about privacy.
func (u *Use) Facts() []learn.Fact {
	return []learn.Fact{
		{Key: "scope", Value: string(dp.Nothing), Text: u.writeStatement()},
		{Key: "columns", Value: u.columnNames(), Text: fmt.Sprintf("uses %s: %s", plaintext.Count(len(u.Cols), "column"),
			strings.Join(u.columnNames(), ", "))},
	}
}

// Privacy returns the statement in the model: no guarantee, and why.
func (u *Use) Privacy(counted, seeded bool) model.Privacy {
	p := model.Privacy{
		Scope:       dp.Nothing,
		Relation:    u.schema.Relation,
		Unit:        u.schema.Unit,
		Statement:   u.writeStatement(),
		Unprotected: []string{"Public columns and a public label are not protected."},
		Counted:     counted,
		Seeded:      seeded,
		NotPrivate:  u.Private(),
	}
	for _, name := range u.private {
		p.Unprotected = append(p.Unprotected, "Private data, "+name+
			", were used without noise and may be read off the model.")
	}
	return p
}

func (u *Use) writeStatement() string {
	if !u.Private() {
		return "No privacy guarantee: trained without noise, on public columns and a public label only. Nothing " +
			"private was used."
	}
	return "NOT PRIVATE: trained without noise on private data (" + strings.Join(u.private, ", ") +
		"). The model may reveal them."
}

// Schema returns the part of the schema that prediction needs.
func (u *Use) Schema() *schema.Schema { return u.schema.Part(u.Cols) }

// Space returns the specification of the feature space over Cols, for the model.
func (u *Use) Space(enc feature.Encoding) model.SpaceSpec {
	return model.SpaceSpec{Encoding: enc, Columns: u.columnNames()}
}

func (u *Use) columnNames() (names []string) {
	for _, j := range u.Cols {
		names = append(names, u.schema.Columns[j].Name)
	}
	return names
}
