// SPDX-License-Identifier: Apache-2.0

package forecast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

const kinds = `
name: stays
unit: one stay
relation: replace-one
file: {delimiter: ",", quote: '"', header: true, missing: ["?"]}
columns:
  - name: admitted
    role: private
    date: {format: DD.MM.YYYY, lower: 2015-01-01, upper: 2024-12-31, default: 2020-01-01}
  - {name: age, role: private, number: {lower: 0, upper: 120, default: 50, integer: true, monotone: decreasing}}
  - {name: bill, role: private, number: {lower: 0, upper: 100000, transform: log1p, default: 0}}
  - name: code
    role: private
    category: {levels: [{value: sugar, prefixes: ["250"]}, heart, {value: "no", aliases: ["0"]}]}
  - {name: street, role: private, category: {buckets: 4}}
  - {name: weight, role: private, number: {lower: 0, upper: 200, default: 70}}
  - {name: note, role: ignored}
  - {name: ward, role: public, category: {levels: [a, b]}}
  - {name: again, role: public, label: {levels: ["yes", "no"], positive: "yes"}}
derived:
  - {name: month, month: [admitted]}
pairs:
  - [weight, code]
`

func parse(t *testing.T, text string) *schema.Schema {
	t.Helper()
	s, err := schema.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func request(t *testing.T, learner, epsilon string) *train.Request {
	t.Helper()
	r, err := train.Choice{Learner: learner, Price: train.PriceText{Epsilon: epsilon}}.Request("plan")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Pairs are counted one by one.
func TestExpectedAUC(t *testing.T) {
	src := replay.Seeded(1, "auc")
	var chances, scores [][]float64
	for range 60 {
		p := float64(src.Uint64()%1000) / 1000
		chances = append(chances, []float64{1 - p, p})
		scores = append(scores, []float64{0, float64(src.Uint64() % 7)}) // with ties
	}
	ahead, pairs := 0.0, 0.0
	for i := range chances {
		for j := range chances {
			weight := chances[i][1] * chances[j][0]
			pairs += weight
			switch x, y := scores[i][1], scores[j][1]; {
			case x > y:
				ahead += weight
			case x == y:
				ahead += weight / 2
			}
		}
	}
	if got := expectedAUC(chances, scores, 1); math.Abs(got-ahead/pairs) > 1e-12 {
		t.Errorf("expectedAUC = %g, want %g", got, ahead/pairs)
	}
}

// An invented table has the law's strength and share of positives, and cells that the schema
// declares.
func TestInvent(t *testing.T) {
	s := parse(t, kinds)
	for _, strength := range strengths {
		src := replay.Seeded(2, "invent")
		people, err := inventPeople(t.Context(), s, src, 4000)
		if err != nil {
			t.Fatal(err)
		}
		for j, c := range s.FileColumns() {
			sum, codes := 0.0, people[0].places[j]
			for i := range 4000 {
				if c.Role != schema.Ignored {
					sum += codes[people[0].table.Cols[j].Codes.At(i)] / 4000
				}
			}
			if c.Role != schema.Ignored && math.Abs(sum-0.5) > 0.03 {
				t.Errorf("column %s lies at %g of its range in the mean, want 0.5", c.Name, sum)
			}
		}
		l := newLaw(s, map[int]float64{0: 0.5, 1: 1, 2: 0.5, 3: 0.5}, strength, 0.2, people[0], src)
		tab, chances := l.deal(people[0], src)
		got := meanAUC(chances, chances, s.Label.Positive)
		if math.Abs(got-strength) > 0.02 || math.Abs(l.auc-strength) > 1e-3 {
			t.Errorf("a law of strength %g has the AUC %g, and %g on the rows that settled it", strength, got, l.auc)
		}
		positives, old, young := 0, [2]float64{}, [2]float64{}
		for i, label := range tab.Labels {
			side := &young
			if tab.Cols[1].Values[tab.Cols[1].Codes.At(i)] > 60 {
				side = &old
			}
			side[1]++
			if int(label) == s.Label.Positive {
				positives++
				side[0]++
			}
		}
		if share := float64(positives) / 4000; math.Abs(share-0.2) > 0.04 {
			t.Errorf("%g of the rows are positive, want 0.2", share)
		}
		if old[0]/old[1] >= young[0]/young[1] {
			t.Error("a decreasing column makes the positive class likelier")
		}
		for j := range s.Columns {
			c := &s.Columns[j]
			if c.Kind != schema.Category || c.Role == schema.Ignored {
				continue
			}
			seen := make([]int, c.Codes())
			for i := range tab.Rows {
				seen[tab.Cols[j].Codes.At(i)]++
			}
			for code, n := range seen {
				if declared := code < len(c.Levels); declared != (n > 0) {
					t.Errorf("column %s has %d rows of code %d", c.Name, n, code)
				}
			}
		}
	}
}

// The private columns are what the label follows, the public ones if no others are read.
func TestSignalColumns(t *testing.T) {
	s := parse(t, kinds)
	if got, _ := signalColumns(request(t, "additive", "1"), s); !slices.Equal(got, []int{0, 1, 2, 3, 4, 5}) {
		t.Errorf("of additive %v", got)
	}
	if got, role := signalColumns(request(t, "labeldp", "1"), s); !slices.Equal(got, []int{7}) || role != schema.Public {
		t.Errorf("of labeldp %v, %s", got, role)
	}
}

func TestForecast(t *testing.T) {
	s := parse(t, kinds)
	o := Options{Rows: 3000, Positives: 0.5}
	ticks := 0
	o.Progress = func(done, total int) {
		if ticks++; done != ticks || done > total {
			t.Errorf("training %d of %d is number %d", done, total, ticks)
		}
	}
	rich, err := run(t.Context(), request(t, "additive", "8"), s, o, replay.Seeded(3, "rich"))
	if err != nil {
		t.Fatal(err)
	}
	if len(rich.Signals) != 4 || len(rich.Columns) != 3 || ticks != rich.Repeats*(8+3) {
		t.Fatalf("%d signals and %d choices after %d trainings", len(rich.Signals), len(rich.Columns), ticks)
	}
	for _, x := range rich.Signals {
		if x.Verdict != Most || x.WithoutNoise == nil || x.Private.Mean > x.Law+0.02 || x.Learned < 0.9 {
			t.Errorf("at ε = 8: %+v", x)
		}
	}
	if rich.Best < 2 {
		t.Errorf("at ε = 8 the best number of columns is %d", rich.Best)
	}
	o.Rows, o.Progress = 200, nil
	poor, err := run(t.Context(), request(t, "additive", "0.001"), s, o, replay.Seeded(4, "poor"))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range poor.Signals {
		if x.Verdict == Most || x.Verdict == Part || x.WithoutNoise.Mean < x.Private.Mean+0.05 {
			t.Errorf("at ε = 0.001: %+v", x)
		}
	}
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		mean, deviation, law float64
		want                 Verdict
	}{
		{0.52, 0, 0.75, Nothing}, {0.49, 0, 0.75, Nothing}, {0.56, 0.1, 0.75, Nothing}, {0.56, 0.001, 0.75, Little},
		{0.65, 0.001, 0.75, Part}, {0.74, 0.001, 0.75, Most},
	} {
		if _, got := judge(Mean{c.mean, c.deviation}, c.law, 5); got != c.want {
			t.Errorf("judge(%g ± %g of %g) = %s, want %s", c.mean, c.deviation, c.law, got, c.want)
		}
	}
	for releases, want := range map[int]int{3: 5, 24: 5, 30: 4, 40: 3, 200: 3} {
		if got := countRepeats(releases); got != want {
			t.Errorf("countRepeats(%d) = %d, want %d", releases, got, want)
		}
	}
	choices := []Choice{{1, Mean{0.7, 0.01}}, {2, Mean{0.799, 0.01}}, {4, Mean{0.8, 0.01}}, {5, Mean{0.75, 0.01}}}
	if got := findBest(choices, 5); got != 2 {
		t.Errorf("findBest = %d, want 2", got)
	}
}

// Persons, and classes beyond two.
func TestForecastOfPersons(t *testing.T) {
	s := parse(t, strings.NewReplacer(`levels: ["yes", "no"], positive: "yes"`, `levels: [a, b, c]`,
		"monotone: decreasing", "", ", }", "}", "  - {name: note,", "  - {name: who, role: ignored}\n  - {name: note,",
		"pairs:\n  - [weight, code]\n", "person: {column: who, rows: 2}\n").Replace(kinds))
	f, err := run(t.Context(), request(t, "additive", "8"), s, Options{Rows: 2000, Positives: 0.5},
		replay.Seeded(5, "persons"))
	if err != nil {
		t.Fatal(err)
	}
	if f.Positives != nil || f.Signals[1].Private.Mean < 0.7 {
		t.Errorf("of three classes: %+v", f)
	}
	var b strings.Builder
	if err := f.WriteText(&b); err != nil || !strings.Contains(b.String(), "one row of each person") {
		t.Errorf("%v: %s", err, b.String())
	}
}

func TestRefuses(t *testing.T) {
	s := parse(t, kinds)
	for want, c := range map[string]struct {
		learner string
		o       Options
	}{
		"rows must be from 1 to 1000000":             {"additive", Options{Positives: 0.5}},
		"simulate-positives must be a share between": {"additive", Options{Rows: 10, Positives: 1}},
		"simulate must not be given if nothing is":   {"logistic", Options{Rows: 10, Positives: 0.5}},
	} {
		eps := "1"
		if c.learner == "logistic" {
			eps = ""
		}
		_, err := Run(t.Context(), request(t, c.learner, eps), s, c.o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// A range contains four of five trainings on tables whose effects fall in ways of their own, none of which a forecast knows.
func TestCurveCoversTrainings(t *testing.T) {
	text := "name: t\nunit: one row\nrelation: replace-one\nfile: {delimiter: \",\", quote: '\"', header: true}\ncolumns:\n"
	const columns = 12
	for k := range columns {
		text += fmt.Sprintf("  - {name: c%d, role: private, number: {lower: 0, upper: 1, default: 0}}\n", k)
	}
	s := parse(t, text+"  - {name: y, role: private, label: {levels: [n, p], positive: p, default: n}}\n")
	o := CurveOptions{Rows: 4000, Positives: 0.3, Strength: 0.8, Epsilons: []string{"0.3", "1"}}
	src := replay.Seeded(6, "curve")
	points, err := curve(t.Context(), train.Choice{Learner: "additive"}, s, o, src)
	if err != nil {
		t.Fatal(err)
	}
	people, err := inventPeople(t.Context(), s, src, o.Rows, judgeRows)
	if err != nil {
		t.Fatal(err)
	}
	exit, inside, all := mech.NewExit(src), 0, 0
	for i, p := range points {
		for _, by := range []func(k int) float64{
			func(k int) float64 { return math.Pow(0.7, float64(k)) },
			func(k int) float64 { return math.Pow(0.85, float64(k)) },
			func(k int) float64 { return map[bool]float64{true: 1}[k < columns/2] },
			func(k int) float64 { return map[bool]float64{true: 1, false: 0.1}[k < 2] },
		} {
			weights := map[int]float64{}
			for k := range columns {
				weights[k] = by(k)
			}
			l := newLaw(s, weights, o.Strength, o.Positives, people[1], src)
			tab, _ := l.deal(people[0], src)
			judged, chances := l.deal(people[1], src)
			for range 3 {
				auc, err := (&trial{exit: exit}).measure(t.Context(), request(t, "additive", o.Epsilons[i]), tab, judged, chances)
				if err != nil {
					t.Fatal(err)
				}
				if all++; auc >= p.Low && auc <= p.High {
					inside++
				}
			}
		}
	}
	if 5*inside < 4*all {
		t.Errorf("%d of %d trainings are in the ranges %+v", inside, all, points)
	}
}

// A point takes one table if its range is narrow already, and all of them on the other side of that number. Of a
// normal law both ranges contain as much.
func TestRangeFromOneTableOrAll(t *testing.T) {
	spread := func(half float64) []float64 { // around 0.8, with a range of that half from one table
		x := half / oneDeviations // the deviation of -x, -x, 0, x and x
		return []float64{0.8 - x, 0.8 - x, 0.8, 0.8 + x, 0.8 + x}
	}
	for _, c := range []struct {
		half   float64
		tables int
	}{{0.001, 1}, {0.0299, 1}, {0.0301, curveTables}, {0.2, curveTables}} {
		tried := 0
		p, err := rangeOf(func(k int) ([]float64, error) { tried++; return spread(c.half), nil })
		if err != nil || tried != c.tables || math.Abs(p.AUC-0.8) > 1e-12 {
			t.Errorf("a half of %g: %d tables, %v %v", c.half, tried, p, err)
		}
		if half := p.High - 0.8; tried == 1 && math.Abs(half-c.half) > 1e-9 || tried > 1 && !(half < c.half) {
			t.Errorf("a half of %g becomes %g", c.half, half)
		}
	}
	src := rand.New(rand.NewPCG(7, 11))
	contained := func(n int, deviations float64) float64 {
		in, turns, x := 0, 40000, make([]float64, n)
		for range turns {
			for i := range x {
				x[i] = src.NormFloat64()
			}
			if m := newMean(x); math.Abs(src.NormFloat64()-m.Mean) <= deviations*m.StdDev {
				in++
			}
		}
		return float64(in) / float64(turns)
	}
	all, one := contained(curveTables*len(decays), allDeviations), contained(len(decays), oneDeviations)
	if math.Abs(all-one) > 0.012 { // 1e-9 apart by chance at most: six deviations of a difference of shares of 40,000
		t.Errorf("all tables contain %g, one table %g", all, one)
	}
}
