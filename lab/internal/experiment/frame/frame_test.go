// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

// endless is a repeat whose points are never done.
const endless = 40

// toy is a figure whose numbers are random words of their points.
func toy(measured *atomic.Int64) *Figure {
	f := &Figure{
		Name: "toy/one", Title: "toy", Claim: "a grows with ε.", Data: "none", Repeats: 4,
		Open: func(context.Context, *World) (Setup, error) {
			return func(_ context.Context, r Repeat) (Measure, error) {
				return func(ctx context.Context, p Point) (Measurement, error) {
					measured.Add(1)
					if r.Number == endless {
						<-ctx.Done()
						return Measurement{}, ctx.Err()
					}
					x := float64(r.Stream(fmt.Sprint(p.Epsilon)).Uint64()>>11) * 0x1p-53
					if p.Series == "b" {
						x /= 2
					}
					return Measurement{Values: []Value{{"accuracy", x}, {"size", 3}}, Bill: p.Epsilon}, nil
				}, nil
			}, nil
		},
		Draw: func(s *Summary) *plot.Lines {
			return &plot.Lines{Title: "t", XLabel: "x", YLabel: "y",
				Series: []plot.Series{{Name: "a", X: []float64{1}, Y: []float64{s.Mean("a", dp.Nano, "accuracy").Mean}}}}
		},
		Judge: func(s *Summary) []Check {
			return []Check{{What: "a", Paper: "1", Ours: "0"}, {What: "size", Holds: s.Mean("a", dp.Nano, "size").Mean == 3}}
		},
	}
	for _, eps := range []dp.Epsilon{10_000_000, dp.Nano} {
		f.Points = append(f.Points, Point{Series: "a", Epsilon: eps, Encoding: "ordinal"},
			Point{Series: "b", Epsilon: eps, Parameters: "half=true"})
	}
	f.Points = append(f.Points, Point{Series: "none"})
	return f
}

func run1(t *testing.T, f *Figure, o Options) *Result {
	t.Helper()
	res, err := f.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func records(t *testing.T, dir string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "toy", "one", "records.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestRecordsDoNotDependOnProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var want []byte
	for _, procs := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(procs)
		dir := t.TempDir()
		run1(t, toy(new(atomic.Int64)), Options{Out: dir, Seed: 5})
		got := records(t, dir)
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d processors wrote other records", procs)
		}
	}
	if n := bytes.Count(want, []byte("\n")); n != 4*5*2 {
		t.Errorf("%d records, want 40", n)
	}
	var r map[string]any
	if err := json.Unmarshal(want[:bytes.IndexByte(want, '\n')], &r); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"figure", "data", "series", "epsilon", "repeat", "seed", "metric", "value", "bill"} {
		if _, ok := r[key]; !ok {
			t.Errorf("a record has no %q", key)
		}
	}
}

func TestRunMeasuresOnlyWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	var n atomic.Int64
	for _, c := range []struct {
		o    Options
		want int64
	}{
		{Options{Repeats: 2}, 10},
		{Options{Repeats: 2}, 0},
		{Options{Repeats: 3}, 5},
		{Options{Repeats: 3, Seed: 9}, 15}, // another seed, beside the first
		{Options{Repeats: 1}, 0},
		{Options{Quick: true}, 0},
		{Options{}, 5},
	} {
		n.Store(0)
		c.o.Out = dir
		res := run1(t, toy(&n), c.o)
		if n.Load() != c.want || int64(res.Measured) != c.want {
			t.Errorf("%+v: measured %d points (said %d), want %d", c.o, n.Load(), res.Measured, c.want)
		}
		for _, r := range res.Records {
			if r.Seed != c.o.Seed {
				t.Errorf("%+v: a record of seed %d", c.o, r.Seed)
			}
		}
	}
}

func TestQuickRepeats(t *testing.T) {
	for quick, want := range map[int]int64{0: 3 * 5, 2: 2 * 5} {
		var n atomic.Int64
		f := toy(&n)
		f.Quick = quick
		run1(t, f, Options{Out: t.TempDir(), Quick: true})
		if n.Load() != want {
			t.Errorf("a quick run of %d repeats measured %d points, want %d", quick, n.Load(), want)
		}
	}
}

// A point is told apart by each of its choices.
func TestOtherParametersAreMeasured(t *testing.T) {
	dir := t.TempDir()
	run1(t, toy(new(atomic.Int64)), Options{Out: dir, Repeats: 1})
	for name, change := range map[string]func(f *Figure){
		"parameters": func(f *Figure) { f.Points[1].Parameters = "half=false" },
		"encoding":   func(f *Figure) { f.Points[1].Encoding = "onehot" },
		"epsilon":    func(f *Figure) { f.Points[1].Epsilon++ },
		"data":       func(f *Figure) { f.Data, f.Points = "other", f.Points[:3] },
	} {
		var n atomic.Int64
		f := toy(&n)
		change(f)
		run1(t, f, Options{Out: dir, Repeats: 1})
		if want := map[bool]int64{true: 3, false: 1}[name == "data"]; n.Load() != want {
			t.Errorf("%s changed: measured %d, want %d", name, n.Load(), want)
		}
	}
}

// A killed run leaves any prefix of the file behind. Running again mends it.
func TestAnyPrefixIsResumed(t *testing.T) {
	dir := t.TempDir()
	o := Options{Out: dir, Repeats: 2, Seed: 3}
	whole := run1(t, toy(new(atomic.Int64)), o)
	want := records(t, dir)
	path := filepath.Join(dir, "toy", "one", "records.jsonl")
	for cut := 0; cut < len(want); cut += 37 {
		if cut > 0 && want[cut-1] == '\n' {
			continue // a write is not split at a line's end
		}
		if err := os.WriteFile(path, want[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		again := &run{f: toy(new(atomic.Int64)), o: o, res: &Result{}}
		if err := again.updateRecords(context.Background(), filepath.Dir(path)); err != nil {
			t.Fatal(err)
		}
		if got := records(t, dir); !bytes.Equal(got, want) {
			t.Fatalf("cut at %d: the mended file differs", cut)
		}
		if len(again.res.Records) != len(whole.Records) {
			t.Fatalf("cut at %d: %d records, want %d", cut, len(again.res.Records), len(whole.Records))
		}
	}
}

func TestForeignFileIsRefused(t *testing.T) {
	for _, line := range []string{"hello", `{"figure":"toy/one","metric":"a"}x`, "{}", `{"figure":"toy/one","colour":1}`,
		`{"figure":"toy/one","metric":"a","epsilon":-1}`, ""} {
		dir := t.TempDir()
		path := filepath.Join(dir, "toy", "one", "records.jsonl")
		os.MkdirAll(filepath.Dir(path), 0o755)
		os.WriteFile(path, []byte(line+"\n"), 0o644)
		_, err := toy(new(atomic.Int64)).Run(context.Background(), Options{Out: dir})
		if err == nil || !strings.Contains(err.Error(), "records.jsonl:1: must be a record") {
			t.Errorf("%q: %v", line, err)
		}
		if now, _ := os.ReadFile(path); string(now) != line+"\n" {
			t.Errorf("%q was changed", line)
		}
	}
}

func TestRefusesOptions(t *testing.T) {
	for param, o := range map[string]Options{"out": {}, "repeats": {Out: t.TempDir(), Repeats: -1}} {
		_, err := toy(new(atomic.Int64)).Run(context.Background(), o)
		if p, ok := errors.AsType[*dp.ParamError](err); !ok || p.Param != param {
			t.Errorf("%s: %v", param, err)
		}
	}
}

// Cancelling keeps what was measured.
func TestCancelledRunKeepsItsRecords(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	o := Options{Out: dir, Repeats: 50, Progress: func(done, total int) {
		if total != 250 {
			t.Errorf("%d of %d", done, total)
		}
		if done == 5*endless {
			cancel()
		}
	}}
	if _, err := toy(new(atomic.Int64)).Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if n := bytes.Count(records(t, dir), []byte("\n")); n != 2*5*endless {
		t.Errorf("%d records were kept", n)
	}
}

// Records keep the digest of the code, and a verdict on others says that they are older.
func TestOldRecordsAreTold(t *testing.T) {
	dir := t.TempDir()
	if res := run1(t, toy(new(atomic.Int64)), Options{Out: dir, Code: "one"}); res.Verdict.Older || res.Records[0].Code != "one" {
		t.Errorf("%+v", res.Verdict)
	}
	for code, want := range map[string]bool{"one": false, "": false, "two": true} {
		res := run1(t, toy(new(atomic.Int64)), Options{Out: dir, Code: code})
		page, err := os.ReadFile(filepath.Join(dir, "toy", "one", "verdict.md"))
		if err != nil {
			t.Fatal(err)
		}
		if res.Measured != 0 || res.Verdict.Older != want || strings.Contains(string(page), "Older than the code") != want {
			t.Errorf("code %q: older is %v", code, res.Verdict.Older)
		}
	}
}

func TestVerdict(t *testing.T) {
	dir := t.TempDir()
	res := run1(t, toy(new(atomic.Int64)), Options{Out: dir})
	if res.Verdict.Outcome != Differs || !strings.Contains(res.Verdict.Reason, "a: the paper says 1, here 0") {
		t.Errorf("%+v", res.Verdict)
	}
	for _, f := range res.Files {
		if info, err := os.Stat(f); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
	if len(res.Files) != 5 {
		t.Errorf("%d files", len(res.Files))
	}
	for want, checks := range map[Outcome][]Check{Reproduced: {{Word: Reproduced}}, Differs: {{Word: Reproduced}, {Word: CannotTell}, {Word: Differs}},
		CannotTell: {{Word: Reproduced}, {Word: CannotTell}, {Word: Differs, Later: "ours"}}} {
		if got, _ := judgeChecks(checks); got != want {
			t.Errorf("%v: %s", checks, got)
		}
	}
}

// Over seeds no two verdicts contradict each other, and none is wrong, in more than one of twenty: wherever the truth
// lies, at the border of what the paper says above all. A verdict by the mean alone flips there.
func TestVerdictsAreStableOverSeeds(t *testing.T) {
	const seeds, repeats, checks = 400, 10, 5
	src := rand.New(rand.NewPCG(1, 2))
	for _, truth := range []float64{-3, -1, 0, 0.3, 0.9, 1, 1.1, 2, 4} { // of one of the parts; all others are inside
		said := map[Outcome]int{}
		for range seeds {
			var all []Check
			for k := range checks {
				values := make([]float64, repeats)
				for i := range values {
					values[i] = src.NormFloat64()
					if k == 0 {
						values[i] += truth
					}
				}
				if st := statOf(values); k%2 == 0 {
					all = append(all, Check{Parts: []Part{Within(st, -1, 1)}})
				} else {
					all = append(all, Check{Parts: []Part{Above(st, -2), Below(st, 3)}})
				}
			}
			settleWords(all)
			o, _ := judgeChecks(all)
			said[o]++
		}
		wrong := Differs
		if math.Abs(truth) > 1 {
			wrong = Reproduced
		}
		if said[wrong] > seeds/20 || min(said[Reproduced], said[Differs])*2 > seeds/20 {
			t.Errorf("truth %g: %v", truth, said)
		}
		if inside := math.Abs(truth) < 0.5; inside && said[Reproduced]+said[CannotTell] < seeds*19/20 ||
			math.Abs(truth) > 2.5 && said[Differs] < seeds*19/20 {
			t.Errorf("truth %g: %v", truth, said)
		}
	}
}

// A statistic that is linear in the means is the paired mean, and a part without spread or repeats is decided or not.
func TestStatistic(t *testing.T) {
	s := &Summary{Repeats: 4, values: map[place][]float64{{"a", 0, "x"}: {1, 2, 4, 4}, {"b", 0, "x"}: {1, 0, 2, 1}}}
	got := s.Statistic(func(s *Summary) float64 { return s.Mean("a", 0, "x").Mean - s.Mean("b", 0, "x").Mean })
	if want := s.Difference("a", "b", 0, "x"); math.Abs(got.Mean-want.Mean) > 1e-12 || math.Abs(got.StdErr-want.StdErr) > 1e-12 {
		t.Errorf("%+v, want %+v", got, want)
	}
	for want, p := range map[Outcome]Part{Reproduced: Fact(true), Differs: Fact(false), CannotTell: Above(Stat{Mean: 9, N: 1}, 0)} {
		if got := p.wordOf(0.01); got != want {
			t.Errorf("%+v: %s, want %s", p, got, want)
		}
	}
}

func TestSummary(t *testing.T) {
	eps := 1.0
	rec := func(series string, repeat int, v float64) Record {
		return Record{Series: series, Epsilon: &eps, Repeat: repeat, Metric: "accuracy", Value: v}
	}
	s := summariseRecords([]Record{rec("a", 0, 1), rec("a", 1, 2), rec("a", 2, 6), rec("b", 0, 0), rec("b", 1, 0),
		rec("b", 2, 3)}, 3)
	if m := s.Mean("a", dp.Nano, "accuracy"); m.N != 3 || m.Mean != 3 || math.Abs(m.StdDev-math.Sqrt(7)) > 1e-12 ||
		math.Abs(m.StdErr-math.Sqrt(7.0/3)) > 1e-12 {
		t.Errorf("%+v", m)
	}
	d := s.Difference("a", "b", dp.Nano, "accuracy") // 1, 2, 3
	if d.Mean != 2 || math.Abs(d.StdDev-1) > 1e-12 || s.Over("a", "b", []dp.Epsilon{dp.Nano}, "accuracy") != d {
		t.Errorf("%+v", d)
	}
	// 4.3027 is the 97.5 % point of t with two degrees of freedom.
	if got, want := d.AtLeast(0.025), 2-4.302653*math.Sqrt(1.0/3); math.Abs(got-want) > 1e-5 {
		t.Errorf("at least %g, want %g", got, want)
	}
	for _, c := range []struct{ q, want float64 }{{0, 1}, {0.25, 1.5}, {0.5, 2}, {0.75, 4}, {1, 6}} { // of 1, 2, 6
		if got := s.Quantile("a", dp.Nano, "accuracy", c.q); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("quantile %g is %g, want %g", c.q, got, c.want)
		}
	}
	if !math.IsNaN(s.Quantile("c", dp.Nano, "accuracy", 0.5)) || s.Mean("c", dp.Nano, "accuracy").N != 0 ||
		s.Difference("a", "c", dp.Nano, "accuracy").N != 0 {
		t.Error("a series that was not measured has a mean")
	}
}

// Printed tables (Abramowitz and Stegun, 26.10).
func TestStudentUpper(t *testing.T) {
	for _, c := range []struct {
		tail float64
		df   int
		want float64
	}{{0.025, 1, 12.706}, {0.001, 1, 318.31}, {0.001, 2, 22.327}, {0.001, 9, 4.297}, {0.05, 10, 1.812}, {0.005, 5, 4.032},
		{0.001, 30, 3.385}, {0.001, 120, 3.160}} {
		if got := studentUpper(c.tail, c.df); math.Abs(got-c.want) > 0.0006*c.want {
			t.Errorf("t(%g, %d) = %.4f, want %.3f", c.tail, c.df, got, c.want)
		}
	}
}

// A claim that turns on one comparison is borne out by coins in about one draw of
// twenty; one that asks for nothing always, and then nobody can tell.
func TestNullRuns(t *testing.T) {
	judge := func(holds func(*Summary) bool) *Figure {
		return &Figure{Name: "a/b", Repeats: 10, Judge: func(s *Summary) []Check { return []Check{{Holds: holds(s)}} }}
	}
	compares := judge(func(s *Summary) bool { return s.Difference("x", "y", dp.Nano, "accuracy").IsAbove(0) })
	asksNothing := judge(func(s *Summary) bool { return s.Mean("x", dp.Nano, "accuracy").Mean < 0.9 })
	if n := compares.JudgeNull(nil)[0]; n.IsBorneOut() {
		t.Errorf("one comparison: %+v", n)
	}
	n := asksNothing.JudgeNull(nil)[0]
	if !n.IsBorneOut() || n.Reproduced != n.Draws || math.Abs(n.Held-1) > 1e-9 {
		t.Errorf("a claim that asks for nothing: %+v", n)
	}
	measured := &Summary{Repeats: 10, values: map[place][]float64{
		{"x", dp.Nano, "accuracy"}: {0.80, 0.81, 0.82, 0.80, 0.79, 0.81, 0.80, 0.82, 0.78, 0.80},
		{"y", dp.Nano, "accuracy"}: {0.60, 0.61, 0.62, 0.60, 0.59, 0.61, 0.60, 0.62, 0.58, 0.60},
	}}
	if _, null, out, _ := compares.judgeSummary(measured); out != Reproduced || null[1].IsBorneOut() {
		t.Errorf("a clear difference is %s, %+v", out, null)
	}
	if _, _, out, _ := asksNothing.judgeSummary(measured); out != CannotTell {
		t.Errorf("a claim that asks for nothing is %s", out)
	}
	if _, _, out, _ := compares.judgeSummary(&Summary{Repeats: 1, values: map[place][]float64{}}); out != CannotTell {
		t.Errorf("one repeat is %s", out)
	}
}
