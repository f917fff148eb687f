// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// body is the content of a file. The statement comes first, because it is what people open the file for.
//
// Version 2 added additive models; 3 linear models, ballots, norms, a delta and class weights; 4 pairs
// and additive models of more than two classes; 5 derived columns; 6 grids; 7 marks, dates and
// buckets; 8 the effect of noise alone on additive models; 9 the threshold of a logistic
// model, the digest of the schema's file and ignored columns.
type body struct {
	Learner  string          `json:"learner"`
	Privacy  privacyBody     `json:"privacy"`
	Schema   json.RawMessage `json:"schema"` // in the JSON form of package schema
	Spaces   []spaceBody     `json:"spaces"`
	Votes    *Votes          `json:"votes,omitempty"`
	Logistic *Logistic       `json:"logistic,omitempty"`
	Additive *Additive       `json:"additive,omitempty"`
	Linear   *linearBody     `json:"linear,omitempty"`
	Ballots  *Ballots        `json:"ballots,omitempty"`

	MulticlassAdditive *multiclassBody `json:"additive_levels,omitempty"`
	Grids              *gridsBody      `json:"grids,omitempty"`
}

// classifierBody is a classifier in the form that files have.
type classifierBody interface{ readClassifier() Classifier }

// listClassifiers lists the classifiers in the body; a valid body has one.
func (b *body) listClassifiers() (given []classifierBody) {
	given = appendGiven(given, b.Votes)
	given = appendGiven(given, b.Logistic)
	given = appendGiven(given, b.Additive)
	given = appendGiven(given, b.Linear)
	given = appendGiven(given, b.Ballots)
	given = appendGiven(given, b.MulticlassAdditive)
	return appendGiven(given, b.Grids)
}

func appendGiven[T any, P interface {
	*T
	classifierBody
}](given []classifierBody, one P) []classifierBody {
	if one == nil {
		return given
	}
	return append(given, one)
}

type privacyBody struct {
	Scope       dp.Scope    `json:"scope"`
	Relation    dp.Relation `json:"relation"`
	Unit        string      `json:"unit"`
	Epsilon     float64     `json:"epsilon"` // for readers; epsilon_nano is exact
	EpsilonNano dp.Epsilon  `json:"epsilon_nano"`
	Delta       json.Number `json:"delta,omitempty"` // for readers; delta_femto is exact
	DeltaFemto  dp.Delta    `json:"delta_femto,omitempty"`
	Statement   string      `json:"statement"`
	PartColumn  string      `json:"part_column,omitempty"`
	Unprotected []string    `json:"unprotected"`
	Claim       string      `json:"claim"`
	Counted     bool        `json:"counted"`
	Seeded      bool        `json:"seeded"`
	NotPrivate  bool        `json:"not_private"`
	Overrides   []string    `json:"overrides"`
	SchemaFile  string      `json:"schema_file_sha256,omitempty"`
	Ignored     []string    `json:"ignored,omitempty"`
	Bill        []dp.Event  `json:"bill"`
}

type spaceBody struct {
	Encoding feature.Encoding `json:"encoding"`
	Columns  []string         `json:"columns"`
}

// toBody converts a model, which must have been checked.
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
			SchemaFile: p.SchemaFile, Ignored: p.Ignored, Bill: p.Bill,
		},
		Schema: s,
		Spaces: []spaceBody{},
	}
	for _, sp := range m.Spaces {
		b.Spaces = append(b.Spaces, spaceBody(sp))
	}
	m.Classifier.writeBody(b)
	return b, nil
}

// deltaText returns δ as an exact decimal, or nothing for a pure guarantee.
func deltaText(d dp.Delta) json.Number {
	if d == 0 {
		return ""
	}
	return json.Number(d.String())
}

// readModel reverses toBody. The result is not checked yet.
func (b *body) readModel() (*Model, error) {
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
			SchemaFile: p.SchemaFile, Ignored: p.Ignored,
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
	given := b.listClassifiers()
	if len(given) != 1 {
		return nil, fmt.Errorf("model: body: exactly one of votes, logistic, additive, linear, ballots, additive_levels "+
			"and grids must be given (got %d)", len(given))
	}
	m.Classifier = given[0].readClassifier()
	return m, nil
}

// encodeText writes the canonical text of a body.
func (b *body) encodeText() ([]byte, error) {
	var compact bytes.Buffer
	enc := json.NewEncoder(&compact)
	enc.SetEscapeHTML(false) // "≤ and <" are for people to read
	if err := enc.Encode(fillLists(reflect.ValueOf(b)).Interface()); err != nil {
		return nil, fmt.Errorf("model: encode: %w", err)
	}
	return layOut(bytes.TrimSuffix(compact.Bytes(), []byte("\n")), 1, maxFile), nil
}

// fillLists returns a copy of v with empty lists in place of nil ones: in a file both are [].
func fillLists(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch kind := v.Kind(); {
	case kind == reflect.Pointer && !v.IsNil():
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(fillLists(v.Elem()))
	case kind == reflect.Struct:
		for i := range v.NumField() {
			out.Field(i).Set(fillLists(v.Field(i)))
		}
	case kind == reflect.Slice && v.Type() != reflect.TypeFor[json.RawMessage](), kind == reflect.Array:
		if kind == reflect.Slice {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			reflect.Copy(out, v)
		}
		switch v.Type().Elem().Kind() {
		case reflect.Struct, reflect.Slice, reflect.Pointer:
			for i := range v.Len() {
				out.Index(i).Set(fillLists(v.Index(i)))
			}
		}
	}
	return out
}

// decodeBody accepts exactly what encodeText writes. Two comparisons replace a list of rules: no
// unknown, missing, repeated or misspelt field, no null, no trailing data, and only one spelling of a
// number or a text. The first comparison, of the white space, also bounds the memory of the second: in
// the canonical layout, every value is long enough to bound the size of what it decodes to.
func decodeBody(raw []byte) (*body, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, fmt.Errorf("model: body: %w", err)
	}
	if err := wantSame(layOut(compact.Bytes(), 1, len(raw)), raw); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	b := new(body)
	if err := dec.Decode(b); err != nil {
		return nil, fmt.Errorf("model: body: %w", err)
	}
	again, err := b.encodeText()
	if err != nil {
		return nil, err
	}
	return b, wantSame(again, raw)
}

func wantSame(canonical, raw []byte) error {
	if bytes.Equal(canonical, raw) {
		return nil
	}
	return fmt.Errorf("model: body: must hold every field of this version once, in its order and in canonical form "+
		"(differs from byte %d on)", firstDifference(canonical, raw))
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}
