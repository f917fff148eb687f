// SPDX-License-Identifier: Apache-2.0

package site

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn/additive"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/metrics"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// setting is a federation of which models are measured.
type setting struct {
	Name        string
	sites, rows int // each
	positives   float64
	epsilons    []dp.Epsilon
	deltas      []dp.Delta
	honest      []int
}

// fit is one line of the file: the AUC of a model on 10,000 rows that nobody trained on.
type fit struct {
	Setting string     `json:"setting"`
	Seed    uint64     `json:"seed"` // of the table; noise has none
	Epsilon dp.Epsilon `json:"epsilon_nano"`
	Delta   dp.Delta   `json:"delta_femto"`
	Arm     string     `json:"arm"` // sites; left: one site leaves halfway; pooled: the rows of all in one table; alone: those of one site
	Honest  int        `json:"honest,omitempty"`
	AUC     float64    `json:"auc"`
}

// What models are worth across sites, beside those of the pooled rows and of each site: one line a fit
// is added to the file DISCREET_SPREAD. The sites of an arm are real ones.
func TestSpreadOfSites(t *testing.T) {
	path := os.Getenv("DISCREET_SPREAD")
	if path == "" {
		t.Skip("set DISCREET_SPREAD=FILE to measure: it takes minutes")
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	must(t, err)
	defer file.Close()
	for _, of := range []setting{
		{"three", 3, 3333, 0, []dp.Epsilon{dp.Nano}, []dp.Delta{1e9, 0}, []int{3, 2, 1}},
		{"ten", 10, 500, 0.08, []dp.Epsilon{dp.Nano * 3 / 10, dp.Nano}, []dp.Delta{1e9}, []int{10, 5, 1}},
	} {
		for seed := uint64(1); seed <= 10; seed++ {
			t.Run(fmt.Sprintf("%s/%d", of.Name, seed), func(t *testing.T) { of.measure(t, seed, json.NewEncoder(file)) })
		}
	}
}

func (of setting) measure(t *testing.T, seed uint64, to *json.Encoder) {
	s, rows := censusRows(t, seed, of.sites*of.rows+10000, of.positives)
	judge := readRows(t, s, rows[of.sites*of.rows:])
	parts := make([][]string, of.sites)
	for i := range parts {
		parts[i] = rows[i*of.rows : (i+1)*of.rows]
	}
	w := newWorldOf(t, s, parts)
	for _, epsilon := range of.epsilons {
		for _, delta := range of.deltas {
			say := func(arm string, honest int, m *model.Model) {
				must(t, to.Encode(fit{of.Name, seed, epsilon, delta, arm, honest, aucOf(t, m, judge)}))
			}
			for _, honest := range of.honest {
				pl, err := additive.Params{Epsilon: epsilon, Delta: delta, Rows: of.sites * of.rows, TakeAll: true}.Plan(s, 0)
				must(t, err)
				m, err := w.coordinator(honest).Train(t.Context(), s, pl, kept)
				must(t, err)
				say("sites", honest, m)
			}
			if of.sites == 3 {
				say("left", 1, w.leftHalfway(s, epsilon, delta))
			}
			own := func(rows []string) *model.Model {
				pl, err := additive.Params{Epsilon: epsilon, Delta: delta, Rows: len(rows)}.Plan(s, 0)
				must(t, err)
				m, err := guard.Train[*model.Model](t.Context(), pl, tableOf(t, s, rows), guard.Uncounted{}, mech.NewExit(rng.System()))
				must(t, err)
				return m
			}
			say("pooled", 0, own(rows[:of.sites*of.rows]))
			for _, part := range parts {
				say("alone", 0, own(part))
			}
		}
	}
}

// leftHalfway is the model of a training that site 2 leaves halfway.
func (w *world) leftHalfway(s *schema.Schema, epsilon dp.Epsilon, delta dp.Delta) *model.Model {
	for i := range w.policies {
		w.allow(i, func(p *Policy) { p.OwnNumbers, p.MayLeave = true, 1 })
	}
	pl, err := additive.Params{Epsilon: epsilon, Delta: delta, Rows: 3 * len(w.parts[0]), TakeAll: true}.Plan(s, 0)
	must(w.t, err)
	w.record(point{askCall, len(pl.Terms().Bill) / 2, false, false})
	m, err := w.patient().Train(context.Background(), s, pl, kept)
	w.observe(nil)
	must(w.t, err)
	w.comeBack()
	return m
}

// censusRows are invented people, in any order: so many of them, of which a share says yes. 0: as many
// as there are.
func censusRows(t *testing.T, seed uint64, n int, positives float64) (*schema.Schema, []string) {
	t.Helper()
	text := strings.ReplaceAll(string(census.SchemaYAML()), "replace-one", "add-remove")
	s, err := schema.Parse([]byte(strings.ReplaceAll(text, "role: public", "role: private")))
	must(t, err)
	all := strings.Split(strings.TrimSpace(string(censustest.CSV(seed, 2*n))), "\n")[1:]
	yes, most := 0, int(positives*float64(n))
	var rows []string
	for _, row := range all {
		if isYes := strings.HasSuffix(row, ","+s.Label.Levels[s.Label.Positive].Value); positives > 0 && isYes {
			if yes++; yes > most {
				continue
			}
		} else if positives > 0 && len(rows)-min(yes, most) >= n-most {
			continue
		}
		if rows = append(rows, row); len(rows) == n {
			break
		}
	}
	if len(rows) != n {
		t.Fatalf("only %d rows", len(rows))
	}
	r := rand.New(rand.NewPCG(seed, 0))
	r.Shuffle(n, func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return s, rows
}

func aucOf(t *testing.T, m *model.Model, judge *dataset.Table) float64 {
	t.Helper()
	scores, err := m.Scores(judge.Cols, judge.Rows)
	must(t, err)
	r, err := metrics.Evaluate(judge.Labels, scores, []string{"no", "yes"}, judge.Schema.Label.Positive, 0.5)
	must(t, err)
	if r.AUC == nil {
		t.Fatal("one class only")
	}
	return *r.AUC
}
