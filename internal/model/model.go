// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Model is a trained classifier with its privacy statement.
type Model struct {
	Learner string // e.g. "brc"
	// Schema is the part of the training schema that prediction needs: the
	// columns in use with bounds, levels and dialect, and the label.
	Schema     *schema.Schema
	Privacy    Privacy
	Spaces     []SpaceSpec // the feature spaces that the classifier refers to
	Classifier Classifier
}

// SpaceSpec describes a feature space, which feature.NewSpace rebuilds from Schema.
type SpaceSpec struct {
	Encoding feature.Encoding
	Columns  []string // by name, in the space's order
}

// Privacy is the statement that a privacy officer signs.
type Privacy struct {
	Scope    dp.Scope    // the protected part of a row
	Relation dp.Relation // which tables are neighbours
	Unit     string      // what one row describes
	Epsilon  dp.Epsilon  // total price; 0 when Scope is Nothing
	Delta    dp.Delta    // likewise; 0 if the guarantee is pure
	// Bill lists every release in order. It adds up to Epsilon; if Delta > 0, its joint cost is at
	// most (Epsilon, Delta).
	Bill        []dp.Event
	Claim       string   // page and claim under evidence/guarantees, e.g. "brc: G-BRC-2"
	Statement   string   // the guarantee in words
	PartColumn  string   // the public column that selected one part of the rows; "" if all were read
	Unprotected []string // what is NOT protected, one sentence each
	Counted     bool     // a ledger was charged
	Seeded      bool     // randomness was reproducible: never deploy
	NotPrivate  bool     // trained for comparison, without a guarantee
	Overrides   []string // limits that the operator exceeded on purpose, e.g. the declared maximum ε
	SchemaFile  string   // SHA-256 of the schema's file, in hexadecimal; "" if there was no file
	Ignored     []string // the columns that the schema ignores, and its patterns of such
}

// Stated returns the model's statement about its cost.
func (m *Model) Stated() dp.Statement {
	p := &m.Privacy
	return dp.Statement{Scope: p.Scope, Price: dp.Price{Epsilon: p.Epsilon, Delta: p.Delta}, Bill: p.Bill,
		Counted: p.Counted, Seeded: p.Seeded}
}
