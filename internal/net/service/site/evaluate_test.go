// SPDX-License-Identifier: Apache-2.0

package site

import (
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/metrics"
	"github.com/discreet-dp/discreet/internal/net/federated/sites"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/train/evaluation"
)

// hold gives every site of w the rows that it trains on as held-out ones, too, and returns them all.
func (w *world) hold() []*dataset.Table {
	w.t.Helper()
	var all []*dataset.Table
	for i := range w.params {
		t := readRows(w.t, w.schema, w.parts[i])
		w.params[i].HeldOut = &HeldOut{t, "held out"}
		w.allow(i, func(p *Policy) { p.HeldOut, p.Training.Epsilon = "held out", "1000" })
		all = append(all, t)
	}
	return all
}

// An evaluation counts the held-out rows of all sites by score and label, and each site pays for its
// own once, from its data set of held-out rows.
func TestEvaluationAcrossSites(t *testing.T) {
	for _, classes := range []int{2, 3} {
		s := schemaOf(t, classes, 2)
		w := newWorld(t, s, rowsOf(90, classes, 2), 3)
		m, err := w.coordinator(3).Train(t.Context(), s, planOf(t, s, 0, 90), kept)
		must(t, err)
		parts, before := w.hold(), w.paid()
		p := evaluation.Params{Epsilon: 1000 * dp.Nano, Models: []*model.Model{m}, Threshold: 0.5}
		var r *evaluation.Release
		must(t, w.coordinator(3).Evaluate(t.Context(), s, p, func(e *evaluation.Release) error { r = e; return nil }))
		if n := w.paid() - before; n != 3 {
			t.Errorf("%d classes: %d sites of 3 paid", classes, n)
		}
		own := 0
		for id := range w.account.charges {
			own += strings.Count(string(id), " held out ")
		}
		if own != 3 {
			t.Errorf("%d classes: %d sites of 3 charged the data set of held-out rows", classes, own)
		}
		pl, err := p.Plan(s, 0)
		must(t, err)
		want := make([][]float64, len(pl.Sizes()))
		for k, n := range pl.Sizes() {
			want[k] = make([]float64, n)
		}
		for _, part := range parts {
			cut, err := pl.Cut(part)
			must(t, err)
			for k := range want {
				codes := make([]uint32, cut.Rows)
				cut.Cols[k].Codes.Read(0, codes)
				for _, code := range codes {
					want[k][code]++
				}
			}
		}
		for k := range want {
			for i := range want[k] {
				if math.Abs(want[k][i]-r.Cells[k][i]) > 0.5 { // the noise is of scale 0.004
					t.Errorf("%d classes: part %d: cell %d has %g rows, want %g", classes, k, i, r.Cells[k][i], want[k][i])
				}
			}
		}
	}
}

// A site answers what its policy names, and measures no other rows than those of the beginning.
func TestEvaluationsThatAreRefused(t *testing.T) {
	w := small(t)
	m, err := w.coordinator(2).Train(t.Context(), w.schema, planOf(t, w.schema, 0, 60), kept)
	must(t, err)
	p := evaluation.Params{Epsilon: dp.Nano, Models: []*model.Model{m}, Threshold: 0.5}
	nothing := func(*evaluation.Release) error { return nil }
	before := w.paid()
	if err := w.coordinator(2).Evaluate(t.Context(), w.schema, p, nothing); kindOf(err) != "not-allowed" {
		t.Errorf("an evaluation without held-out rows: %v", err)
	}
	w.hold()
	held := w.params[1].HeldOut
	w.params[1].HeldOut = nil
	w.allow(1, func(p *Policy) { p.HeldOut = "" })
	if err := w.coordinator(2).Evaluate(t.Context(), w.schema, p, nothing); kindOf(err) != "not-allowed" {
		t.Errorf("an evaluation that the policy does not name: %v", err)
	}
	w.params[1].HeldOut = held
	w.allow(1, func(p *Policy) { p.HeldOut = "held out" })
	if w.paid() != before {
		t.Error("a refused evaluation was paid for")
	}
	_, about, err := w.coordinator(2).DescribeEvaluation(w.schema, p)
	must(t, err)
	about.Evaluation.Models[0] = []byte("no model")
	server, err := New(w.params[0])
	must(t, err)
	if err := server.checkEvaluation(about); kindOf(err) != "malformed" {
		t.Errorf("an evaluation of no model: %v", err)
	}
	same := w.params[0]
	same.HeldOut = &HeldOut{same.HeldOut.Table, same.Rows}
	if _, err := New(same); err == nil || !strings.Contains(err.Error(), "other files") {
		t.Errorf("the rows of trainings are held out, too: %v", err)
	}
	c := w.coordinator(2)
	id := beginEvaluation(t, w, c, p)
	w.params[0].HeldOut.Rows = "others"
	w.restart(0)
	if _, err := c.post(t.Context(), 0, askCall, ask(t, id)); kindOf(err) != "not-allowed" ||
		!strings.Contains(err.Error(), "changed") {
		t.Errorf("held-out rows that have changed: %v", err)
	}
}

// Exact numbers leave if the policy says so, and are those of the site's own rows.
func TestExactEvaluation(t *testing.T) {
	w := small(t)
	m, err := w.coordinator(2).Train(t.Context(), w.schema, planOf(t, w.schema, 0, 60), kept)
	must(t, err)
	parts := w.hold()
	if _, err := w.coordinator(2).EvaluateExactly(t.Context(), m, 0.5); kindOf(err) != "not-allowed" {
		t.Errorf("exact numbers leave without the policy's word: %v", err)
	}
	for i := range w.policies {
		w.allow(i, func(p *Policy) { p.ExactEvaluation = true })
	}
	got, err := w.coordinator(2).EvaluateExactly(t.Context(), m, 0.5)
	must(t, err)
	for i, r := range got {
		scores, err := m.Scores(parts[i].Cols, parts[i].Rows)
		must(t, err)
		want, err := metrics.Evaluate(parts[i].Labels, scores, []string{"c0", "c1"}, 1, 0.5)
		must(t, err)
		if r.Rows != want.Rows || r.Accuracy != want.Accuracy || !slices.Equal(r.Unpredicted, want.Unpredicted) {
			t.Errorf("site %d: %d rows at %g, want %d at %g", i, r.Rows, r.Accuracy, want.Rows, want.Accuracy)
		}
	}
	const good = `"majority":"c0","unpredicted":["c1"],"confusion":{"labels":["c0","c1"],"counts":[[1,0],[1,0]]}`
	for _, change := range [][2]string{{"", ""}, {`"majority":"c0"`, `"majority":"x"`}, {`["c1"]`, `["c1","x"]`}, {`"labels":["c0"`, `"labels":["x"`},
		{`,[1,0]]`, `]`}, {`,[1,0]]`, `,[1,0],[1,0]]`}, {`[1,0]]`, `[1]]`}} {
		w.observe(func(i int, h http.Handler, to http.ResponseWriter, r *http.Request) {
			_, _ = to.Write([]byte("{" + strings.Replace(good, change[0], change[1], 1) + "}"))
		})
		if _, err := w.coordinator(2).EvaluateExactly(t.Context(), m, 0.5); (err == nil) != (change[0] == "") {
			t.Errorf("a site's report with %s in place of %s: %v", change[1], change[0], err)
		}
	}
}

// beginEvaluation begins an evaluation at all sites.
func beginEvaluation(t *testing.T, w *world, c *Coordinator, p evaluation.Params) sites.Digest {
	t.Helper()
	_, about, err := c.DescribeEvaluation(w.schema, p)
	must(t, err)
	text, _, err := c.resume(about)
	must(t, err)
	c.connect()
	id := sites.TrainingDigest(text)
	_, err = c.assemble(t.Context(), about, text, id)
	must(t, err)
	return id
}

// ask is a measurement that no rows have to answer for.
func ask(t *testing.T, id sites.Digest) []byte {
	t.Helper()
	return []byte(`{"training":"` + string(id) + `","number":1,"label":"x","questions":[],"forms":[]}`)
}
