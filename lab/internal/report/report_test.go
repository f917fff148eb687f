// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"context"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

var update = flag.Bool("update", false, "rewrite testdata/page.html")

// toy is a figure as experiments have them. Its series b lacks nothing; a
// differs between repeats by exactly 0.1.
func toy() *frame.Figure {
	return &frame.Figure{
		Name: "toy/one", Paper: "Nobody: A Paper", Title: "a beats b", Claim: "a beats b <always>.", Data: "none", Repeats: 3,
		Points: []frame.Point{
			{Series: "a", Epsilon: dp.Nano / 10, Encoding: "ordinal"},
			{Series: "b"},
			{Series: "a", Epsilon: dp.Nano / 100, Encoding: "ordinal"},
		},
		Open: func(context.Context, *frame.World) (frame.Setup, error) {
			return func(_ context.Context, r frame.Repeat) (frame.Measure, error) {
				return func(_ context.Context, p frame.Point) (frame.Measurement, error) {
					v := 0.25
					if p.Epsilon > 0 {
						v = p.Epsilon.Float() + float64(r.Number)/10
					}
					return frame.Measurement{Values: []frame.Value{{Metric: "accuracy", Value: v}}, Bill: p.Epsilon}, nil
				}, nil
			}, nil
		},
		Draw: func(*frame.Summary) *plot.Lines {
			l := &plot.Lines{Title: "a & b", XLabel: "privacy loss ε", YLabel: "accuracy", Spread: "nothing at all"}
			for i := range 6 { // every colour there is, solid and translucent
				l.Series = append(l.Series, plot.Series{
					Name: "series " + string(rune('a'+i)), X: []float64{1, 2}, Y: []float64{float64(i), float64(i)},
					Low: []float64{float64(i) - 1, float64(i) - 1}, High: []float64{float64(i) + 1, float64(i) + 1}, Band: i%2 == 0,
				})
			}
			l.References = []plot.Reference{{Name: "level", Y: 2.5}}
			return l
		},
		Judge: func(s *frame.Summary) []frame.Check {
			return []frame.Check{
				{What: "a beats b", Paper: "always", Ours: "at ε = 0.1", Holds: false},
				{What: "b", Paper: "25 %", Ours: fmt.Sprintf("%.0f %%", 100*s.Mean("b", 0, "accuracy").Mean), Holds: true},
			}
		},
		Notes: func(*frame.Summary) []string { return []string{"Nothing else."} },
	}
}

var about = []About{
	{Name: "toy/one", Paper: "Nobody: A Paper", Title: "a beats b", Claim: "a beats b <always>.", Protocol: "Toss."},
	{Name: "toy/two", Paper: "Nobody: A Paper", Title: "b beats a"},
}

// ran runs the toy figure and returns the folder it wrote and what the run
// itself made of it.
func ran(t *testing.T) (string, *frame.Result) {
	t.Helper()
	dir := t.TempDir()
	res, err := toy().Run(t.Context(), frame.Options{Out: dir, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	return dir, res
}

func written(t *testing.T, p *Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The folders are read as files; this holds them to what experiments write.
func TestReadAgreesWithExperiments(t *testing.T) {
	dir, res := ran(t)
	figures, err := Read(os.DirFS(dir))
	if err != nil || len(figures) != 1 {
		t.Fatalf("got %d figures, %v", len(figures), err)
	}
	f, v := figures[0], res.Verdict
	if f.Name != v.Figure || f.Claim != v.Claim || f.Outcome != string(v.Outcome) || f.Reason != v.Reason ||
		f.Repeats != v.Repeats || !slices.Equal(f.Seeds, []uint64{v.Seed}) || !slices.Equal(f.Notes, v.Notes) ||
		!slices.Equal(f.Data, []string{"none"}) || len(f.Missing) != 0 || f.Folder != "toy/one" || f.chart.svg == "" {
		t.Errorf("verdict %+v read as %+v", v, f)
	}
	for i, c := range v.Checks {
		if want := (Check{c.What, c.Paper, c.Ours, string(c.Word), c.Later}); f.Checks[i] != want {
			t.Errorf("check %+v read as %+v", c, f.Checks[i])
		}
	}
	if len(f.Tables) != 1 || len(f.Tables[0].Rows) != 3 {
		t.Fatalf("got tables %+v", f.Tables)
	}
	for _, row := range f.Tables[0].Rows {
		eps := dp.Epsilon(0)
		if row.Epsilon > 0 {
			if eps, err = dp.EpsilonOf(row.Epsilon); err != nil {
				t.Fatal(err)
			}
		}
		want := res.Summary.Mean(row.Series, eps, "accuracy")
		if row.N != 3 || row.N != want.N || math.Abs(row.Mean-want.Mean) > 1e-15 || math.Abs(row.StdDev-want.StdDev) > 1e-15 {
			t.Errorf("%s at %g: got %+v, want %+v", row.Series, row.Epsilon, row, want)
		}
	}
	if rows := f.Tables[0].Rows; rows[0].Series != "a" || rows[0].Epsilon != 0.01 || rows[1].Epsilon != 0.1 ||
		rows[2].Series != "b" {
		t.Errorf("rows must go by series and then ε, got %+v", rows)
	}
	if got := f.Tables[0].Rows[0].StdDev; math.Abs(got-0.1) > 1e-15 { // of 0, 0.1, 0.2
		t.Errorf("deviation %g, want 0.1", got)
	}
}

// Every outcome the frame knows is one the page has words for.
func TestOutcomes(t *testing.T) {
	for _, o := range []frame.Outcome{frame.Reproduced, frame.Differs, frame.CannotTell} {
		if _, ok := words[string(o)]; !ok || string(o) == unjudged {
			t.Errorf("no words for outcome %q", o)
		}
	}
}

// A page made in a checkout says which figures other code measured.
func TestOldFiguresAreTold(t *testing.T) {
	dir, _ := ran(t)
	figures, err := Read(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	for code, want := range map[string]bool{"": false, "today": true} {
		told := slices.Clone(about)
		told[0].Code = code
		if got := strings.Contains(written(t, &Page{Figures: figures, Catalogue: told}), "older than the code"); got != want {
			t.Errorf("code %q: older is %v", code, got)
		}
	}
}

func TestGoldenPage(t *testing.T) {
	dir, _ := ran(t)
	// No commit is known to a test binary, but may be one day.
	figures, err := Read(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	figures[0].Link = "./figures/a b#c"
	figures[0].Commits = []string{"0123456789abcdef0123456789abcdef01234567+"}
	p := &Page{Figures: figures, Catalogue: about}
	got := written(t, p)
	if again := written(t, p); again != got {
		t.Error("equal pages must have equal bytes")
	}
	path := filepath.Join("testdata", "page.html")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Error("the page differs from testdata/page.html; look at it and run with -update")
	}
	for _, part := range []string{
		"a beats b &lt;always&gt;", "✗ differs", `href="./figures/a%20b%23c/records.jsonl"`, "0123456789ab&#43;",
		"toy/two", "Toss.", "± 0.1000", `role="img"`, "<title>a &amp; b</title>",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
}

var (
	fetches = regexp.MustCompile(
		`(?i)\bhttps?:|<(?:link|img|iframe|object|embed|audio|video|source|base)\b|\bsrc=|\burl\(|@import|\bfetch\(|import\(`)
	ids     = regexp.MustCompile(` id="([^"]*)"`)
	refs    = regexp.MustCompile(` (?:aria-labelledby="|href="#)([^"]*)"`)
	heading = regexp.MustCompile(`<h([1-6])`)
)

func TestPageIsSelfContainedAndSound(t *testing.T) {
	dir, _ := ran(t)
	figures, err := Read(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*Page{"full": {Figures: figures, Catalogue: about}, "empty": {},
		"unknown figure": {Figures: figures}} {
		text := written(t, p)
		if at := fetches.FindString(text); at != "" {
			t.Errorf("%s: the page asks for something: %q", name, at)
		}
		checkNesting(t, name, text)
		seen := map[string]bool{}
		for _, m := range ids.FindAllStringSubmatch(text, -1) {
			if seen[m[1]] {
				t.Errorf("%s: id %q occurs twice", name, m[1])
			}
			seen[m[1]] = true
		}
		for _, m := range refs.FindAllStringSubmatch(text, -1) {
			if !seen[m[1]] {
				t.Errorf("%s: nothing has the id %q", name, m[1])
			}
		}
		last := 0
		for _, m := range heading.FindAllStringSubmatch(text, -1) {
			level := int(m[1][0] - '0')
			if level > last+1 {
				t.Errorf("%s: heading %d follows heading %d", name, level, last)
			}
			last = level
		}
		if strings.Contains(text, "ZgotmplZ") {
			t.Errorf("%s: a value was refused by its context", name)
		}
	}
}

// checkNesting wants every element closed, in order. The page has no element
// that HTML lets stay open but meta, and scripts and styles without < or &.
func checkNesting(t *testing.T, name, text string) {
	t.Helper()
	text = regexp.MustCompile(`(?s)<(script|style)>.*?</(script|style)>`).ReplaceAllString(strings.TrimPrefix(text,
		"<!DOCTYPE html>"), "")
	text = regexp.MustCompile(`<meta ([^>]*)>`).ReplaceAllString(text, "<meta $1/>")
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		_, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
	}
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	dir, _ := ran(t)
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, "toy", "one", name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	records, judged, drawn := read(recordsFile), read(verdictFile), read(chartFile)
	torn := records[:len(records)-5]
	for name, c := range map[string]struct {
		files map[string][]byte
		says  string
		lacks string
	}{
		"no verdict": {map[string][]byte{recordsFile: records, chartFile: drawn}, "not judged", "✗ differs"},
		"no chart":   {map[string][]byte{recordsFile: records, verdictFile: judged}, "It has no chart", "<figure>"},
		"no records": {map[string][]byte{chartFile: drawn, verdictFile: judged}, "cannot be checked", "raw lines"},
		"torn":       {map[string][]byte{recordsFile: torn, verdictFile: judged, chartFile: drawn}, "torn", "nothing"},
	} {
		fsys := fstest.MapFS{}
		for f, b := range c.files {
			fsys["x/"+f] = &fstest.MapFile{Data: b}
		}
		figures, err := Read(fsys)
		if err != nil || len(figures) != 1 {
			t.Errorf("%s: %d figures, %v", name, len(figures), err)
			continue
		}
		figures[0].Link = "./x"
		text := written(t, &Page{Figures: figures, Catalogue: about})
		if !strings.Contains(text, c.says) || strings.Contains(text, c.lacks+"<") {
			t.Errorf("%s: the page must say %q and not %q", name, c.says, c.lacks)
		}
	}
}

// Records of other seeds and of more repeats are not what the verdict is about.
func TestOnlyTheJudgedRecordsCount(t *testing.T) {
	dir, _ := ran(t)
	if _, err := toy().Run(t.Context(), frame.Options{Out: dir, Seed: 8, Repeats: 5}); err != nil {
		t.Fatal(err)
	}
	if _, err := toy().Run(t.Context(), frame.Options{Out: dir, Seed: 7, Repeats: 2}); err != nil {
		t.Fatal(err)
	}
	figures, err := Read(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range figures[0].Tables[0].Rows {
		if row.N != 2 {
			t.Errorf("%s: %d repeats counted, want 2", row.Series, row.N)
		}
	}
}

func TestRefusals(t *testing.T) {
	const record = `{"figure":"a/b","data":"d","series":"s","epsilon":null,"repeat":0,"seed":1,` +
		`"metric":"m","value":1,"bill":0}` + "\n"
	const judged = `{"figure":"a/b","outcome":"differs","repeats":1,"seed":1}`
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no record": {map[string]string{"f/records.jsonl": record + "{}\n"}, "f/records.jsonl:2: must be a record"},
		"negative ε": {map[string]string{"f/records.jsonl": strings.Replace(record, "null", "-1", 1)},
			"f/records.jsonl:1: must be a record"},
		"two values": {map[string]string{"f/records.jsonl": strings.Replace(record, "\n", record, 1)},
			"f/records.jsonl:1: must be a record"},
		"two figures": {map[string]string{"f/records.jsonl": record + strings.Replace(record, "a/b", "a/c", 1)},
			"must hold records of one figure"},
		"nothing whole":    {map[string]string{"f/records.jsonl": record[:20]}, "must hold a whole record"},
		"verdict, no JSON": {map[string]string{"f/verdict.json": "{"}, "f/verdict.json: must be the verdict"},
		"unknown outcome": {map[string]string{"f/verdict.json": strings.Replace(judged, "differs", "maybe", 1)},
			`outcomes must be`},
		"no repeats": {map[string]string{"f/verdict.json": strings.Replace(judged, `"repeats":1`, `"repeats":0`, 1)},
			"repeats must be at least 1"},
		"twice": {map[string]string{"f/records.jsonl": record, "g/records.jsonl": record},
			"must lie in one folder only (found f and g)"},
		"bad chart": {map[string]string{"f/records.jsonl": record, "f/figure.svg": "<svg"},
			"f/figure.svg: must be a chart"},
	} {
		fsys := fstest.MapFS{}
		for f, s := range c.files {
			fsys[f] = &fstest.MapFile{Data: []byte(s)}
		}
		if _, err := Read(fsys); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
