// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Mode determines who must be trusted.
type Mode string

const (
	// Local: every owner sends one report that is ε-DP by itself; everything else is computed from
	// reports.
	Local Mode = "local"
	// Aggregate: owners send only shares of a secret sum, which includes the noise of an ε-DP release.
	Aggregate Mode = "aggregate"
)

// Classifier is the kind of classifier that a round adds to the ensemble.
type Classifier string

const (
	Stump    Classifier = "stump"    // decision stumps with a score per level in each branch
	Centroid Classifier = "centroid" // a nearest centroid
	Logistic Classifier = "logistic" // a linear function of the features per level
)

// Task contains everything that all participants agree on before the first answer. It does not depend
// on data.
type Task struct {
	// Nonce is 32 lower-case hexadecimal digits, fresh for each task.
	Nonce      string
	Mode       Mode
	Classifier Classifier
	// Mechanism is the name of a response.Law; "" uses the more accurate of oue and grr for each
	// question.
	Mechanism string
	Epsilon   dp.Epsilon // of the only report of each owner
	// Schema describes the columns. Its roles are not used: every column that is not ignored, and the
	// label, is private.
	Schema    *schema.Schema
	Questions []Question // questions of the first round, one per owner
	Rounds    []Shares
	// WeightCap bounds W, the largest weight of a record, and is at least 1. Reports carry the weight
	// divided by min(WeightCap, the largest possible weight under the ensemble).
	WeightCap float64
}

// Shares gives the relative numbers of owners in the two slots of a round: those whose reports make a
// classifier, and those whose reports measure its error.
type Shares struct {
	Table uint32 `json:"table"`
	Error uint32 `json:"error"`
}

// Question asks for the cell of one column.
type Question struct {
	Column string `json:"column"`
	// Edges divide a number into bins, strictly increasing inside its bounds.
	Edges []float64 `json:"edges,omitempty"`
}

// Limits of a task, which bound the memory that an untrusted peer can make us allocate.
const (
	MaxRounds = 1000
	maxCells  = 1 << 16 // per question, multiplied by the levels of the label
	maxCap    = 1 << 20
	nonceLen  = 32
)

// columnIndex returns the index of the question's column in the schema, -1 if there is no such column
// to ask about.
func (q *Question) columnIndex(s *schema.Schema) int {
	for j := range s.Columns {
		if s.Columns[j].Name == q.Column && s.Columns[j].Role != schema.Ignored {
			return j
		}
	}
	return -1
}

// Bins returns the bins of the question's column.
func (t *Task) Bins(q int) feature.Bins {
	ask := &t.Questions[q]
	return feature.NewBins(t.Schema, ask.columnIndex(t.Schema), ask.Edges)
}

// Column returns the index of the column of question q.
func (t *Task) Column(q int) int { return t.Questions[q].columnIndex(t.Schema) }

// Cells returns the number of cells of question q, without the label.
func (t *Task) Cells(q int) int {
	b := t.Bins(q)
	return b.Len()
}

// Check refuses an invalid task.
func (t *Task) Check() error {
	fault := dp.RefuseFor("task")
	switch {
	case !isHex(t.Nonce, nonceLen):
		return fault("nonce", fmt.Sprintf("must be %d lower-case hexadecimal digits", nonceLen), t.Nonce)
	case t.Mode != Local && t.Mode != Aggregate:
		return fault("mode", "must be local or aggregate", t.Mode)
	case t.Classifier != Stump && t.Classifier != Centroid && t.Classifier != Logistic:
		return fault("classifier", "must be stump, centroid or logistic", t.Classifier)
	case t.Mode == Aggregate && t.Mechanism != "":
		return fault("mechanism", "must not be given in mode aggregate", t.Mechanism)
	case t.Epsilon < 1 || t.Epsilon > dp.MaxEpsilon:
		return fault("epsilon", "must be at least 1e-9 and at most "+dp.MaxEpsilon.String(), t.Epsilon)
	case t.Schema == nil:
		return fault("schema", "must be given", nil)
	case t.Schema.Label.Weights != nil:
		return fault("weights", "must not be given for the label: every owner counts once", t.Schema.Label.Weights)
	case slices.ContainsFunc(t.Schema.Columns, func(c schema.Column) bool { return c.Monotone != schema.Free }):
		return fault("monotone", "must not be given for every column: a federation cannot promise it", nil)
	case t.Schema.CheckDefaults("task", dp.WholeRow) != nil: // all that an owner holds is protected
		return t.Schema.CheckDefaults("task", dp.WholeRow)
	case t.Schema.Person != nil && t.Schema.Person.Rows != 1:
		return fault("person rows", "must be 1: an owner is a person, who reports about one row", t.Schema.Person.Rows)
	case len(t.Questions) < 1 || len(t.Questions) > schema.MaxColumns:
		return fault("questions", fmt.Sprintf("must number 1 to %d", schema.MaxColumns), len(t.Questions))
	case len(t.Rounds) < 1 || len(t.Rounds) > MaxRounds:
		return fault("rounds", fmt.Sprintf("must number 1 to %d", MaxRounds), len(t.Rounds))
	case !(t.WeightCap >= 1 && t.WeightCap <= maxCap):
		return fault("weight cap", fmt.Sprintf("must be from 1 to %d", maxCap), t.WeightCap)
	}
	for i, r := range t.Rounds {
		if r.Table == 0 || r.Error == 0 {
			return fault("rounds", "must give a share to both slots", fmt.Sprintf("round %d", i+1))
		}
	}
	seen := map[string]bool{}
	for i := range t.Questions {
		q := &t.Questions[i]
		j := q.columnIndex(t.Schema)
		if j < 0 {
			return fault("questions", "must be about columns of the schema that are not ignored", q.Column)
		}
		if seen[q.Column] {
			return fault("questions", "must name each column once", q.Column)
		}
		seen[q.Column] = true
		c := &t.Schema.Columns[j]
		if c.Kind == schema.Category && len(q.Edges) > 0 {
			return fault("questions", "must not cut a category", q.Column)
		}
		if c.Buckets > 0 || slices.ContainsFunc(c.Levels, func(l schema.Level) bool { return len(l.Prefixes) > 0 }) {
			return fault("questions",
				"must not be about values told by a prefix or a hash, which owners' programs need not know", q.Column)
		}
		if c.Date != "" || c.IsDatePart() {
			return fault("questions", "must not contain dates, because owners' programs may not support them", q.Column)
		}
		if c.Marks() > 0 {
			return fault("questions", "must not be about a number with missing or special cells of their own: a report has "+
				"no place for them", q.Column)
		}
		for k, e := range q.Edges {
			if !(e > c.Lower && e <= c.Upper) || k > 0 && !(e > q.Edges[k-1]) {
				return fault("questions", "must cut inside the bounds, in increasing order", q.Column)
			}
		}
		if t.Cells(i)*t.Schema.Classes() > maxCells {
			return fault("questions", fmt.Sprintf("must have at most %d cells, levels of the label counted", maxCells), q.Column)
		}
	}
	if t.Mode == Aggregate {
		return nil
	}
	for i := range t.Questions { // sizes every law once, so that nothing fails later
		if _, err := t.Law(t.Cells(i)); err != nil {
			return err
		}
	}
	_, err := t.Law(t.Schema.Classes())
	return err
}

// Law returns the mechanism by which an owner reports one of cells cells together with its label. The
// cell of the law is cell·K + label.
func (t *Task) Law(cells int) (response.Law, error) {
	n := cells * t.Schema.Classes()
	switch t.Mechanism {
	case "":
		return response.BestCellLaw(t.Epsilon, n)
	case "oue", "grr":
		return response.CellLawFor(t.Mechanism, t.Epsilon, n)
	}
	return response.VectorLawFor(t.Mechanism, t.Epsilon, n)
}

// Slots returns the number of slots: two per round, for tables and for the error.
func (t *Task) Slots() int { return 2 * len(t.Rounds) }

func (t *Task) slotShare(slot int) uint32 {
	if r := t.Rounds[slot/2]; slot%2 == 0 {
		return r.Table
	} else {
		return r.Error
	}
}

// WeightBound is W_t, an upper bound on a record's weight as an owner computes it from members. It is
// at least 1.
func (t *Task) WeightBound(members []Member) float64 {
	log := 0.0
	for i := range members {
		log += members[i].boundExponent(t)
	}
	return math.Min(t.WeightCap, math.Exp(log)) // 1.1
}

func isHex(s string, n int) bool {
	for i := range len(s) {
		if c := s[i]; !('0' <= c && c <= '9' || 'a' <= c && c <= 'f') {
			return false
		}
	}
	return len(s) == n
}
