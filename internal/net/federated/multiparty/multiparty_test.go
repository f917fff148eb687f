// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// worlds are auxiliary tables: the census, and one whose label has three levels.
func worlds() map[string]*dataset.Table {
	two := censustest.Table(1, 300)
	three := *two
	s := *two.Schema
	s.Label.Levels = []schema.Level{{Value: "low"}, {Value: "mid"}, {Value: "high"}}
	s.Label.Positive = -1
	three.Schema = &s
	three.Labels = append([]uint8(nil), two.Labels...)
	for i := range three.Labels {
		if i%3 == 0 {
			three.Labels[i] = 2
		}
	}
	return map[string]*dataset.Table{"two levels": two, "three levels": &three}
}

func auxiliary(t *dataset.Table) *Auxiliary {
	return &Auxiliary{Cols: t.Cols, Rows: t.Rows, Digest: sha256.Sum256([]byte(t.Schema.Name))}
}

func party(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

// file is a votes file; body writes it.
func file(t testing.TB, h Header, body func(*Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, h, party(h.Party))
	if err != nil {
		t.Fatal(err)
	}
	if err := body(w); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func labelFile(t testing.TB, tab *dataset.Table, name string, codes []uint8) []byte {
	aux := auxiliary(tab)
	return file(t, Header{Party: name, Kind: Labels, Levels: Levels(tab.Schema), Rows: tab.Rows, Aux: aux.Digest},
		func(w *Writer) error { return w.Labels(codes) })
}

func probabilityFile(t testing.TB, tab *dataset.Table, name string, p []float64) []byte {
	aux := auxiliary(tab)
	return file(t, Header{Party: name, Kind: Probabilities, Levels: Levels(tab.Schema), Rows: tab.Rows, Aux: aux.Digest},
		func(w *Writer) error { return w.Probabilities(p) })
}

// random votes of one party.
func random(tab *dataset.Table, src rng.Source) []uint8 {
	codes := make([]uint8, tab.Rows)
	for i := range codes {
		codes[i] = uint8(rng.Below(src, uint64(tab.Schema.Classes())))
	}
	return codes
}

// noisyLabels are the table's own labels, a third of them replaced.
func noisyLabels(tab *dataset.Table, src rng.Source) []uint8 {
	codes := random(tab, src)
	for i := range codes {
		if rng.Below(src, 3) > 0 {
			codes[i] = tab.Labels[i]
		}
	}
	return codes
}

func params(change func(*Params)) Params {
	p := Defaults()
	p.Epsilon, p.Parties = dp.Nano, 8
	if change != nil {
		change(&p)
	}
	return p
}

func tally(t testing.TB, pl *Plan, tab *dataset.Table, files ...[]byte) *Tally {
	t.Helper()
	aux := auxiliary(tab)
	ta, err := pl.NewTally(aux.Rows, aux.Digest)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if _, err := ta.Add(bytes.NewReader(f)); err != nil {
			t.Fatal(err)
		}
	}
	return ta
}

func plan(t testing.TB, p Params, tab *dataset.Table) *Plan {
	t.Helper()
	pl, err := p.Plan(tab.Schema, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	return pl
}

// combine combines under a script and returns what was about to leave.
func combine(t testing.TB, p Params, tab *dataset.Table, script func(k int, p mechtest.Passage) []float64,
	files ...[]byte) (*model.Model, *mechtest.Recorder) {
	t.Helper()
	pl := plan(t, p, tab)
	rec := &mechtest.Recorder{Script: script}
	m, err := pl.Combine(context.Background(), auxiliary(tab), tally(t, pl, tab, files...), guard.Uncounted{},
		mech.NewTapedExit(replay.Seeded(1, "combine"), rec))
	if err != nil {
		t.Fatal(err)
	}
	return m, rec
}

// settings are the ways to combine votes.
func settings(classes int) map[string]Params {
	out := map[string]Params{
		"soft statistic":     params(nil),
		"soft ball":          params(func(p *Params) { p.Shape = Ball; p.Encoding = feature.Ordinal }),
		"soft output":        params(func(p *Params) { p.Form, p.Reg = Output, 0.1 }),
		"soft printed":       params(func(p *Params) { p.Form, p.Mode = Output, Printed }),
		"majority statistic": params(func(p *Params) { p.Method = Majority }),
		"majority output":    params(func(p *Params) { p.Method, p.Form, p.Reg = Majority, Output, 0.1 }),
		"noisy max":          params(func(p *Params) { p.Method, p.Queries = NoisyMax, 40 }),
	}
	if classes == 2 {
		out["soft huber"] = params(func(p *Params) { p.Form, p.Loss, p.Reg = Output, Huber, 0.1 })
		out["majority huber"] = params(func(p *Params) {
			p.Method, p.Form, p.Loss, p.Reg, p.Mode = Majority, Output, Huber,
				0.1, Printed
		})
	}
	return out
}

// What one party hands in moves no release further than declared; under a
// script it moves nothing else (bug row 28 and its like).
func TestOnePartyMovesNothingFurther(t *testing.T) {
	for world, tab := range worlds() {
		for name, p := range settings(tab.Schema.Classes()) {
			t.Run(world+"/"+name, func(t *testing.T) {
				src := replay.Seeded(7, world+name)
				var others [][]byte
				for k := range 5 {
					others = append(others, labelFile(t, tab, fmt.Sprint("other ", k), noisyLabels(tab, src)))
				}
				flat := func(k uint8) []byte { return labelFile(t, tab, "changed", bytes.Repeat([]byte{k}, tab.Rows)) }
				soft := make([]float64, tab.Rows*tab.Schema.Classes())
				for i := range soft {
					soft[i] = float64(rng.Below(src, 1000))
				}
				// Votes that tip every tie, votes of one level, random ones, none.
				changed := [][]byte{flat(0), flat(1), labelFile(t, tab, "changed", random(tab, src)),
					probabilityFile(t, tab, "changed", soft), nil}
				script := func(_ int, p mechtest.Passage) []float64 {
					if p.Choice {
						return []float64{1}
					}
					out := make([]float64, len(p.Values))
					for i := range out {
						out[i] = math.Sin(float64(3*i)) / 10
					}
					return out
				}
				var first []byte
				var passages []mechtest.Passage
				for i, c := range changed {
					files := others
					if c != nil {
						files = append(others[:5:5], c)
					}
					m, rec := combine(t, p, tab, script, files...)
					b := learntest.Bytes(t, m)
					if i == 0 {
						first, passages = b, rec.Passages
						continue
					}
					if !bytes.Equal(first, b) {
						t.Fatalf("neighbour %d: the model differs though the same numbers left", i)
					}
					if dp.Total(rec.Bill()) != p.Epsilon {
						t.Fatalf("neighbour %d: releases cost %s, the bill says %s", i, dp.Total(rec.Bill()), p.Epsilon)
					}
					for k, q := range rec.Passages {
						if moved := passages[k].Moved(q); !(moved <= passages[k].Bound*(1+1e-9)) {
							t.Fatalf("neighbour %d: %s moved %.6g, declared %.6g", i, q.Label, moved, passages[k].Bound)
						}
					}
				}
			})
		}
	}
}

// Nothing of a model but what left may depend on a party: random pairs of
// hand-ins, of labels, of probabilities, or none, under random scripts.
func TestReplayNonInterference(t *testing.T) {
	tab := censustest.Table(4, 40)
	for name, p := range map[string]Params{
		"soft":     params(func(p *Params) { p.Encoding = feature.Ordinal }),
		"majority": params(func(p *Params) { p.Method, p.Encoding = Majority, feature.Ordinal }),
		"queries":  params(func(p *Params) { p.Method, p.Queries, p.Encoding = NoisyMax, 5, feature.Ordinal }),
	} {
		src := replay.Seeded(6, name)
		pl := plan(t, p, tab)
		aux := auxiliary(tab)
		others := [][]byte{labelFile(t, tab, "o1", random(tab, src)), labelFile(t, tab, "o2", random(tab, src))}
		handIn := func() [][]byte {
			switch rng.Below(src, 4) {
			case 0:
				return others
			case 1:
				soft := make([]float64, 2*tab.Rows)
				for i := range soft {
					soft[i] = float64(rng.Below(src, 10))
				}
				return append(others[:2:2], probabilityFile(t, tab, "changed", soft))
			}
			return append(others[:2:2], labelFile(t, tab, "changed", random(tab, src)))
		}
		for pair := range size.Of(60, 350) {
			shift := float64(rng.Below(src, 1000))
			script := func(k int, q mechtest.Passage) []float64 {
				if q.Choice {
					return []float64{float64((k + int(shift)) % 2)}
				}
				out := make([]float64, len(q.Values))
				for i := range out {
					out[i] = math.Sin(shift+float64(3*i)) / 3
				}
				return out
			}
			var models [2][]byte
			var seen [2][]mechtest.Passage
			for side := range models {
				rec := &mechtest.Recorder{Script: script}
				m, err := pl.Combine(context.Background(), aux, tally(t, pl, tab, handIn()...), guard.Uncounted{},
					mech.NewTapedExit(replay.Seeded(1, "combine"), rec))
				if err != nil {
					t.Fatal(err)
				}
				models[side], seen[side] = learntest.Bytes(t, m), rec.Passages
			}
			if !bytes.Equal(models[0], models[1]) || len(seen[0]) != len(seen[1]) {
				t.Fatalf("%s, pair %d: the models differ though the same numbers left", name, pair)
			}
			for k, q := range seen[0] {
				if moved := q.Moved(seen[1][k]); !(moved <= q.Bound*(1+1e-9)) {
					t.Fatalf("%s, pair %d: %s moved %.6g, declared %.6g", name, pair, q.Label, moved, q.Bound)
				}
			}
		}
	}
}

// One party that turns all of its votes moves the shaped statistic by all that
// is declared, so no noise is wasted; and so does the party that tips a majority.
func TestSensitivityIsReached(t *testing.T) {
	for world, tab := range worlds() {
		for _, c := range []struct {
			name   string
			p      Params
			others int
		}{
			{"soft", params(nil), 7}, {"majority", params(func(p *Params) { p.Method, p.Parties = Majority, 5 }), 4},
		} {
			var others [][]byte
			for k := range c.others {
				others = append(others, labelFile(t, tab, fmt.Sprint("other ", k), bytes.Repeat([]byte{byte(k % 2)}, tab.Rows)))
			}
			var seen []mechtest.Passage
			for k := range 2 {
				_, rec := combine(t, c.p, tab, nil, append(others[:c.others:c.others],
					labelFile(t, tab, "changed", bytes.Repeat([]byte{byte(k)}, tab.Rows)))...)
				seen = append(seen, rec.Passages...)
			}
			if got := seen[0].Moved(seen[1]) / seen[0].Bound; !(got <= 1 && got > 0.99) {
				t.Errorf("%s, %s: a party moves %.4f of what is declared, want .99 to 1", world, c.name, got)
			}
		}
	}
}

// The statistic is the plain mean of votes times rows, an absent party's
// constant vote included.
func TestStatisticIsTheNaiveMean(t *testing.T) {
	for world, tab := range worlds() {
		src := replay.Seeded(3, "naive")
		p := params(func(p *Params) { p.Shape, p.Parties = Ball, 4 })
		votes := [][]uint8{random(tab, src), random(tab, src), random(tab, src)}
		var files [][]byte
		for k, v := range votes {
			files = append(files, labelFile(t, tab, fmt.Sprint(k), v))
		}
		_, rec := combine(t, p, tab, nil, files...)
		pl := plan(t, p, tab)
		d, levels := pl.countCoefficients(), pl.Levels()
		mean := make([]float64, levels*d)
		scale := 1 / math.Sqrt(float64(len(pl.space.Columns)+1))
		for i := range tab.Rows {
			row := make([]float64, d)
			for k, j := range pl.space.Columns {
				f, x := pl.space.Cell(k, &tab.Cols[j], int(tab.Cols[j].Codes.At(i)))
				row[f] = x * scale
			}
			row[d-1] = scale
			for level := range levels {
				share := 1 / float64(levels) // the absent party
				for _, v := range votes {
					if int(v[i]) == level {
						share++
					}
				}
				for f, x := range row {
					mean[level*d+f] += share / 4 * x / float64(tab.Rows)
				}
			}
		}
		for f := range d {
			var want []float64
			if levels == 2 {
				want = []float64{mean[tab.Schema.Label.Positive*d+f]}
			} else {
				want = []float64{(mean[f] - mean[d+f]) / math.Sqrt2, (mean[f] + mean[d+f] - 2*mean[2*d+f]) / math.Sqrt(6)}
			}
			for c, x := range want {
				if got := rec.Passages[0].Values[c*d+f].Float(); !(math.Abs(got-x) < 1e-10) {
					t.Fatalf("%s: coordinate %d of feature %d is %.12g, want %.12g", world, c, f, got, x)
				}
			}
		}
	}
}

// The same hand-ins serve other choices, and then take no more.
func TestTallyServesOtherPlans(t *testing.T) {
	tab := worlds()["two levels"]
	src := replay.Seeded(9, "plans")
	file := labelFile(t, tab, "a", noisyLabels(tab, src))
	exact := func(p *Params) { p.Epsilon, p.NotPrivate, p.Reg = 0, true, 0.01 }
	first := tally(t, plan(t, params(exact), tab), tab, file)
	other := params(func(p *Params) { exact(p); p.Method = Majority })
	pl := plan(t, other, tab)
	shared, err := first.For(pl)
	if err != nil {
		t.Fatal(err)
	}
	a, err := pl.Combine(context.Background(), auxiliary(tab), shared, guard.Uncounted{},
		mech.NewTapedExit(replay.Seeded(1, ""), &mechtest.Recorder{}))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := combine(t, other, tab, nil, file)
	if !bytes.Equal(learntest.Bytes(t, a), learntest.Bytes(t, b)) {
		t.Error("shared hand-ins make another model than their own")
	}
	if _, err := first.Add(bytes.NewReader(labelFile(t, tab, "b", noisyLabels(tab, src)))); err == nil {
		t.Error("a shared tally takes another file")
	}
	if _, err := first.For(plan(t, params(func(p *Params) { p.Parties = 9 }), tab)); err == nil {
		t.Error("hand-ins of 8 parties serve a plan for 9")
	}
}

// Without noise, all forms of one objective find one minimum.
func TestFormsAgreeWithoutNoise(t *testing.T) {
	for world, tab := range worlds() {
		src := replay.Seeded(5, world)
		var files [][]byte
		for k := range 8 {
			files = append(files, labelFile(t, tab, fmt.Sprint(k), noisyLabels(tab, src)))
		}
		exact := func(change func(*Params)) []float64 {
			p := params(func(p *Params) { p.Epsilon, p.NotPrivate, p.Reg, p.Shape = 0, true, 0.01, Ball; change(p) })
			m, _ := combine(t, p, tab, nil, files...)
			if l, ok := m.Classifier.(*model.Linear); ok {
				return append(l.Coef[1], l.Bias[1])
			}
			l := m.Classifier.(*model.Logistic)
			return append(l.Coef, l.Bias)
		}
		a, b := exact(func(*Params) {}), exact(func(p *Params) { p.Form = Output })
		for f := range a {
			if !(math.Abs(a[f]-b[f]) < 1e-6) {
				t.Fatalf("%s: coefficient %d is %.9g from the statistic and %.9g as output", world, f, a[f], b[f])
			}
		}
	}
}

// The walk ends at a minimum: softmax of three levels by central differences.
func TestSoftmaxGradient(t *testing.T) {
	tab := worlds()["three levels"]
	pl := plan(t, params(nil), tab)
	p := newPublic(pl, auxiliary(tab))
	w := make([]float64, pl.outputLength())
	src := replay.Seeded(2, "gradient")
	for i := range w {
		w[i] = float64(rng.Below(src, 2000))/1000 - 1
	}
	value := func(w []float64) (sum float64) {
		coef := p.spreadByFeature(w)
		d, scale := pl.countCoefficients(), p.scale
		for i := range tab.Rows {
			total := 0.0
			for k := range 3 {
				z := coef[(d-1)*3+k] * scale
				for c, j := range pl.space.Columns {
					f, x := pl.space.Cell(c, &tab.Cols[j], int(tab.Cols[j].Codes.At(i)))
					z += coef[f*3+k] * x * scale
				}
				total += math.Exp(z)
			}
			sum += math.Log(total) / float64(tab.Rows)
		}
		return sum
	}
	grad, err := p.softmaxGradient(context.Background(), w)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 5, pl.countCoefficients() - 1, pl.countCoefficients(), pl.outputLength() - 1} {
		at := w[i]
		w[i] = at + 1e-5
		up := value(w)
		w[i] = at - 1e-5
		down := value(w)
		w[i] = at
		if want := (up - down) / 2e-5; !(math.Abs(grad[i]-want) < 1e-8) {
			t.Errorf("slope %d is %.9g, want %.9g", i, grad[i], want)
		}
	}
}

// Average: the mean of clipped vectors, absent parties at 0.
func TestAverage(t *testing.T) {
	tab := worlds()["two levels"]
	p := params(func(p *Params) { p.Method, p.Parties, p.Bound = Average, 4, 2 })
	pl := plan(t, p, tab)
	h := func(name string) Header {
		return Header{Party: name, Kind: Coefficients, Levels: Levels(tab.Schema), Rows: tab.Rows, Aux: auxiliary(tab).Digest,
			Encoder: string(p.Encoding), Layout: pl.space.Names}
	}
	small, large := make([]float64, pl.countCoefficients()), make([]float64, pl.countCoefficients())
	small[0], large[1], large[2] = 1, 3e200, 4e200
	var files [][]byte
	for name, w := range map[string][]float64{"small": small, "large": large} {
		files = append(files, file(t, h(name), func(v *Writer) error { return v.Coefficients(w) }))
	}
	_, rec := combine(t, p, tab, nil, files...)
	got := rec.Passages[0]
	for f, want := range []float64{0.25, 2 * 0.6 / 4, 2 * 0.8 / 4, 0} {
		if x := got.Values[f].Float(); !(math.Abs(x-want) < 1e-8) {
			t.Errorf("coefficient %d of the mean is %.9g, want %.9g", f, x, want)
		}
	}
	if want := 2 * 2 / 4.0; !(math.Abs(got.Bound-want) < 1e-9) {
		t.Errorf("declared %.9g, want 2B/M = %g", got.Bound, want)
	}
	// A party at one end of the ball, then at the other.
	var seen []mechtest.Passage
	for _, x := range []float64{7, -7} {
		w := make([]float64, pl.countCoefficients())
		w[3] = x
		_, rec := combine(t, p, tab, nil, file(t, h("changed"), func(v *Writer) error { return v.Coefficients(w) }))
		seen = append(seen, rec.Passages...)
	}
	if moved := seen[0].Moved(seen[1]) / seen[0].Bound; !(moved <= 1 && moved > 0.999) {
		t.Errorf("the ends of the ball lie %.6f of the declared bound apart, want .999 to 1", moved)
	}
}

// Queries cost what the bill says, repeat for nothing, and end.
func TestQueriesEnd(t *testing.T) {
	tab := worlds()["two levels"]
	pl := plan(t, params(func(p *Params) { p.Method, p.Queries = NoisyMax, 3 }), tab)
	rec, acct := &mechtest.Recorder{}, &purse{dp.MaxEpsilon}
	q, err := pl.Ask(tally(t, pl, tab), acct, mech.NewTapedExit(replay.Seeded(1, "queries"), rec))
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range []int{0, 7, 7, 9} {
		if _, err := q.Answer(t.Context(), row); err != nil {
			t.Fatalf("query %d: %v", i, err)
		}
	}
	if _, err := q.Answer(t.Context(), 10); err != ErrSpent {
		t.Errorf("a query beyond the budget: %v, want ErrSpent", err)
	}
	if _, err := q.Answer(t.Context(), 7); err != nil {
		t.Errorf("a repeated query: %v", err)
	}
	if dp.Total(rec.Bill()) != pl.Epsilon || len(rec.Passages) != 3 {
		t.Errorf("%d answers cost %s, want 3 for %s", len(rec.Passages), dp.Total(rec.Bill()), pl.Epsilon)
	}
	if paid := dp.MaxEpsilon - acct.left; paid != pl.Epsilon {
		t.Errorf("three answers were charged %s, want %s", paid, pl.Epsilon)
	}
}

// purse is an account with so much in it.
type purse struct{ left dp.Epsilon }

func (p *purse) Charge(_ context.Context, price dp.Price, _ []dp.Event) error {
	if price.Epsilon > p.left {
		return errEmpty
	}
	p.left -= price.Epsilon
	return nil
}

func (*purse) Counted() bool { return true }

var errEmpty = errors.New("the purse is empty")

// An answer that the account does not pay for is not drawn.
func TestUnpaidAnswersAreNotDrawn(t *testing.T) {
	tab := worlds()["two levels"]
	pl := plan(t, params(func(p *Params) { p.Method, p.Queries = NoisyMax, 3 }), tab)
	rec := &mechtest.Recorder{}
	q, err := pl.Ask(tally(t, pl, tab), &purse{pl.bill[0].Epsilon + pl.bill[1].Epsilon},
		mech.NewTapedExit(replay.Seeded(1, "unpaid"), rec))
	if err != nil {
		t.Fatal(err)
	}
	for row := range 2 {
		if _, err := q.Answer(t.Context(), row); err != nil {
			t.Fatalf("query %d: %v", row, err)
		}
	}
	if _, err := q.Answer(t.Context(), 2); !errors.Is(err, errEmpty) || len(rec.Passages) != 2 {
		t.Errorf("a query that nobody pays for: %v after %d draws, want a refusal after 2", err, len(rec.Passages))
	}
	if _, err := q.Answer(t.Context(), 1); err != nil {
		t.Errorf("a repeated query: %v", err)
	}
}

// Hundreds of parties that are right two times out of three teach almost all.
func TestManyPartiesTeach(t *testing.T) {
	for world, tab := range worlds() {
		src := replay.Seeded(11, world)
		var files [][]byte
		for k := range 400 {
			files = append(files, labelFile(t, tab, fmt.Sprint(k), noisyLabels(tab, src)))
		}
		score := func(p Params) float64 {
			m, _ := combine(t, p, tab, nil, files...)
			z, err := m.Scores(tab.Cols, tab.Rows)
			if err != nil {
				t.Fatal(err)
			}
			hits := 0
			for i, l := range m.Labels(z) {
				if l == tab.Labels[i] {
					hits++
				}
			}
			return float64(hits) / float64(tab.Rows)
		}
		best := score(params(func(p *Params) { p.Epsilon, p.NotPrivate, p.Parties = 0, true, 400 }))
		private := score(params(func(p *Params) { p.Parties = 400; p.Epsilon = 4 * dp.Nano }))
		if !(private > best-0.1) {
			t.Errorf("%s: accuracy %.3f at epsilon 4 with 400 parties, %.3f without noise", world, private, best)
		}
	}
}

// largest is an upper bound, and close, where the eigenvalues are known.
func TestLargestIsAnUpperBound(t *testing.T) {
	tab := worlds()["two levels"]
	pl := plan(t, params(nil), tab)
	g, err := newPublic(pl, auxiliary(tab)).computeMoments(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, pl.countCoefficients())
	for i := range x {
		x[i] = 1
	}
	value := 0.0
	for range 2000 { // power iteration: from below
		y := make([]float64, len(x))
		for i := range y {
			for j := range x {
				y[i] += g.At(i, j) * x[j]
			}
		}
		value = euclideanNorm(y)
		for i := range x {
			x[i] = y[i] / value
		}
	}
	if got := boundEigenvalue(g); !(got >= value*(1-1e-12) && got < value*1.001) {
		t.Errorf("bound %.9g on an eigenvalue of %.9g", got, value)
	}
}

// Every refusal of a file says what must be so and repeats nothing private.
func TestTallyRefuses(t *testing.T) {
	tab := worlds()["two levels"]
	other := *tab
	s := *tab.Schema
	s.Name = "another"
	other.Schema = &s
	votes := make([]uint8, tab.Rows)
	good := labelFile(t, tab, "a", votes)
	for _, c := range []struct {
		name  string
		files [][]byte
		want  string
	}{
		{"another table", [][]byte{labelFile(t, &other, "a", votes)}, "byte for byte"},
		{"twice", [][]byte{good, good}, "once"},
		{"too many", [][]byte{good, labelFile(t, tab, "b", votes), labelFile(t, tab, "c", votes)}, "at most 2"},
		{"a flipped vote", [][]byte{append(append([]byte{}, good[:len(good)-70]...),
			append([]byte{1}, good[len(good)-69:]...)...)}, "signature"},
		{"cut", [][]byte{good[:len(good)-80]}, "more items"},
		{"unsigned", [][]byte{good[:len(good)-1]}, "signature"},
		{"longer", [][]byte{append(append([]byte{}, good...), 0)}, "nothing may follow"},
		{"not a votes file", [][]byte{[]byte("age,sex\n1,2\n")}, "must begin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			pl := plan(t, params(func(p *Params) { p.Parties = 2 }), tab)
			ta := tally(t, pl, tab)
			var err error
			for _, f := range c.files {
				if _, err = ta.Add(bytes.NewReader(f)); err != nil {
					break
				}
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want an error with %q", err, c.want)
			}
		})
	}
}

// A name of 128 bytes is the longest, and 2^46 votes by level are the most whose sums fit.
func TestLimits(t *testing.T) {
	for n, want := range map[int]bool{0: false, 1: true, 128: true, 129: false} {
		if isName(strings.Repeat("n", n)) != want {
			t.Errorf("a name of %d bytes: want %t", n, want)
		}
	}
	for parties, want := range map[int]bool{1 << 14: true, 1<<14 + 1: false} {
		p := params(func(p *Params) { p.Parties = parties })
		if _, err := p.Plan(worlds()["two levels"].Schema, 1<<31-1); (err == nil) != want {
			t.Errorf("%d parties: %v", parties, err)
		}
	}
}

// Probabilities become units that add up, whatever they were.
func TestUnitsAddUp(t *testing.T) {
	for _, p := range [][]float64{{0, 0}, {1, 0}, {0.5, 0.5}, {math.NaN(), 1}, {math.Inf(1), 1}, {-1, 2}, {1e-300, 1e300},
		{1, 1, 1}, {0.1, 0.2, 0.7}, {1e308, 1e308}} {
		sum := 0
		got := roundToUnits(p)
		for _, u := range got {
			sum += int(u)
		}
		if sum != One {
			t.Errorf("units(%v) = %v add up to %d, want %d", p, got, sum, One)
		}
	}
	if got := roundToUnits([]float64{3, 1}); got[0] != 49151 || got[1] != 16384 {
		t.Errorf("units(3, 1) = %v, want 49151 and 16384", got)
	}
	if got := roundToUnits([]float64{math.NaN(), 1, 1}); got[0] != 21845 || got[2] != 21845 {
		t.Errorf("units(NaN, 1, 1) = %v, want thirds", got)
	}
}

// FuzzReader: whatever is read to its end can be written again, to the byte.
func FuzzReader(f *testing.F) {
	tab := worlds()["three levels"]
	tab.Rows = 3
	f.Add(labelFile(f, tab, "a", []uint8{0, 1, 2}))
	f.Add(probabilityFile(f, tab, "b", []float64{1, 0, 0, 1, 2, 3, 0, 0, 0}))
	f.Add(file(f, Header{Party: "c", Kind: Coefficients, Levels: []string{"n", "y"}, Rows: 3, Encoder: "onehot",
		Layout: []string{"x"}}, func(w *Writer) error { return w.Coefficients([]float64{1, -2}) }))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := NewReader(bytes.NewReader(b))
		if err != nil {
			return
		}
		total := 0
		for {
			body, _, err := r.nextPart()
			total += len(body)
			if err == io.EOF {
				break
			}
			if err != nil {
				return
			}
		}
		text, err := r.Header.encodeText()
		if err != nil || len(magic)+len(text)+total+64 != len(b) || !bytes.Equal(text, b[len(magic):][:len(text)]) {
			t.Errorf("an accepted file is not in its one form: %v", err)
		}
	})
}
