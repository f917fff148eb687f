// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// body is what a file holds (version 2 is version 1 with additive models, version
// 3 that with linear ones, ballots, norms, a delta and weights of levels, version 4
// that with pairs and with additive models of more levels), apart from
// the memory layout of Model so that either may change without the other. The
// statement comes first: it is what a person opens the file for.
type body struct {
	Learner  string          `json:"learner"`
	Privacy  privacyBody     `json:"privacy"`
	Schema   json.RawMessage `json:"schema"` // package schema's own JSON
	Spaces   []spaceBody     `json:"spaces"`
	Votes    *votesBody      `json:"votes,omitempty"`
	Logistic *logisticBody   `json:"logistic,omitempty"`
	Additive *additiveBody   `json:"additive,omitempty"`
	Linear   *linearBody     `json:"linear,omitempty"`
	Ballots  *ballotsBody    `json:"ballots,omitempty"`

	AdditiveLevels *additiveLevelsBody `json:"additive_levels,omitempty"`
}

type privacyBody struct {
	Scope       dp.Scope    `json:"scope"`
	Relation    dp.Relation `json:"relation"`
	Unit        string      `json:"unit"`
	Epsilon     float64     `json:"epsilon"` // for people; epsilon_nano is exact
	EpsilonNano dp.Epsilon  `json:"epsilon_nano"`
	Delta       json.Number `json:"delta,omitempty"` // for people; delta_femto is exact
	DeltaFemto  dp.Delta    `json:"delta_femto,omitempty"`
	Statement   string      `json:"statement"`
	PartColumn  string      `json:"part_column,omitempty"`
	Unprotected []string    `json:"unprotected"`
	Claim       string      `json:"claim"`
	Counted     bool        `json:"counted"`
	Seeded      bool        `json:"seeded"`
	NotPrivate  bool        `json:"not_private"`
	Overrides   []string    `json:"overrides"`
	Bill        []dp.Event  `json:"bill"`
}

type spaceBody struct {
	Encoding feature.Encoding `json:"encoding"`
	Columns  []string         `json:"columns"`
}

type votesBody struct {
	Members []memberBody `json:"members"`
}

type memberBody struct {
	Space int       `json:"space"`
	Vote  float64   `json:"vote"`
	Bias  float64   `json:"bias"`
	Coef  []float64 `json:"coef"`
}

type logisticBody struct {
	Space int       `json:"space"`
	Bias  float64   `json:"bias"`
	Coef  []float64 `json:"coef"`
	Norm  float64   `json:"norm,omitempty"`
}

// toBody needs a checked model.
func toBody(m *Model) (*body, error) {
	s, err := m.Schema.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("model: schema: %w", err)
	}
	p := &m.Privacy
	b := &body{
		Learner: m.Learner,
		Privacy: privacyBody{
			Scope: p.Scope, Relation: p.Relation, Unit: p.Unit,
			Epsilon: p.Epsilon.Float(), EpsilonNano: p.Epsilon, Delta: deltaText(p.Delta), DeltaFemto: p.Delta,
			Statement: p.Statement, PartColumn: p.PartColumn, Unprotected: p.Unprotected, Claim: p.Claim,
			Counted: p.Counted, Seeded: p.Seeded, NotPrivate: p.NotPrivate, Overrides: p.Overrides,
			Bill: p.Bill,
		},
		Schema: s,
		Spaces: []spaceBody{},
	}
	for _, sp := range m.Spaces {
		b.Spaces = append(b.Spaces, spaceBody(sp))
	}
	if m.Votes != nil {
		b.Votes = &votesBody{}
		for _, v := range m.Votes.Members {
			b.Votes.Members = append(b.Votes.Members, memberBody{v.Space, v.Vote, v.Bias, v.Coef})
		}
	}
	if l := m.Logistic; l != nil {
		b.Logistic = &logisticBody{l.Space, l.Bias, l.Coef, l.Norm}
	}
	b.Additive = additiveToBody(m.Additive)
	b.Linear = linearToBody(m.Linear)
	b.Ballots = ballotsToBody(m.Ballots)
	b.AdditiveLevels = additiveLevelsToBody(m.AdditiveLevels)
	return b, nil
}

// deltaText is δ as its exact decimal; a pure guarantee leaves it out.
func deltaText(d dp.Delta) json.Number {
	if d == 0 {
		return ""
	}
	return json.Number(d.String())
}

// model is toBody backwards. The result is not checked yet.
func (b *body) model() (*Model, error) {
	p := &b.Privacy
	if p.Epsilon != p.EpsilonNano.Float() {
		return nil, fmt.Errorf("model: privacy: epsilon and epsilon_nano must agree")
	}
	if p.Delta != deltaText(p.DeltaFemto) {
		return nil, fmt.Errorf("model: privacy: delta and delta_femto must agree")
	}
	m := &Model{
		Learner: b.Learner,
		Schema:  new(schema.Schema),
		Privacy: Privacy{
			Scope: p.Scope, Relation: p.Relation, Unit: p.Unit, Epsilon: p.EpsilonNano, Delta: p.DeltaFemto,
			Bill: p.Bill, Claim: p.Claim, Statement: p.Statement, PartColumn: p.PartColumn, Unprotected: p.Unprotected,
			Counted: p.Counted, Seeded: p.Seeded, NotPrivate: p.NotPrivate, Overrides: p.Overrides,
		},
	}
	var s bytes.Buffer // without the white space, which would count towards the schema's own size limit
	if err := json.Compact(&s, b.Schema); err != nil {
		return nil, fmt.Errorf("model: schema: %w", err)
	}
	if err := m.Schema.UnmarshalJSON(s.Bytes()); err != nil {
		return nil, fmt.Errorf("model: schema: %w", err)
	}
	for _, sp := range b.Spaces {
		m.Spaces = append(m.Spaces, SpaceSpec(sp))
	}
	if b.Votes != nil {
		m.Votes = &Votes{Members: make([]Member, len(b.Votes.Members))}
		for i, v := range b.Votes.Members {
			m.Votes.Members[i] = Member{Space: v.Space, Vote: v.Vote, Threshold: feature.Threshold{Coef: v.Coef, Bias: v.Bias}}
		}
	}
	if l := b.Logistic; l != nil {
		m.Logistic = &Logistic{Space: l.Space, Bias: l.Bias, Coef: l.Coef, Norm: l.Norm}
	}
	m.Additive = b.Additive.model()
	m.Linear = b.Linear.model()
	m.Ballots = b.Ballots.model()
	m.AdditiveLevels = b.AdditiveLevels.model()
	return m, nil
}

// encode writes the canonical text of a body.
func (b *body) encode() ([]byte, error) {
	b.fill()
	var compact bytes.Buffer
	enc := json.NewEncoder(&compact)
	enc.SetEscapeHTML(false) // "≤ and <" are for people to read
	if err := enc.Encode(b); err != nil {
		return nil, fmt.Errorf("model: encode: %w", err)
	}
	return layout(bytes.TrimSuffix(compact.Bytes(), []byte("\n")), 1, maxFile), nil
}

// fill turns lists that are nil into empty ones: in a file both are [].
func (b *body) fill() {
	empty(&b.Privacy.Unprotected)
	empty(&b.Privacy.Overrides)
	empty(&b.Privacy.Bill)
	empty(&b.Spaces)
	for k := range b.Spaces {
		empty(&b.Spaces[k].Columns)
	}
	if b.Votes != nil {
		empty(&b.Votes.Members)
		for i := range b.Votes.Members {
			empty(&b.Votes.Members[i].Coef)
		}
	}
	if b.Logistic != nil {
		empty(&b.Logistic.Coef)
	}
	if b.Additive != nil {
		b.Additive.fill()
	}
	if b.Linear != nil {
		fillLevels(&b.Linear.Levels)
	}
	if b.Ballots != nil {
		b.Ballots.fill()
	}
	if b.AdditiveLevels != nil {
		b.AdditiveLevels.fill()
	}
}

func empty[T any](s *[]T) {
	if *s == nil {
		*s = []T{}
	}
}

// decodeBody accepts exactly what encode writes. Two comparisons stand for a
// list of rules: no unknown, missing, doubled or misspelt field, no null, no
// trailing data, no second spelling of a number or a text. The first, of the
// white space alone, also bounds the memory of the rest: laid out, no value is
// so short that what it decodes to is much longer.
func decodeBody(raw []byte) (*body, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, fmt.Errorf("model: body: %w", err)
	}
	if err := same(layout(compact.Bytes(), 1, len(raw)), raw); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	b := new(body)
	if err := dec.Decode(b); err != nil {
		return nil, fmt.Errorf("model: body: %w", err)
	}
	again, err := b.encode()
	if err != nil {
		return nil, err
	}
	return b, same(again, raw)
}

func same(canonical, raw []byte) error {
	if bytes.Equal(canonical, raw) {
		return nil
	}
	return fmt.Errorf("model: body: must hold every field of this version once, in its order and in canonical form (differs from byte %d on)", firstDifference(canonical, raw))
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}
