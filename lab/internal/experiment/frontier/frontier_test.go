// SPDX-License-Identifier: Apache-2.0

package frontier

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/realdata"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/census"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// datasets skips as realdata.File does.
func datasets(t *testing.T) string {
	t.Helper()
	return realdata.File(t, ".")
}

func TestFiguresAreTold(t *testing.T) {
	names := map[string]bool{}
	for _, f := range Figures() {
		if names[f.Name] || !strings.HasPrefix(f.Name, "frontier/") {
			t.Errorf("name %q", f.Name)
		}
		names[f.Name] = true
		if f.Repeats != 25 {
			t.Errorf("%s: %d repeats", f.Name, f.Repeats)
		}
		points := map[frame.Point]bool{}
		for _, p := range f.Points {
			if points[p] {
				t.Errorf("%s: %v twice", f.Name, p)
			}
			points[p] = true
		}
	}
}

// ran runs a figure whose measurements are invented.
func ran(t *testing.T, f *frame.Figure, measure func(p frame.Point, repeat int) float64) *frame.Result {
	t.Helper()
	f.Open = func(context.Context, *frame.World) (frame.Setup, error) {
		return func(_ context.Context, r frame.Repeat) (frame.Measure, error) {
			return func(_ context.Context, p frame.Point) (frame.Measurement, error) {
				var out frame.Measurement
				for _, metric := range []string{accuracy, auc, logLoss, calibration} {
					out.Values = append(out.Values, frame.Value{Metric: metric, Value: measure(p, r.Number)})
				}
				return out, nil
			}, nil
		}, nil
	}
	res, err := f.Run(context.Background(), frame.Options{Out: t.TempDir(), Repeats: 2, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// A figure holds exactly where the judged lines reach their bars, or are ahead of
// those that they are compared with.
func TestBarsAreJudged(t *testing.T) {
	for i := range Figures() {
		if Figures()[i].Name == newCalibration().Name { // has no bars
			continue
		}
		for _, high := range []bool{false, true} {
			f := Figures()[i]
			res := ran(t, f, func(p frame.Point, _ int) float64 {
				compared := slices.Contains([]string{alone, careless, honest, wholeRows, labelStatistic, labelStatistics, groupUnit,
					rowUnit}, p.Series)
				switch {
				case high && (!compared || p.Series == honest):
					return 0.95
				case compared && p.Series != careless:
					return 0.6
				}
				return 0.5
			})
			for _, c := range res.Verdict.Checks {
				if c.Holds != high {
					t.Errorf("%s: %s: holds %v where everything is high: %v", f.Name, c.What, c.Holds, high)
				}
			}
			if len(res.Verdict.Checks) < 5 {
				t.Errorf("%s: %d checks", f.Name, len(res.Verdict.Checks))
			}
		}
	}
}

// The search is judged by the best mean at each ε, not by the best repeat.
func TestSearchTakesTheBestMean(t *testing.T) {
	names, _ := searchChoices()
	res := ran(t, peerTerms(), func(p frame.Point, repeat int) float64 {
		switch {
		case p.Series == names[3]:
			return 0.8 // mean .8
		case p.Series == names[5]:
			return []float64{0.95, 0.55}[repeat] // mean .75
		}
		return 0.6
	})
	if got := res.Verdict.Checks[0].Ours; got != "0.8000 ± 0.0000" {
		t.Errorf("judged by %s", got)
	}
	if note := res.Verdict.Notes[0]; !strings.Contains(note, "0.8000 ± 0.0000 at ε = 0.01 ("+names[3]+")") {
		t.Errorf("note %q", note)
	}
}

func TestBelowIsTheLargestAllowed(t *testing.T) {
	for _, rows := range []int{2, 3, 1000, 21113, 31648} {
		d := largestBelow(rows)
		if err := guard.CheckDelta("test", d, rows); err != nil {
			t.Error(err)
		}
		if guard.CheckDelta("test", d+1, rows) == nil {
			t.Errorf("%d rows: %s is not the largest", rows, d)
		}
	}
}

// The count is UCI's.
func TestCompleteRowsOfAdult(t *testing.T) {
	adult, err := frame.NewWorld(datasets(t)).Read(t.Context(), "adult.yaml", "adult/adult.data.gz")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(completeRows(adult)); n != 30_162 {
		t.Errorf("%d complete rows", n)
	}
	for _, relation := range []dp.Relation{dp.AddRemove, dp.ReplaceOne} {
		s := closeColumns(adult, relation, "fnlwgt").Schema
		if s.Relation != relation || s.Label.Role != schema.Private || len(s.ByRole(schema.Public)) != 0 ||
			len(s.Features()) != 13 {
			t.Errorf("%s: %d columns, %d public, label %s", s.Relation, len(s.Features()), len(s.ByRole(schema.Public)),
				s.Label.Role)
		}
	}
	if len(adult.Schema.ByRole(schema.Public)) == 0 {
		t.Error("the table that was read has changed")
	}
}

// The bounds alone are moved, outwards, and the table that was read is as it was.
func TestWidenedBounds(t *testing.T) {
	tab := census.Generate(1, 50)
	for _, asks := range []bool{false, true} {
		s := widenBounds(closeColumns(tab, dp.ReplaceOne), asks).Schema
		for j, c := range s.Columns {
			was := tab.Schema.Columns[j]
			if c.Kind == schema.Number && (c.Lower > was.Lower || c.Upper != 1000*was.Upper || c.Quantiles != asks) ||
				c.Kind == schema.Category && c.Quantiles {
				t.Errorf("%s: %+v", c.Name, c)
			}
			if was.Quantiles {
				t.Errorf("%s: the table that was read asks", c.Name)
			}
		}
	}
}

// One repeat of each protocol at its two ends. What a fit is said to cost is
// what it cost, and a learner that saw the rows ranks better than a coin.
func TestOneRepeat(t *testing.T) {
	dir := datasets(t)
	for _, f := range []*frame.Figure{partials[len(partials)-1].newFigure(), wholeRow(), peerTerms(),
		sevenTenths[0].newFigure(), wideBounds[0].newFigure(), declaredPairs[0].newFigure()} {
		t.Run(f.Name, func(t *testing.T) {
			last := f.Points[len(f.Points)-1].Epsilon
			var some []frame.Point
			for _, p := range f.Points {
				if p.Epsilon == 0 || p.Epsilon == last {
					some = append(some, p)
				}
			}
			f.Points = some
			res, err := f.Run(t.Context(), frame.Options{Out: t.TempDir(), Repeats: 1, Seed: 1, Datasets: dir})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]float64{}
			for _, r := range res.Records {
				if private := r.Epsilon != nil; private && r.Bill != *r.Epsilon || !private && r.Bill != 0 {
					t.Errorf("%s: bill %g", r.Series, r.Bill)
				}
				got[fmt.Sprint(r.Series, " ", r.Metric)] = r.Value
			}
			for _, series := range []string{notPrivate, ours, withDelta} {
				if v, ok := got[series+" "+auc]; ok && !(v > 0.75 && v < 0.95) {
					t.Errorf("%s: AUC %g", series, v)
				}
			}
			if v, ok := got[withDelta+" "+auc]; ok && v == got[ours+" "+auc] {
				t.Error("a δ changes nothing")
			}
		})
	}
}

// Half of the invented persons have one row and a little more, no one more than the most.
func TestVisitsOfPersons(t *testing.T) {
	s, err := visitSchema()
	if err != nil {
		t.Fatal(err)
	}
	tab := generateVisits(s, 400, replay.Seeded(1, "visits"))
	rows, persons := tab.CountPersons()
	if persons != 400 || slices.Max(rows) > mostVisits || tab.Rows < 1800 || tab.Rows > 2800 {
		t.Errorf("%d persons with %d rows, one with %d", persons, tab.Rows, slices.Max(rows))
	}
	single := 0
	for _, n := range rows[1:] {
		if n == 1 {
			single++
		}
	}
	if single < 160 || single > 260 {
		t.Errorf("%d of 400 have one row", single)
	}
}
