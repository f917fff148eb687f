// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Levels returns the values of a label in code order, as in a Header.
func Levels(s *schema.Schema) []string { return schema.Values(s.Label.Levels) }

// CoefficientsOf returns a logistic model in the form that Average requires: coefficients for all
// columns of the combiner's schema s in encoding enc, for scaled rows, with the intercept last; and
// the names for a Header's Layout. Columns that the model does not use have the coefficient 0. The
// model must be logistic, in the same encoding, with columns that s codes equally.
func CoefficientsOf(m *model.Model, s *schema.Schema,
	enc feature.Encoding) (coef []float64, layout []string, err error) {
	l, ok := m.Classifier.(*model.Logistic)
	if !ok {
		return nil, nil,
			fmt.Errorf("multiparty: only a logistic model has coefficients to average; this is one of learner %s", m.Learner)
	}
	if l.Norm > 0 {
		return nil, nil, fmt.Errorf("multiparty: the model must not shorten rows: train with norm 1")
	}
	if _, err := m.Bind(s); err != nil {
		return nil, nil, err
	}
	sp, err := feature.NewSpace(s, enc, s.Features())
	if err != nil {
		return nil, nil, err
	}
	spec := m.Spaces[l.Space]
	if spec.Encoding != enc {
		return nil, nil, fmt.Errorf("multiparty: the model must use %s encoding (got %s)", enc, spec.Encoding)
	}
	used := make(map[string]int, len(spec.Columns)) // name of a column to its first feature
	cols := make([]int, len(spec.Columns))
	for k, name := range spec.Columns {
		cols[k] = m.Schema.Find(name)
	}
	own, err := feature.NewSpace(m.Schema, enc, cols)
	if err != nil {
		return nil, nil, err
	}
	for k, name := range spec.Columns {
		used[name], _ = own.Block(k)
	}
	coef = make([]float64, sp.Width()+1)
	scale := math.Sqrt(float64(len(sp.Columns) + 1))
	for k, j := range sp.Columns {
		from, ok := used[s.Columns[j].Name]
		if !ok {
			continue
		}
		to, width := sp.Block(k)
		for f := range width {
			coef[to+f] = l.Coef[from+f] * scale
		}
	}
	coef[sp.Width()] = l.Bias * scale
	return coef, sp.Names, nil
}
