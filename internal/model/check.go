// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Limits on the content of one model. They bound what a hostile file can make a reader allocate, and
// are far above what real trainings need.
const (
	maxSpaces  = 1 << 12
	maxMembers = 1 << 16
	maxColumns = 1 << 16
	maxBill    = 1 << 20
	maxNames   = 1 << 28 // bytes of feature names over all spaces
)

// checkAll refuses a model that is not complete, finite and consistent. Both Marshal and Unmarshal
// call it, so that every written model can be read.
func (m *Model) checkAll() error {
	if !isName(m.Learner) {
		return fmt.Errorf("model: learner must be a name of at most 64 lower-case letters, digits and hyphens (got %.100q)",
			m.Learner)
	}
	if err := m.checkClassifier(); err != nil {
		return err
	}
	if err := m.checkSchemaPart(); err != nil {
		return err
	}
	return m.Privacy.checkStatement()
}

// checkClassifier is the part of checkAll that prediction depends on.
func (m *Model) checkClassifier() error {
	if m.Schema == nil {
		return fmt.Errorf("model: schema must be given")
	}
	widths, err := m.countFeatures()
	if err != nil {
		return err
	}
	if m.Classifier == nil {
		return fmt.Errorf("model: a classifier must be given")
	}
	if n := m.Schema.Classes(); n < 2 {
		return fmt.Errorf("model: the label must have at least 2 classes (got %d)", n)
	}
	use := &spaceUse{widths, make([]bool, len(widths))}
	if err := m.Classifier.checkParts(m.Schema, use); err != nil {
		return err
	}
	for k := range use.used {
		if !use.used[k] {
			return fmt.Errorf("model: space %d must be used by a classifier", k)
		}
	}
	return nil
}

// checkSchemaPart refuses columns that prediction does not use: everyone who predicts would have to
// provide them, and they would reveal more about the training table than necessary. A source of a used
// derived column counts as used.
func (m *Model) checkSchemaPart() error {
	used := make(map[string]bool)
	for _, sp := range m.Spaces {
		for _, name := range sp.Columns {
			used[name] = true
		}
	}
	for _, name := range m.Classifier.listColumns() {
		used[name] = true
	}
	for _, c := range m.Schema.Columns {
		if used[c.Name] {
			for _, name := range m.Schema.Sources(&c) {
				used[name] = true
			}
		}
	}
	if m.Schema.Parts != "" || m.Schema.Person != nil || len(m.Schema.Pairs) > 0 {
		return fmt.Errorf("model: parts and pairs must not be given for the model's schema, and person: they are about " +
			"training alone")
	}
	_, isSum := m.Classifier.(*Additive)
	for _, c := range m.Schema.Columns {
		if c.Integer && !c.IsDatePart() || c.Quantiles || len(c.Groups) > 0 {
			return fmt.Errorf("model: bins and groups must not be given for column %q: a model's bins are settled", c.Name)
		}
		if c.Monotone != schema.Free && !isSum {
			return fmt.Errorf("model: monotone must not be given for column %q: only a sum of shapes can be held to it", c.Name)
		}
	}
	for _, j := range m.Schema.Features() {
		if name := m.Schema.Columns[j].Name; !used[name] {
			return fmt.Errorf("model: column %q must be used by a classifier or left out of the model's schema", name)
		}
	}
	return nil
}

// countFeatures checks the spaces against the schema and computes the number of features of each.
// Nothing is built before the coefficients, which must match it, have been counted.
func (m *Model) countFeatures() ([]int, error) {
	if len(m.Spaces) > maxSpaces {
		return nil, fmt.Errorf("model: spaces must number at most %d (got %d)", maxSpaces, len(m.Spaces))
	}
	index := indexColumns(m.Schema)
	widths := make([]int, len(m.Spaces))
	names := 0
	for k, sp := range m.Spaces {
		if _, err := feature.ParseEncoding(string(sp.Encoding)); err != nil {
			return nil, fmt.Errorf("model: space %d: %w", k, err)
		}
		if len(sp.Columns) > maxColumns {
			return nil, fmt.Errorf("model: space %d: columns must number at most %d (got %d)", k, maxColumns, len(sp.Columns))
		}
		seen := make(map[string]bool, len(sp.Columns))
		for _, name := range sp.Columns {
			j, ok := index[name]
			if !ok {
				return nil, fmt.Errorf("model: space %d: column %q must be in the model's schema and not ignored", k, name)
			}
			if seen[name] {
				return nil, fmt.Errorf("model: space %d: column %q must be given once", k, name)
			}
			seen[name] = true
			width := 1
			if c := &m.Schema.Columns[j]; c.Kind == schema.Category && sp.Encoding == feature.OneHot {
				width = c.Codes()
				for _, l := range c.Levels {
					names += len(l.Value)
				}
			}
			widths[k] += width
			names += width * len(name)
			if names > maxNames {
				return nil, fmt.Errorf("model: the names of all features must fit %d bytes", maxNames)
			}
		}
	}
	return widths, nil
}

// isName accepts names of learners, which people type and programs compare.
func isName(s string) bool {
	for _, c := range s {
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-') {
			return false
		}
	}
	return 0 < len(s) && len(s) <= 64
}

// digest matches a SHA-256 in hexadecimal.
var digest = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (p *Privacy) checkStatement() error {
	switch p.Scope {
	case dp.PrivateFeatures, dp.WholeRow, dp.FeaturesAndLabel, dp.LabelOnly, dp.Party, dp.Nothing:
	default:
		return fmt.Errorf("model: privacy: scope %q is not known", p.Scope)
	}
	switch p.Relation {
	case dp.ReplaceOne, dp.AddRemove:
	default:
		return fmt.Errorf("model: privacy: neighbour relation %q is not known", p.Relation)
	}
	if p.Unit == "" || p.Statement == "" {
		return fmt.Errorf("model: privacy: unit and statement must be given")
	}
	if p.SchemaFile != "" && !digest.MatchString(p.SchemaFile) {
		return fmt.Errorf("model: privacy: schema_file_sha256 must be a SHA-256 in hexadecimal")
	}
	if len(p.Ignored) > schema.MaxColumns {
		return fmt.Errorf("model: privacy: at most %d columns may be ignored (got %d)", schema.MaxColumns, len(p.Ignored))
	}
	texts := slices.Concat([]string{p.Unit, p.Statement, p.Claim, p.PartColumn}, p.Unprotected, p.Overrides, p.Ignored)
	for _, e := range p.Bill {
		texts = append(texts, e.Release, e.Mechanism)
	}
	for _, s := range texts {
		if !plaintext.Is(s) {
			return fmt.Errorf("model: privacy: texts must be one line without control characters (got %.100q)", s)
		}
	}
	if len(p.Bill) > maxBill {
		return fmt.Errorf("model: privacy: the bill must have at most %d lines (got %d)", maxBill, len(p.Bill))
	}
	for i, e := range p.Bill {
		if e.Release == "" || e.Mechanism == "" {
			return fmt.Errorf("model: privacy: line %d of the bill must name its release and its mechanism", i)
		}
		pure := e.Epsilon >= 0 && e.Epsilon <= dp.MaxEpsilon
		if only := e.Epsilon == dp.Infinite && e.Rho > 0; !(pure || only) || e.Rho < 0 || e.Rho > dp.MaxRho ||
			e.Delta < 0 || e.Delta > dp.MaxDelta || e.Delta > 0 && e.Rho > 0 {
			return fmt.Errorf("model: privacy: line %d of the bill must cost between 0 and %s (got %s), or have a rho of "+
				"at most %s", i, dp.MaxEpsilon, e.Epsilon, dp.MaxRho)
		}
	}
	// Where there is a δ, the trainer's accounting found the price enough, and the
	// ledger did so again; a reader is told, and does not repeat it.
	sum := p.Epsilon
	if p.Delta == 0 {
		sum = dp.Total(p.Bill)
	}
	switch {
	case sum != p.Epsilon:
		return fmt.Errorf("model: privacy: the bill must add up to epsilon = %s (got %s)", p.Epsilon, sum)
	case p.Epsilon < 0 || p.Epsilon > dp.MaxEpsilon:
		return fmt.Errorf("model: privacy: epsilon must be between 0 and %s (got %s)", dp.MaxEpsilon, p.Epsilon)
	case p.Delta < 0 || p.Delta > dp.MaxDelta:
		return fmt.Errorf("model: privacy: delta must be at least 0 and below 1 (got %s)", p.Delta)
	case p.Delta > 0 && (p.Epsilon == 0 || len(p.Bill) == 0):
		return fmt.Errorf("model: privacy: a delta must come with an epsilon and a bill")
	case p.NotPrivate && p.Scope != dp.Nothing:
		return fmt.Errorf("model: privacy: a model that is not private must have scope %q (got %q)", dp.Nothing, p.Scope)
	case p.Scope == dp.Nothing && len(p.Bill) > 0:
		return fmt.Errorf("model: privacy: scope %q must have an empty bill", dp.Nothing)
	case p.Scope != dp.Nothing && (p.Claim == "" || len(p.Unprotected) == 0):
		return fmt.Errorf("model: privacy: claim and what is not protected must be given")
	}
	return nil
}

// indexColumns maps the names of the columns in use to their indices.
func indexColumns(s *schema.Schema) map[string]int {
	index := make(map[string]int, len(s.Columns))
	for _, j := range s.Features() {
		index[s.Columns[j].Name] = j
	}
	return index
}

// buildSpace builds the k-th feature space over the columns of the model's schema.
func (m *Model) buildSpace(k int) (*feature.Space, error) {
	index := indexColumns(m.Schema)
	cols := make([]int, len(m.Spaces[k].Columns))
	for i, name := range m.Spaces[k].Columns {
		j, ok := index[name]
		if !ok {
			return nil, fmt.Errorf("model: space %d: column %q must be in the model's schema and not ignored", k, name)
		}
		cols[i] = j
	}
	return feature.NewSpace(m.Schema, m.Spaces[k].Encoding, cols)
}
