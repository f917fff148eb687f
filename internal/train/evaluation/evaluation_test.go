// SPDX-License-Identifier: Apache-2.0

package evaluation

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/metrics"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// scoring is a model of the schema whose scores follow from one column.
func scoring(s *schema.Schema, stretch float64) *model.Model {
	own := *s
	own.Person, own.Parts, own.Pairs = nil, "", nil
	j := slices.IndexFunc(s.Columns, func(c schema.Column) bool { return c.Kind == schema.Number && c.Role != schema.Ignored })
	c := &s.Columns[j]
	var edges []float64
	for k := 1; k < 9; k++ {
		edges = append(edges, c.Lower+(c.Upper-c.Lower)*float64(k)/9)
	}
	m := &model.Model{Learner: "additive", Schema: &own, Privacy: model.Privacy{Scope: dp.Nothing, Relation: s.Relation,
		Unit: s.Unit, NotPrivate: true, Statement: "none"}}
	bins := len(edges) + 1 + c.Marks()
	steps := func(class int) (out []float64) {
		for b := range bins {
			out = append(out, stretch*float64((b*(class+3))%bins-4))
		}
		return out
	}
	if s.Classes() == 2 {
		m.Classifier = &model.Additive{Shapes: []model.Shape{{Column: c.Name, Edges: edges, LogOdds: steps(0),
			Noise: make([]float64, bins)}}}
		return m
	}
	all := model.ClassShape{Column: c.Name, Edges: edges}
	for class := range s.Classes() {
		all.LogShares = append(all.LogShares, steps(class))
		all.Noise = append(all.Noise, make([]float64, bins))
	}
	m.Classifier = &model.MulticlassAdditive{Intercepts: make([]float64, s.Classes()), Shapes: []model.ClassShape{all}}
	return m
}

// counted is the release of a table by a tape that lets exact numbers out.
func counted(t *testing.T, pl *Plan, tab *dataset.Table) (*Release, *mechtest.Recorder) {
	t.Helper()
	return countedWith(t, pl, tab, nil)
}

// countedWith is counted with noise.
func countedWith(t *testing.T, pl *Plan, tab *dataset.Table, noise []float64) (*Release, *mechtest.Recorder) {
	t.Helper()
	cut, err := pl.Cut(tab)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := memory.New(cut)
	if err != nil {
		t.Fatal(err)
	}
	tape := &mechtest.Recorder{Script: func(_ int, p mechtest.Passage) (out []float64) {
		for _, v := range p.Values {
			out = append(out, v.Float())
		}
		for i, x := range noise {
			out[i] += x
		}
		return out
	}}
	r, err := guard.Train(context.Background(), pl, rows, guard.Uncounted{}, mech.NewTapedExit(replay.Seeded(1, "coins"), tape))
	if err != nil {
		t.Fatal(err)
	}
	return r, tape
}

// setting is a table and a plan for it.
type setting struct {
	tab    *dataset.Table
	params Params
	what   string
}

// settingOf draws one: any relation, roles, number of classes and of cells, persons, one model or two, and a δ or none.
func settingOf(src rng.Source) setting {
	draw := func(n int) int { return int(rng.Below(src, uint64(n))) }
	tab := censustest.Table(uint64(draw(1000)), 40)
	classes := 2
	if draw(3) == 0 {
		classes = []int{3, 3, 3, 3, 4, 9, 20}[draw(7)]
		tab = learntest.Levels(tab, classes, nil)
	}
	s := *tab.Schema
	s.Columns, s.Relation = slices.Clone(s.Columns), dp.ReplaceOne
	role := func() schema.Role { return []schema.Role{schema.Public, schema.Private}[draw(2)] }
	same := draw(2) == 0 // all columns of one role
	one := role()
	for j := range s.Columns {
		if s.Columns[j].Role == schema.Ignored {
			continue
		}
		if s.Columns[j].Role = role(); same {
			s.Columns[j].Role = one
		}
	}
	s.Label.Role = role()
	if draw(3) == 0 {
		s.Relation = dp.AddRemove
	}
	tab.Schema = &s
	if draw(3) == 0 {
		tab = learntest.WithPersons(tab, src, 1)
	}
	p := Params{Epsilon: []dp.Epsilon{dp.Nano / 10, dp.Nano, 100 * dp.Nano}[draw(3)], Models: []*model.Model{scoring(&s, 1)}, Threshold: 0.5}
	if classes == 2 && draw(2) == 0 {
		p.Models = append(p.Models, scoring(&s, 0.3))
	}
	if draw(3) == 0 {
		p.Delta = dp.Femto / 1000
	}
	if classes == 2 && len(p.Models) == 1 && draw(2) == 0 {
		for _, c := range s.Columns {
			if c.Kind == schema.Category && c.Role != schema.Ignored && (p.By == "" || draw(2) == 0) {
				p.By = c.Name
			}
		}
	}
	return setting{tab, p, fmt.Sprintf("%s, %s, %d classes, %d models, by %q, persons %v, epsilon %s, delta %s", s.Relation, scopeOf(&s),
		classes, len(p.Models), p.By, tab.Schema.Person != nil, p.Epsilon, p.Delta)}
}

// Neighbours move the measured counts by what the noise is sized for at most, and nothing else of a
// release differs: with equal noise it is the same to the byte.
func TestNeighboursMoveTheCountsAsDeclared(t *testing.T) {
	src := replay.Seeded(1, "neighbours of an evaluation")
	reached := map[mech.Norm]float64{}
	kinds := map[string]bool{}
	for range 300 {
		c := settingOf(src)
		scope := scopeOf(c.tab.Schema)
		a, b := c.tab, (*dataset.Table)(nil)
		switch {
		case a.Schema.Person != nil:
			a, b = learntest.PersonNeighbours(a, src, scope)
		case a.Schema.Relation == dp.AddRemove:
			b = learntest.WithoutRow(a, 3)
		default:
			b = learntest.Neighbour(a, src, scope)
		}
		var tapes [2]*mechtest.Recorder
		var texts [2]string
		for side, tab := range []*dataset.Table{a, b} {
			units := 0
			if tab.Schema.Relation == dp.ReplaceOne {
				rows, err := memory.New(tab)
				if err != nil {
					t.Fatal(err)
				}
				units = guard.PublicUnits(rows)
			}
			pl, err := c.params.Plan(tab.Schema, units)
			if err != nil {
				t.Fatal(c.what, err)
			}
			cut, err := pl.Cut(tab)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := memory.New(cut)
			if err != nil {
				t.Fatal(err)
			}
			tapes[side] = &mechtest.Recorder{Script: func(_ int, p mechtest.Passage) []float64 {
				out := make([]float64, len(p.Values))
				for i := range out {
					out[i] = float64(i%7) + 0.25
				}
				return out
			}}
			r, err := guard.Train(t.Context(), pl, rows, guard.Uncounted{}, mech.NewTapedExit(replay.Seeded(1, "coins"), tapes[side]))
			if err != nil {
				t.Fatal(c.what, err)
			}
			text, err := r.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			report, err := r.Report(Choice{})
			if err != nil {
				t.Fatal(err)
			}
			var people strings.Builder
			if err := report.WriteText(&people); err != nil {
				t.Fatal(err)
			}
			texts[side] = string(text) + people.String()
		}
		if texts[0] != texts[1] {
			t.Fatalf("%s: neighbours are told apart:\n%s\nagainst:\n%s", c.what, texts[0], texts[1])
		}
		if len(tapes[0].Passages) != 1 || len(tapes[1].Passages) != 1 {
			t.Fatalf("%s: %d measurements", c.what, len(tapes[0].Passages))
		}
		p, q := tapes[0].Passages[0], tapes[1].Passages[0]
		moved := p.Moved(q) / p.Bound
		if moved > 1+1e-9 || p.Bound != q.Bound {
			t.Fatalf("%s: the counts move by %g of what is declared", c.what, moved)
		}
		reached[p.Norm] = max(reached[p.Norm], moved)
		kinds[string(scope)] = true
	}
	if reached[mech.L1] < 0.999 || reached[mech.L2] < 0.999 || len(kinds) != 4 {
		t.Errorf("the search reached %v of the bounds, in scopes %v", reached, kinds)
	}
}

// The counts are those of a loop over rows.
func TestCountsByHand(t *testing.T) {
	src := replay.Seeded(2, "counts of an evaluation")
	for range 60 {
		c := settingOf(src)
		pl, err := c.params.Plan(c.tab.Schema, 0)
		if err != nil {
			t.Fatal(err)
		}
		r, _ := counted(t, pl, c.tab)
		s := c.tab.Schema
		weights := make([]float64, c.tab.Rows)
		for i := range weights {
			weights[i] = 1
			if s.Person != nil {
				same := 0
				for _, p := range c.tab.Persons {
					if p == c.tab.Persons[i] {
						same++
					}
				}
				if weights[i] = math.Floor(guard.WeightOne/float64(same)) / guard.WeightOne; c.tab.Persons[i] == dataset.Nobody {
					weights[i] = 0
				}
			}
		}
		want := make([][]float64, len(r.Cells))
		for k := range want {
			want[k] = make([]float64, len(r.Cells[k]))
		}
		cellOf := func(score float64) (cell int) {
			for _, cut := range r.Cuts {
				if score >= cut {
					cell++
				}
			}
			return cell
		}
		cells := len(r.Cuts) + 1
		var scores [][]float64
		for _, m := range c.params.Models {
			x, err := m.Scores(c.tab.Cols, c.tab.Rows)
			if err != nil {
				t.Fatal(err)
			}
			scores = append(scores, x)
		}
		for i, y := range c.tab.Labels {
			own := func(class int) int {
				if int(y) == class {
					return 1
				}
				return 0
			}
			switch width := c.params.Models[0].Width(); {
			case len(scores) == 2:
				want[0][2*(cellOf(scores[0][i])*cells+cellOf(scores[1][i]))+own(s.Label.Positive)] += weights[i]
			case width == 1:
				group := 0
				if c.params.By != "" {
					group = int(c.tab.Cols[s.Find(c.params.By)].Codes.At(i))
				}
				want[0][2*(group*cells+cellOf(scores[0][i]))+own(s.Label.Positive)] += weights[i]
			default:
				best := 0
				for k := range width {
					want[k][2*cellOf(scores[0][i*width+k])+own(k)] += weights[i]
					if scores[0][i*width+k] > scores[0][i*width+best] {
						best = k
					}
				}
				want[width][own(best)] += weights[i]
			}
		}
		for k := range want {
			for i, x := range want[k] {
				if math.Abs(x-r.Cells[k][i]) > 1e-9 {
					t.Fatalf("%s: cell %d of %d has %g, want %g", c.what, i, k, r.Cells[k][i], x)
				}
			}
		}
	}
}

// With exact counts of many rows every number is near the one that package metrics finds, and its
// interval holds it; exactly so if each score has a cell of its own.
func TestReportOfExactCounts(t *testing.T) {
	tab := censustest.Table(3, 20000)
	few, many := scoring(tab.Schema, 0.4), scoring(tab.Schema, 0.4)
	sh := &many.Classifier.(*model.Additive).Shapes[0]
	j := slices.IndexFunc(tab.Schema.Columns, func(c schema.Column) bool { return c.Name == sh.Column })
	c := &tab.Schema.Columns[j]
	sh.Edges, sh.LogOdds = nil, nil
	for k := range 400 {
		sh.Edges = append(sh.Edges, c.Lower+(c.Upper-c.Lower)*(float64(k)+0.5)/400)
	}
	for b := range 401 + c.Marks() {
		sh.LogOdds = append(sh.LogOdds, float64(b%401)/60-3)
	}
	sh.Noise = make([]float64, len(sh.LogOdds))
	t.Run("few scores", func(t *testing.T) { reportsExactCounts(t, tab, few, 1e-9) })
	t.Run("many scores", func(t *testing.T) { reportsExactCounts(t, tab, many, 0.02) })
}

func reportsExactCounts(t *testing.T, tab *dataset.Table, m *model.Model, off float64) {
	s := tab.Schema
	pl, err := Params{Epsilon: 100 * dp.Nano, Models: []*model.Model{m}, Threshold: 0.3}.Plan(s, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	if (pl.grid.points != nil) != (off < 1e-3) {
		t.Fatalf("%d scores have a cell of their own", len(pl.grid.points))
	}
	r, _ := counted(t, pl, tab)
	r.Variance = 0
	report, err := r.Report(Choice{})
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := report.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	auc, _ := report.Find("auc")
	for _, word := range []string{fmt.Sprintf("<td>%.4f</td><td>%.4f</td><td>%.4f</td>", auc.Value, auc.Low, auc.High), "Calibration",
		"Precision and recall", "score at least 0.3", "epsilon = 100 protects"} {
		if !strings.Contains(page.String(), word) {
			t.Errorf("the page lacks %s", word)
		}
	}
	scores, err := m.Scores(tab.Cols, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	want, err := metrics.Evaluate(tab.Labels, scores, r.Levels, s.Label.Positive, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ want, off float64 }{
		"accuracy": {want.Accuracy, 1e-12}, "precision": {*want.Ranking.Precision, 1e-12}, "recall": {*want.Ranking.Recall, 1e-12},
		"predicted_rate": {want.Ranking.PredictedRate, 1e-12}, "positive_rate": {want.Ranking.PositiveRate, 1e-12},
		"auc": {*want.AUC, off}, "log_loss": {want.LogLoss, off}, "pr_auc": {*want.Ranking.PRAUC, 0.03},
		"lift_at_10_percent": {*want.Ranking.LiftTop10, 0.05},
	} {
		e, ok := report.Find(name)
		if !ok || !e.Known || math.Abs(e.Value-c.want) > c.off || !(e.Low <= e.Value && e.Value <= e.High) ||
			e.High-e.Low > 0.2 {
			t.Errorf("%s is %v, want %g", name, e, c.want)
		}
	}
}

// Scores are those of calibrated predictions, most of them near the lower ends of their groups. So the shares of the groups
// are far from the middles of the groups, and each box of the page meets the diagonal.
func TestCalibratedScoresAreDrawnSo(t *testing.T) {
	report, err := calibratedRelease(4).Report(Choice{})
	if err != nil {
		t.Fatal(err)
	}
	line := report.charts().calibration[0].Lines[0]
	off := 0
	for k, low := range line.Low {
		if low > line.Until[k] || line.High[k] < line.X[k] {
			t.Errorf("the group from %g to %g has the share %g to %g", line.X[k], line.Until[k], low, line.High[k])
		}
		if middle := (line.X[k] + line.Until[k]) / 2; middle < low || middle > line.High[k] {
			off++
		}
	}
	if off == 0 {
		t.Error("no group is far from its middle")
	}
}

// calibratedRelease is a release of calibrated scores, fewer the higher they are, with noise of the given variance.
func calibratedRelease(variance float64) *Release {
	src := rand.New(rand.NewPCG(5, 11))
	g := newGrid(14, 0.5, false)
	r := &Release{Levels: []string{"no", "yes"}, Positive: 1, Cuts: g.cuts, Models: 1, Threshold: 0.5, Variance: variance, Cells: [][]float64{nil}}
	for k := range g.cells() {
		rows := 4000 * math.Exp(-0.7*math.Max(0, float64(k)-4))
		score := g.meanScore(k)*0.8 + 0.2*logistic(g.edges[k])
		for _, share := range []float64{1 - score, score} {
			r.Cells[0] = append(r.Cells[0], rows*share+math.Sqrt(variance)*src.NormFloat64())
		}
	}
	return r
}

// A net benefit is at most the share of positive rows, and unknown where its interval says nothing.
func TestNetBenefitIsLimited(t *testing.T) {
	report, err := calibratedRelease(100).Report(Choice{})
	if err != nil {
		t.Fatal(err)
	}
	rate, _ := report.Find("positive_rate")
	known := 0
	for _, p := range report.Points {
		for _, n := range p.Numbers {
			if n.Name != benefitName {
				continue
			}
			if n.Value > rate.Value || n.High > 1.5*rate.High || n.Known && n.High-n.Low > 3*rate.High {
				t.Errorf("at %g the net benefit is %v, of positive rows %v", p.Threshold, n.Estimate, rate)
			}
			if n.Known {
				known++
			}
		}
	}
	if known == 0 || known == len(report.Points) {
		t.Errorf("%d of %d are known", known, len(report.Points))
	}
}

// Noise in the highest cells, which have hardly any rows, hardly moves the area under the curve of precision and recall.
func TestAveragePrecisionIsSmooth(t *testing.T) {
	n := slices.Clone(calibratedRelease(0).Cells[0])
	for i := len(n) - 6; i < len(n); i++ {
		n[i] = 0
	}
	before := averagePrecision(n)
	n[len(n)-2] = 0.05
	if after := averagePrecision(n); math.Abs(after-before) > 1e-3 {
		t.Errorf("a twentieth of a row moves it from %g to %g", before, after)
	}
	// Within one cell, precision is that of the cell.
	if got := averagePrecision([]float64{30, 10}); math.Abs(got-0.25) > 1e-12 {
		t.Errorf("of one cell it is %g", got)
	}
}

// What a schema declares private is protected, for every relation, roles and unit.
func TestScopeCoversWhatIsPrivate(t *testing.T) {
	roles := []schema.Role{schema.Public, schema.Private}
	for k := range 1 << 7 {
		s := &schema.Schema{Relation: []dp.Relation{dp.ReplaceOne, dp.AddRemove}[k&1], Label: schema.Label{Role: roles[k>>1&1]}}
		private := 0
		for j := range 4 {
			s.Columns = append(s.Columns, schema.Column{Role: roles[k>>(2+j)&1]})
			private += k >> (2 + j) & 1
		}
		if k>>6&1 > 0 {
			s.Person = &schema.Person{Rows: 2}
		}
		scope := scopeOf(s)
		if s.Relation == dp.AddRemove && scope != dp.WholeRow || s.Label.Role == schema.Private && scope == dp.PrivateFeatures ||
			private > 0 && scope == dp.LabelOnly {
			t.Errorf("%+v: only %s is protected", s, scope)
		}
	}
}

func TestPlanRefuses(t *testing.T) {
	s := census.Schema()
	good := Params{Epsilon: dp.Nano, Models: []*model.Model{scoring(s, 1)}, Threshold: 0.5}
	three := learntest.Levels(censustest.Table(1, 10), 3, nil).Schema
	for name, c := range map[string]struct {
		change func(*Params)
		s      *schema.Schema
		want   string
	}{
		"no model":           {func(p *Params) { p.Models = nil }, s, "models must be one"},
		"three models":       {func(p *Params) { p.Models = slices.Repeat(p.Models, 3) }, s, "models must be one"},
		"no epsilon":         {func(p *Params) { p.Epsilon = 0 }, s, "epsilon must be > 0"},
		"a negative delta":   {func(p *Params) { p.Delta = -1 }, s, "delta must be at least 0"},
		"delta of a row":     {func(p *Params) { p.Delta = dp.Femto / 100 }, s, "below 1/rows"},
		"threshold 0":        {func(p *Params) { p.Threshold = 0 }, s, "threshold must be a score"},
		"threshold 1":        {func(p *Params) { p.Threshold = 1 }, s, "threshold must be a score"},
		"no number":          {func(p *Params) { p.Threshold = math.NaN() }, s, "threshold must be a score"},
		"another schema":     {func(*Params) {}, three, "label"},
		"groups of a pair":   {func(p *Params) { p.Models, p.By = slices.Repeat(p.Models, 2), "sex" }, s, "by must not"},
		"groups of classes":  {func(p *Params) { p.Models, p.By = []*model.Model{scoring(three, 1)}, "sex" }, three, "by must not"},
		"groups of a number": {func(p *Params) { p.By = "age" }, s, "by must name a category"},
		"groups of nothing":  {func(p *Params) { p.By = "nothing" }, s, "by must name a category"},
		"classes and pairs":  {func(p *Params) { p.Models = []*model.Model{scoring(three, 1), scoring(three, 1)} }, three, "compare must not"},
	} {
		p := good
		c.change(&p)
		if _, err := p.Plan(c.s, 100); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// Of many classes a δ buys less noise, and of two none is spent.
func TestDeltaIsSpentWhereItHelps(t *testing.T) {
	for classes, spends := range map[int]bool{2: false, 3: false, 12: true} {
		tab := censustest.Table(1, 100)
		if classes > 2 {
			tab = learntest.Levels(tab, classes, nil)
		}
		p := Params{Epsilon: dp.Nano, Delta: dp.Femto / 1_000_000, Models: []*model.Model{scoring(tab.Schema, 1)}, Threshold: 0.5}
		pl, err := p.Plan(tab.Schema, 100)
		if err != nil {
			t.Fatal(err)
		}
		if got := pl.Terms().Price.Delta > 0; got != spends {
			t.Errorf("%d classes: spends a delta: %v", classes, got)
		}
	}
}

// The variance that intervals reckon with is that of the noise on the measured numbers, however these follow from
// counts and whatever sums are held: with 1 more for each number in turn, every weighted sum of the counts moves by as
// much, in squares, as its variance says.
func TestStatedVarianceIsThatOfTheNoise(t *testing.T) {
	src := replay.Seeded(5, "variance")
	seen := map[string]bool{}
	for range 60 {
		c := settingOf(src)
		kind := fmt.Sprint(scopeOf(c.tab.Schema), c.tab.Schema.Relation, c.tab.Schema.Classes(), len(c.params.Models), c.params.By != "")
		if seen[kind] || c.tab.Schema.Classes() > 4 { // each number takes a run
			continue
		}
		seen[kind] = true
		pl, err := c.params.Plan(c.tab.Schema, 40)
		if err != nil {
			t.Fatal(err)
		}
		exact, tape := counted(t, pl, c.tab)
		measured := len(tape.Passages[0].Values)
		var moved []*Release
		for k := range measured {
			noise := make([]float64, measured)
			noise[k] = 1
			r, _ := countedWith(t, pl, c.tab, noise)
			moved = append(moved, r)
		}
		for part := range exact.Cells {
			if part == c.tab.Schema.Classes() { // right predictions, which have a judge of their own
				continue
			}
			j := newJudge(exact.overall(), part)
			x := make([]float64, len(j.n))
			for i := range x {
				x[i] = float64(rng.Below(src, 100)) / 10
			}
			want := 0.0
			for _, r := range moved {
				by := dot(x, newJudge(r.overall(), part).n) - dot(x, j.n)
				want += by * by * pl.share.Variance(pl.moves())
			}
			if got := j.noise(x, x); !near(got, want, 1e-9) {
				t.Errorf("%s: a sum of counts has a variance of %g, stated as %g", c.what, want, got)
			}
		}
	}
	if len(seen) < 8 {
		t.Errorf("only %v", seen)
	}
}
