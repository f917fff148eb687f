// SPDX-License-Identifier: Apache-2.0

package sites

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/stats"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/engine/question"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func schemaOf(t testing.TB, levels string) *schema.Schema {
	t.Helper()
	s, err := schema.Parse([]byte(`name: t
unit: one row
relation: add-remove
file: {delimiter: ",", quote: "", header: true}
columns:
  - {name: x, role: private, number: {lower: 0, upper: 10, default: 5}}
  - {name: c, role: private, category: {levels: [a, b, c]}}
  - {name: y, role: private, label: {levels: [` + levels + `, default: n}}
`))
	must(t, err)
	return s
}

// withPersons is s with persons who count for two rows, in a column after the others.
func withPersons(t testing.TB, s *schema.Schema) *schema.Schema {
	t.Helper()
	text, err := s.YAML()
	must(t, err)
	with, err := schema.Parse([]byte("person: {column: id, rows: 2}\n" + strings.Replace(string(text), `  - {name: "y"`,
		"  - {name: id, role: ignored}\n  - {name: \"y\"", 1)))
	must(t, err)
	return with
}

func tableOf(t testing.TB, s *schema.Schema, rows []string) engine.Table {
	t.Helper()
	path, head := filepath.Join(t.TempDir(), "t.csv"), "x,c,y\n"
	if s.Person != nil {
		head = "x,c,id,y\n"
	}
	must(t, os.WriteFile(path, []byte(head+strings.Join(rows, "")), 0o600))
	tab, err := dataset.Read(t.Context(), s, dataset.Options{}, path)
	must(t, err)
	m, err := memory.New(tab)
	must(t, err)
	return m
}

func rowsOf(src rng.Source, n int, labels string) (rows []string) {
	for range n {
		rows = append(rows, fmt.Sprintf("%d,%c,%c\n", rng.Below(src, 11), 'a'+rng.Below(src, 3), labels[rng.Below(src, uint64(len(labels)))]))
	}
	return rows
}

// asker makes measurements of any kind, right and wrong ones.
type asker struct {
	s   *schema.Schema
	src rng.Source
}

func (h *asker) draw(n int) int { return int(rng.Below(h.src, uint64(n))) }

func (h *asker) number() float64 {
	odd := []float64{0, 1, -1, 1e300, -1e300, 1e-300, 0x1p62, -1 << 40}
	if k := h.draw(3 * len(odd)); k < len(odd) {
		return odd[k]
	}
	return float64(h.draw(2001)-1000) / 100
}

func (h *asker) numbers(n int) (out []float64) {
	for range n {
		out = append(out, h.number())
	}
	return out
}

func (h *asker) bins() feature.Bins {
	if h.draw(3) == 0 {
		return feature.NewBins(h.s, 1, nil)
	}
	var edges []float64
	for range h.draw(4) {
		edges = append(edges, float64(h.draw(101))/10)
	}
	slices.Sort(edges)
	return feature.NewBins(h.s, 0, slices.Compact(edges))
}

func (h *asker) shape() *feature.LevelShape {
	sh := &feature.LevelShape{Bins: h.bins()}
	for range h.s.Classes() {
		sh.Steps = append(sh.Steps, h.numbers(sh.Bins.Len()))
	}
	return sh
}

func (h *asker) score() *statistic.StepScore {
	f := statistic.NewStepScore(h.numbers(h.s.Classes()))
	for range h.draw(3) {
		f.AddShape(h.shape(), h.number())
	}
	return f
}

func (h *asker) question() *question.Question {
	q := &question.Question{Kind: question.Sum, Against: engine.WholeLabel}
	if h.draw(10) == 0 {
		q.Against = h.draw(3)
	}
	var bins []feature.Bins
	for range 1 + h.draw(3) {
		bins = append(bins, h.bins())
	}
	switch h.draw(6) {
	case 0, 1:
		score := &feature.Additive{Intercept: h.number()}
		for range h.draw(3) {
			b := h.bins()
			score.Shapes = append(score.Shapes, feature.Shape{Bins: b, Steps: h.numbers(b.Len())})
		}
		if h.draw(3) == 0 {
			bins[0] = feature.Cross(h.bins(), h.bins())
		}
		q.Statistic = statistic.Cells{Under: score, Bins: bins,
			Caps: statistic.Caps{uint32(1 + h.draw(engine.WeightOne)), uint32(1 + h.draw(engine.WeightOne+1))}}
	case 2:
		q.Statistic = statistic.ClassCells{Bins: bins}
	case 3:
		q.Statistic = statistic.ClassSlope{Under: h.score(), Along: h.shape(), Most: math.Abs(h.number())}
	case 4:
		q.Statistic = statistic.ClassResiduals{Under: h.score(), Bins: bins[0]}
	case 5:
		q.Kind = question.Groups
	}
	return q
}

func (h *asker) ask(t *testing.T) *Ask {
	a := &Ask{Label: "rows", Epsilon: dp.Nano}
	for range 1 + h.draw(2) {
		text, err := question.Encode(h.question())
		must(t, err)
		if h.draw(20) == 0 {
			text[h.draw(len(text))] = byte(h.draw(256))
		}
		a.Questions = append(a.Questions, text)
	}
	for range 1 + h.draw(3) {
		f := AskedForm{Question: h.draw(len(a.Questions)), Part: h.draw(3), View: []guard.View{guard.CellsPart, guard.ClassPart,
			guard.AllOfClass, guard.OneClass, guard.ClassesOnce, guard.SlopeView, guard.RowsPart}[h.draw(7)]}
		if f.View == guard.ClassesOnce || h.draw(10) == 0 {
			runs := 1 + h.draw(3)
			for range 2 + h.draw(4) {
				f.Runs = append(f.Runs, h.draw(runs+h.draw(6)/5))
			}
			f.Runs = append(f.Runs, runs)
		}
		if h.draw(20) == 0 {
			f.Question, f.Part = h.draw(5)-1, h.draw(7)-2
		}
		a.Forms = append(a.Forms, f)
	}
	switch h.draw(4) {
	case 0, 1:
		a.Forms = a.Forms[:1]
	case 2:
		a.Forms = slices.Repeat(a.Forms[:1], []int{2, 5, 33}[h.draw(3)])
	}
	return a
}

// Whatever is asked, neighbours answer or refuse alike, and numbers move by no more than the noise is
// sized for: tables without one row, with another row in its place, and without a person's three rows, who
// counts for two.
func TestHostileForms(t *testing.T) {
	answered := map[guard.View]int{}
	nearest := map[string]float64{}
	for trial := range 600 {
		labels := []string{"np", "npq"}[trial%2]
		s := schemaOf(t, strings.Join(strings.Split(labels, ""), ", ")+map[bool]string{true: "], positive: p", false: "]"}[labels == "np"])
		src := replay.Seeded(uint64(trial), "hostile")
		rows := rowsOf(src, 6, labels)
		neighbour, unit := rows[1:], []string{"row", "row", "replaced", "replaced", "person", "person"}[trial%6]
		switch unit {
		case "replaced":
			s.Relation = dp.ReplaceOne
			neighbour = append(rowsOf(src, 1, labels), neighbour...)
		case "person":
			s = withPersons(t, s)
			for i := range rows {
				rows[i] = fmt.Sprintf("%s%d,%s", rows[i][:len(rows[i])-2], max(0, i-2), rows[i][len(rows[i])-2:])
			}
			neighbour = rows[3:]
		}
		tables := []engine.Table{tableOf(t, s, rows), tableOf(t, s, neighbour)}
		h := &asker{s, src}
		for range 8 {
			a := h.ask(t)
			var passages []mechtest.Passage
			var words []string
			for _, tab := range tables {
				tape := &mechtest.Recorder{}
				g, err := guard.Open(t.Context(), guard.Terms{Op: "test", Scope: dp.WholeRow, Price: dp.Price{Epsilon: dp.Nano},
					Bill: pureBill}, tab, guard.Uncounted{}, mech.NewTapedExit(rng.System(), tape))
				must(t, err)
				if s.Person != nil {
					must(t, g.WeighPersons(s.Person.Rows))
				}
				r := &Responder{Guard: g, Honest: 1, Values: 300}
				sum, err := r.sum(a)
				if err == nil {
					_, err = g.Measure("rows", guard.Share{Epsilon: dp.Nano}, sum)
				}
				words = append(words, fmt.Sprint(err))
				passages = append(passages, tape.Passages...)
			}
			if words[0] != words[1] || len(passages)%2 == 1 {
				t.Errorf("neighbours differ: %s, %s", words[0], words[1])
				continue
			}
			if len(passages) == 0 {
				continue
			}
			answered[a.Forms[0].View]++
			if moved, bound := passages[0].Moved(passages[1]), passages[0].Bound; !(moved <= bound*(1+1e-9)) {
				text, _ := json.Marshal(a)
				t.Errorf("a neighbour (%s) moves %s by %g, the noise is for %g", unit, text, moved, bound)
			} else {
				nearest[unit] = max(nearest[unit], moved/bound)
			}
		}
	}
	for unit, part := range nearest {
		if part < 0.99 {
			t.Errorf("no question moves a number by more than %g of the bound (%s)", part, unit)
		}
	}
	if len(answered) != 7 {
		t.Errorf("only these views were answered: %v", answered)
	}
}

// The view of a coordinator that has all sites but H on its side: a count over the rows of these, with
// the noise of each. H is 2, and then 1, and ε is 1.
func TestAuditOfSites(t *testing.T) {
	const trials = 4000
	s := schemaOf(t, "n, p], positive: p")
	tables := [2][2]engine.Table{}
	for side := range 2 {
		tables[side] = [2]engine.Table{tableOf(t, s, []string{"1,a,p\n", "2,a,n\n", "3,a,p\n"}[side:]),
			tableOf(t, s, []string{"1,a,p\n"})}
	}
	text, err := question.Encode(&question.Question{Kind: question.Sum, Against: engine.WholeLabel,
		Statistic: statistic.ClassCells{Bins: []feature.Bins{feature.NewBins(s, 1, nil)}}})
	must(t, err)
	ask := &Ask{Label: "rows", Epsilon: dp.Nano, Questions: []json.RawMessage{text},
		Forms: []AskedForm{{View: guard.AllOfClass}}}
	// totals are what the coordinator knows of the label's second class over the first sites, which draw
	// noise for so many honest ones. With fewer sites, the noise of one is missing, whose row is known.
	totals := func(side, sites, honest int) (out []float64) {
		sized, err := mech.SharedLaplace(dp.Nano, 1, 2, honest)
		must(t, err)
		for range trials {
			var sum []mech.Whole
			for _, tab := range tables[side][:sites] {
				g, err := guard.Open(t.Context(), guard.Terms{Op: "test", Scope: dp.WholeRow, Price: dp.Price{Epsilon: dp.Nano},
					Bill: pureBill}, tab, guard.Uncounted{}, mech.NewExit(rng.System()))
				must(t, err)
				own, err := (&Responder{Guard: g, Honest: honest, Values: 10}).Contribute(t.Context(), ask)
				must(t, err)
				if sum == nil {
					sum = own
					continue
				}
				for k := range sum {
					sum[k] = sum[k].Plus(own[k])
				}
			}
			out = append(out, sized.Floats(sum)[1])
		}
		return out
	}
	// bound is a lower bound on ε: the rows of one side are near its own total more often.
	bound := func(sites, honest int) (most float64) {
		a, b := totals(0, sites, honest), totals(1, sites, honest)
		truth := float64(1 + sites)
		for _, width := range []float64{0.03, 0.1, 0.5} {
			inside := func(x []float64) (n int) {
				for _, v := range x {
					if math.Abs(v-truth) < width {
						n++
					}
				}
				return n
			}
			const alpha = 1e-9 / 36
			most = max(most, math.Log(stats.Lower(inside(a), trials, alpha)/stats.Upper(inside(b), trials, alpha)))
		}
		return most
	}
	for _, honest := range []int{2, 1} {
		if b := bound(honest, honest); b > 1 {
			t.Errorf("%d honest sites lose at least ε = %g, and claim 1", honest, b)
		}
	}
	if b := bound(1, 2); b <= 1 {
		t.Errorf("a site without noise is not found: ε is at least %g", b)
	}
}

// If sites may leave, a coordinator sees each answer by itself, and may hide any, or say that anyone left. Whichever answers it
// adds up, each brings all the noise of one table, so that no sum has less: their law is that of as many whole releases.
func TestAnySumOfAnswersThatShowHasItsNoise(t *testing.T) {
	const n, sites = 3000, 3
	share := guard.Share{Rho: dp.Pico / 8} // σ is 2 where a row moves a number by 1
	bill := []dp.Event{share.Line("rows")}
	price := dp.Price{Epsilon: 8 * dp.Nano, Delta: dp.Femto / 1000}
	about, id, parties, set := assemble(t, sites, 1, bill, price)
	about.MayLeave = 1
	must(t, about.Check())
	s := schemaOf(t, "n, p], positive: p")
	text, err := question.Encode(&question.Question{Kind: question.Sum, Against: engine.WholeLabel,
		Statistic: statistic.ClassCells{Bins: []feature.Bins{feature.NewBins(s, 1, nil)}}})
	must(t, err)
	ask := &Ask{Label: "rows", Rho: share.Rho, Questions: []json.RawMessage{text}, Forms: []AskedForm{{View: guard.OneClass, Part: 1}}}
	tab := tableOf(t, s, []string{"1,a,p\n"})
	masks := masksOf(t, about, id, parties, set)
	answers := func(honest int) (all [sites][]mech.Whole) { // of each site, which has one row of the class
		exit := mech.NewExit(replay.Seeded(5, fmt.Sprint("answers that show", honest)))
		for i := range all {
			for k := range n {
				g, err := guard.Open(t.Context(), about.Terms(), tab, guard.Uncounted{}, exit)
				must(t, err)
				own, err := (&Responder{Guard: g, Honest: honest, Values: 10}).Contribute(t.Context(), ask)
				must(t, err)
				must(t, masks[i].Hide(Digest(fmt.Sprint(k)), own))
				all[i] = append(all[i], own[0])
			}
		}
		return all
	}
	whole, half := answers(about.Honest), answers(2)
	sized, err := mech.SharedGaussian(share.Rho, 1, 1, 1)
	must(t, err)
	for subset := 1; subset < 1<<sites; subset++ {
		sums := func(of [sites][]mech.Whole) (out []float64) {
			for k := range n {
				var sum mech.Whole
				for i := range sites {
					if subset>>i&1 == 1 {
						sum = sum.Plus(of[i][k])
					}
				}
				out = append(out, sized.Floats([]mech.Whole{sum})[0])
			}
			return out
		}
		m := bits.OnesCount(uint(subset))
		cdf := distuv.Normal{Mu: float64(m), Sigma: 2 * math.Sqrt(float64(m))}.CDF
		claim := stattest.Claim{FalsePositive: 1e-9 / 7, Detects: "noise for two sites, of which one is enough"}
		stattest.KS(t, claim, sums(whole), cdf)
		stattest.Rejects(t, func(t stattest.T) { stattest.KS(t, claim, sums(half), cdf) })
	}
}
