// SPDX-License-Identifier: Apache-2.0

package forecast

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// Options are the options of a forecast.
type Options struct {
	Rows      int     // of each invented table, 1 to 1,000,000
	Positives float64 // share of the positive class, if the label has two classes
	// Progress receives the number of finished trainings and their total; may be nil.
	Progress func(done, total int)
}

const (
	maxRows   = 1_000_000
	judgeRows = 4_000
	// Each figure is a mean over several tables. There are fewer tables if a fit makes many releases,
	// because that takes longer.
	fewestRepeats, mostRepeats, releasesToRepeat = 3, 5, 120
	// Fits without noise take most of the time, and their results vary least between tables.
	idealRepeats = 2
)

// countRepeats returns the number of invented tables for a plan with the given number of releases.
func countRepeats(releases int) int {
	return min(mostRepeats, max(fewestRepeats, releasesToRepeat/max(1, releases)))
}

// strengths are the laws' AUC.
var strengths = []float64{0.75, 0.85}

// Forecast holds the results of a plan on invented tables.
type Forecast struct {
	Rows      int         `json:"rows"`
	Repeats   int         `json:"repeats"`
	Positives *float64    `json:"positives"` // null for more than two classes
	Role      schema.Role `json:"role"`      // of the columns that determine the labels
	Signals   []Signal    `json:"signals"`
	Persons   bool        `json:"persons"` // each has one row
	// Columns shows the effect of choosing columns if their influence falls from column to column;
	// empty if there is nothing to choose.
	Columns []Choice `json:"columns"`
	// Best is the smallest number of columns in Columns whose result is within two standard errors of
	// the best.
	Best int `json:"best_columns,omitempty"`
}

// Signal holds the results for one law.
type Signal struct {
	Columns      int     `json:"columns"`       // that influence the label, all equally
	Law          float64 `json:"law"`           // AUC of the law's own probabilities
	WithoutNoise *Mean   `json:"without_noise"` // AUC without noise on two of the tables; null if the learner has no such fit
	Private      Mean    `json:"private"`       // AUC of the plan
	Learned      float64 `json:"learned"`       // share of the law's AUC above 0.5
	Verdict      Verdict `json:"verdict"`
}

// Choice is a training on the given number of best columns.
type Choice struct {
	Columns int  `json:"columns"`
	Private Mean `json:"private"` // AUC
}

// Mean is a mean over the repeats.
type Mean struct {
	Mean   float64 `json:"mean"`
	StdDev float64 `json:"deviation"`
}

// Verdict describes how much of a signal a plan learns.
type Verdict string

const (
	Nothing Verdict = "nothing"
	Little  Verdict = "little"
	Part    Verdict = "part"
	Most    Verdict = "most"
)

func newMean(x []float64) (m Mean) {
	for _, v := range x {
		m.Mean += v / float64(len(x))
	}
	for _, v := range x {
		m.StdDev += (v - m.Mean) * (v - m.Mean) / float64(len(x)-1)
	}
	m.StdDev = math.Sqrt(m.StdDev)
	return m
}

// standardError returns the standard error of a mean over the given number of tables.
func (m Mean) standardError(repeats int) float64 { return m.StdDev / math.Sqrt(float64(repeats)) }

// judge computes how much of a law's AUC above 0.5 is learned.
func judge(private Mean, law float64, repeats int) (learned float64, v Verdict) {
	learned = max(0, private.Mean-0.5) / (law - 0.5)
	switch {
	case learned < 0.1 || private.Mean-2*private.standardError(repeats) <= 0.5:
		return learned, Nothing
	case learned < 0.5:
		return learned, Little
	case learned < 0.9:
		return learned, Part
	}
	return learned, Most
}

// Run makes the forecast of a request on tables of a schema. It reads no data and spends nothing.
func Run(ctx context.Context, r *train.Request, s *schema.Schema, o Options) (*Forecast, error) {
	return run(ctx, r, s, o, rng.System())
}

func run(ctx context.Context, r *train.Request, s *schema.Schema, o Options, src rng.Source) (*Forecast, error) {
	refuse := func(param, want string, got any) error {
		return &train.RequestError{Err: &dp.ParamError{Op: "plan", Param: param, Want: want, Got: got}}
	}
	columns, role := signalColumns(r, s)
	switch {
	case o.Rows < 1 || o.Rows > maxRows:
		return nil, refuse("rows", "must be from 1 to 1000000 for invented tables", o.Rows)
	case !(o.Positives > 0 && o.Positives < 1):
		return nil, refuse("simulate-positives", "must be a share between 0 and 1", o.Positives)
	case r.Price.Epsilon == 0:
		return nil, refuse("simulate", "must not be given if nothing is protected: there is no noise", r.Name)
	case len(columns) == 0:
		return nil, refuse("simulate", "must not be given if the schema has no column to learn from", s.Name)
	}
	plan, err := r.Plan(s, o.Rows)
	if err != nil {
		return nil, err
	}
	repeats := countRepeats(len(plan.Terms().Bill))
	f := &Forecast{Rows: o.Rows, Repeats: repeats, Role: role, Persons: s.Person != nil}
	if s.Classes() == 2 {
		f.Positives = &o.Positives
	}
	ideal, err := withoutNoise(r)
	if err != nil { // this learner, or this choice of its options, has none
		ideal = nil
	}
	t := &trial{request: r, ideal: ideal, s: s, o: o, src: src, exit: mech.NewExit(src), columns: columns}
	for _, n := range slices.Compact([]int{1, len(columns)}) {
		for _, strength := range strengths {
			t.signals = append(t.signals, signal{columns: n, strength: strength})
		}
	}
	t.counts = chooseCounts(len(columns))
	t.kept = make([][]float64, len(t.counts))
	t.total = repeats * (2*len(t.signals) + len(t.counts))
	for range repeats {
		if err := t.repeat(ctx); err != nil {
			return nil, err
		}
	}
	for i := range t.signals {
		f.Signals = append(f.Signals, t.signals[i].summarize(repeats))
	}
	for i, n := range t.counts {
		f.Columns = append(f.Columns, Choice{Columns: n, Private: newMean(t.kept[i])})
	}
	f.Best = findBest(f.Columns, repeats)
	return f, nil
}

// withoutNoise returns the request without noise. The label depends on columns separately, so the
// default learner is replaced by additive.
func withoutNoise(r *train.Request) (*train.Request, error) {
	if r.Name == "auto" {
		free := train.PriceText{Epsilon: "inf", NotPrivate: true}
		return train.Choice{Learner: "additive", Price: free}.Request("plan")
	}
	return r.WithoutPrivacy()
}

// chooseCounts returns the numbers of columns to try: powers of two up to two thirds, and all.
func chooseCounts(all int) (counts []int) {
	if all == 1 {
		return nil
	}
	for n := 1; 3*n < 2*all; n *= 2 {
		counts = append(counts, n)
	}
	return append(counts, all)
}

// findBest returns the smallest choice within two standard errors of the best.
func findBest(choices []Choice, repeats int) int {
	if len(choices) == 0 {
		return 0
	}
	best := slices.MaxFunc(choices, func(a, b Choice) int { return int(math.Copysign(1, a.Private.Mean-b.Private.Mean)) })
	for _, c := range choices {
		if c.Private.Mean >= best.Private.Mean-2*math.Hypot(best.Private.standardError(repeats), c.Private.standardError(repeats)) {
			return c.Columns
		}
	}
	return best.Columns
}

// trial trains on invented tables.
type trial struct {
	request, ideal *train.Request
	s              *schema.Schema
	o              Options
	src            rng.Source
	exit           *mech.Exit
	columns        []int // that may influence the label
	signals        []signal
	counts         []int
	kept           [][]float64 // AUC by count, then repeat
	done, total    int
}

// signal is a law of some equally influential columns, and its results by repeat.
type signal struct {
	columns             int
	strength            float64
	law, ideal, private []float64 // AUC
}

func (s *signal) summarize(repeats int) Signal {
	out := Signal{Columns: s.columns, Law: newMean(s.law).Mean, Private: newMean(s.private)}
	if s.ideal != nil {
		m := newMean(s.ideal)
		out.WithoutNoise = &m
	}
	out.Learned, out.Verdict = judge(out.Private, out.Law, repeats)
	return out
}

func (t *trial) tick() {
	if t.done++; t.o.Progress != nil {
		t.o.Progress(t.done, t.total)
	}
}

// shuffled returns the columns in random order.
func (t *trial) shuffled() []int {
	out := slices.Clone(t.columns)
	rng.Shuffle(t.src, len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// repeat invents people, and tries all laws with them.
func (t *trial) repeat(ctx context.Context) error {
	people, err := inventPeople(ctx, t.s, t.src, t.o.Rows, judgeRows)
	if err != nil {
		return err
	}
	for i := range t.signals {
		if err := t.trySignal(ctx, &t.signals[i], people); err != nil {
			return err
		}
	}
	return t.tryCounts(ctx, people)
}

func (t *trial) trySignal(ctx context.Context, s *signal, people []*people) error {
	weights := map[int]float64{}
	for _, j := range t.shuffled()[:s.columns] {
		weights[j] = 1
	}
	l := newLaw(t.s, weights, s.strength, t.o.Positives, people[1], t.src)
	tab, _ := l.deal(people[0], t.src)
	judged, chances := l.deal(people[1], t.src)
	s.law = append(s.law, l.auc)
	for _, by := range []struct {
		r   *train.Request
		auc *[]float64
	}{{t.ideal, &s.ideal}, {t.request, &s.private}} {
		if by.r != nil && (by.r != t.ideal || len(s.ideal) < idealRepeats) {
			auc, err := t.measure(ctx, by.r, tab, judged, chances)
			if err != nil {
				return err
			}
			*by.auc = append(*by.auc, auc)
		}
		t.tick()
	}
	return nil
}

// tryCounts trains on the best columns of a law in which the k-th best has the weight 1/k. It tries
// nothing if the request names columns that a choice would leave out.
func (t *trial) tryCounts(ctx context.Context, people []*people) error {
	order, weights := t.shuffled(), map[int]float64{}
	for k, j := range order {
		weights[j] = 1 / float64(k+1)
	}
	l := newLaw(t.s, weights, slices.Max(strengths), t.o.Positives, people[1], t.src)
	tab, _ := l.deal(people[0], t.src)
	judged, chances := l.deal(people[1], t.src)
	for i, n := range t.counts {
		s := leaveOut(t.s, order[n:])
		auc, err := t.measure(ctx, t.request, under(tab, s), under(judged, s), chances)
		if _, ok := errors.AsType[*train.RequestError](err); ok {
			t.counts = nil
			return nil
		}
		if err != nil {
			return err
		}
		t.kept[i] = append(t.kept[i], auc)
		t.tick()
	}
	return nil
}

// under returns the table as read with a schema of leaveOut.
func under(t *dataset.Table, s *schema.Schema) *dataset.Table {
	out := *t
	out.Schema, out.Cols = s, slices.Clone(t.Cols[:len(s.Columns)])
	for j := range out.Cols {
		if s.Columns[j].Role == schema.Ignored {
			out.Cols[j] = column.Column{}
		}
	}
	return &out
}

// leaveOut returns the schema without some columns of the file, and without the columns and pairs
// derived from them.
func leaveOut(s *schema.Schema, columns []int) *schema.Schema {
	if len(columns) == 0 {
		return s
	}
	out := *s
	out.Columns, out.Pairs = slices.Clone(s.FileColumns()), nil
	for _, j := range columns {
		if out.Columns[j].Name == s.Parts {
			out.Parts = ""
		}
		out.Columns[j] = schema.Column{Name: s.Columns[j].Name, Role: schema.Ignored}
	}
	return &out
}

// measure trains on one table and evaluates on another.
func (t *trial) measure(ctx context.Context, r *train.Request, tab, judged *dataset.Table, chances [][]float64) (
	float64, error) {
	rows, err := memory.New(tab)
	if err != nil {
		return 0, err
	}
	plan, err := r.Plan(tab.Schema, guard.PublicUnits(rows))
	if err != nil {
		return 0, err
	}
	m, err := guard.Train(ctx, plan, rows, guard.Uncounted{}, t.exit)
	if err != nil {
		return 0, err
	}
	flat, err := m.Scores(judged.Cols, judged.Rows)
	if err != nil {
		return 0, err
	}
	scores, width := make([][]float64, judged.Rows), m.Width()
	for i := range scores {
		if scores[i] = flat[i*width:][:width]; width == 1 { // the positive class's, wherever it stands
			scores[i] = []float64{flat[i], flat[i]}
		}
	}
	return meanAUC(chances, scores, max(0, tab.Schema.Label.Positive)), nil
}
