// SPDX-License-Identifier: Apache-2.0

package hamm

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/logistic"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// fitter trains one party's classifier.
type fitter func(ctx context.Context, t *dataset.Table) (*model.Model, error)

// fitRidge fits logistic regression, one class against the rest if there are
// more than two.
func fitRidge(enc feature.Encoding) fitter {
	return func(ctx context.Context, t *dataset.Table) (*model.Model, error) {
		tab, err := memory.New(compactDictionaries(t))
		if err != nil {
			return nil, err
		}
		sp, err := feature.NewSpace(t.Schema, enc, t.Schema.Features())
		if err != nil {
			return nil, err
		}
		g, err := tab.Groups(ctx, sp.Columns)
		if err != nil {
			return nil, err
		}
		m := &model.Model{Learner: "logistic", Schema: t.Schema, Spaces: []model.SpaceSpec{model.SpecOf(t.Schema, sp)}}
		fit := func(class int) ([]float64, error) {
			pos, neg := oneAgainstRest(g, class)
			o, err := logistic.FitGroups(ctx, sp, g, pos, neg, 1/float64(t.Rows), nil)
			if err != nil {
				return nil, err
			}
			return o.Coef, nil
		}
		classes := []int{t.Schema.Label.Positive}
		if n := t.Schema.Classes(); n > 2 {
			classes = make([]int, n)
			for k := range classes {
				classes[k] = k
			}
		}
		var parts []*model.Logistic
		for _, class := range classes {
			coef, err := fit(class)
			if err != nil {
				return nil, err
			}
			d := len(coef) - 1
			parts = append(parts, &model.Logistic{Coef: coef[:d], Bias: coef[d]})
		}
		m.Classifier = model.OneVersusRestOf(parts)
		return m, nil
	}
}

// oneAgainstRest counts the groups' rows of one class and of all others.
func oneAgainstRest(g *engine.Groups, class int) (pos, neg []float64) {
	pos, neg = make([]float64, g.Len), make([]float64, g.Len)
	for k, counts := range g.Counts {
		for i, c := range counts {
			if k == class {
				pos[i] += float64(c)
			} else {
				neg[i] += float64(c)
			}
		}
	}
	return pos, neg
}

// fitLearner fits by a learner of ours without privacy.
func fitLearner(plan func(s *schema.Schema, rows int) (learn.Plan, error)) fitter {
	return func(ctx context.Context, t *dataset.Table) (*model.Model, error) {
		tab, err := memory.New(compactDictionaries(t))
		if err != nil {
			return nil, err
		}
		pl, err := plan(t.Schema, t.Rows)
		if err != nil {
			return nil, err
		}
		return guard.Train(ctx, pl, tab, guard.Uncounted{}, mech.NewExit(nothing{}))
	}
}

// nothing is the source of learners that draw nothing.
type nothing struct{}

func (nothing) Uint64() uint64 { panic("hamm: a learner without privacy drew") }
func (nothing) Seeded() bool   { return true }

// predictLabels is the labels a model gives a table.
func predictLabels(m *model.Model, t *dataset.Table) ([]uint8, []float64, error) {
	p, err := m.Bind(t.Schema)
	if err != nil {
		return nil, nil, err
	}
	scores, err := p.Scores(t.Cols, t.Rows)
	if err != nil {
		return nil, nil, err
	}
	return m.Labels(scores), scores, nil
}

// shadesOf are a model's probabilities of every class, rows × classes.
func shadesOf(m *model.Model, t *dataset.Table) ([]float64, error) {
	_, scores, err := predictLabels(m, t)
	if err != nil || m.Width() > 1 {
		return scores, err
	}
	out, positive := make([]float64, 2*len(scores)), t.Schema.Label.Positive
	for i, p := range scores {
		out[2*i+positive], out[2*i+1-positive] = p, 1-p
	}
	return out, nil
}

func accuracyOf(labels []uint8, t *dataset.Table) float64 {
	hits := 0
	for i, l := range labels {
		if l == t.Labels[i] {
			hits++
		}
	}
	return float64(hits) / float64(t.Rows)
}

// handIn is a votes file.
func handIn(party int, h multiparty.Header, body func(*multiparty.Writer) error) ([]byte, error) {
	h.Party = fmt.Sprintf("party %d", party)
	seed := sha256.Sum256([]byte(h.Party))
	var b bytes.Buffer
	w, err := multiparty.NewWriter(&b, h, ed25519.NewKeyFromSeed(seed[:]))
	if err != nil {
		return nil, err
	}
	if err := body(w); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// compactDictionaries gives the numbers of a small part of a table dictionaries of their own.
func compactDictionaries(t *dataset.Table) *dataset.Table {
	out := *t
	out.Cols = slices.Clone(t.Cols)
	for j, c := range t.Cols {
		if c.Values != nil {
			out.Cols[j] = codeNumbers(t.Rows, func(i int) float64 { return c.Values[c.Codes.At(i)] })
		}
	}
	return &out
}
