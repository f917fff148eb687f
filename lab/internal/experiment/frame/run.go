// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// Options are the choices behind one run of a figure.
type Options struct {
	Out      string // folder; the files go to Out/<figure name>; required
	Repeats  int    // 0: the figure's own number, or quickRepeats with Quick
	Seed     uint64 // every number follows from it
	Quick    bool   // a few repeats: enough to see the shape
	Datasets string // folder of the data sets; empty: see NewWorld
	// Code is the digest of the code that the figure depends on (package sources), which records keep; "" if it is not known.
	Code string
	// PermuteLabels makes a null run: labels are dealt again among the rows before
	// anything is split or trained. Its files go to a folder of their own, and its
	// verdict says whether the claim's checks can fail.
	PermuteLabels bool
	// Progress is told how many points of how many are there, one call at a
	// time; nil for none.
	Progress func(done, total int)
}

const (
	quickRepeats = 3
	maxRepeats   = 100_000
)

// Result is a finished run.
type Result struct {
	Records  []Record // of this run's repeats and seed, by repeat and then in the order of the figure's points
	Summary  *Summary
	Verdict  Verdict
	Measured int      // points measured by this run; the others were in the file
	Files    []string // what was written
}

// Run measures what Out/<name>/records.jsonl lacks, then draws and judges all
// of it. Cancelling ctx keeps what was measured until then. On one machine the
// records depend on the figure, the seed and the number of repeats alone; across
// machines the last digit of an accuracy may differ where a score is within
// rounding of a tie.
func (f *Figure) Run(ctx context.Context, o Options) (*Result, error) {
	switch {
	case o.Out == "":
		return nil, &dp.ParamError{Op: "experiment", Param: "out", Want: "must name a folder"}
	case o.Repeats < 0 || o.Repeats > maxRepeats:
		return nil, &dp.ParamError{Op: "experiment", Param: "repeats", Want: fmt.Sprintf("must be from 1 to %d", maxRepeats),
			Got: o.Repeats}
	}
	if o.Repeats == 0 {
		o.Repeats = f.Repeats
		if o.Quick {
			o.Repeats = cmp.Or(f.Quick, quickRepeats)
		}
	}
	if o.PermuteLabels {
		f = f.withPermutedLabels()
	}
	dir := filepath.Join(o.Out, filepath.FromSlash(f.Name))
	r := &run{f: f, o: o, res: &Result{}}
	if err := r.updateRecords(ctx, dir); err != nil {
		return nil, err
	}
	r.res.Summary = summariseRecords(r.res.Records, o.Repeats)
	r.judgeResult()
	return r.res, r.writeFiles(dir)
}

// Permuted ends the name of a null run's figure.
const Permuted = "-permuted"

// withPermutedLabels is the figure under another name, so that no record of it is ever
// taken for one of the figure.
func (f *Figure) withPermutedLabels() *Figure {
	out := *f
	out.Name, out.Data = f.Name+Permuted, f.Data+", labels permuted"
	out.Title = f.Title + ", labels permuted"
	out.Protocol = "NULL RUN: the labels are dealt anew among the rows, so that nothing can be learned. " + f.Protocol
	return &out
}

// run is one Run on its way.
type run struct {
	f   *Figure
	o   Options
	log *log
	res *Result
}

// recordsFile is what was measured, in the folder of a figure.
const recordsFile = "records.jsonl"

// updateRecords brings the file of records up to date and reads off this run's.
func (r *run) updateRecords(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	file := filepath.Join(dir, recordsFile)
	var err error
	if r.log, err = openLog(file); err != nil {
		return err
	}
	r.res.Files = append(r.res.Files, file)
	return errors.Join(r.measureAll(ctx), r.log.file.Close())
}

// job is one point of one repeat.
type job struct {
	cell  cell
	setup func() (Measure, error) // shared by the repeat's jobs
	out   Measurement
	err   error
	done  chan struct{}
}

// measureAll takes points in order from a queue, one worker per processor, and
// writes them down in that order, so that the file does not depend on who was
// faster.
func (r *run) measureAll(ctx context.Context) error {
	todo := r.listJobs(ctx)
	if len(todo) > 0 {
		world := NewWorld(r.o.Datasets)
		world.Cache = filepath.Join(r.o.Out, filepath.FromSlash(path.Dir(r.f.Name)), "cache")
		if r.o.PermuteLabels {
			world.permute = func() rng.Source { return replay.Seeded(r.o.Seed, r.f.Name) }
			world.Cache = filepath.Join(world.Cache, "permuted")
		}
		setup, err := r.f.Open(ctx, world)
		if err == nil && r.o.PermuteLabels && !world.permuted.Load() {
			err = world.CannotPermute("its rows")
		}
		if err != nil {
			return err
		}
		if err := r.workThrough(ctx, setup, todo); err != nil {
			return err
		}
	}
	r.res.Measured = len(todo)
	for rep := range r.o.Repeats {
		for _, p := range r.f.Points {
			r.res.Records = append(r.res.Records, r.log.had[r.cellOf(rep, p)]...)
		}
	}
	return nil
}

func (r *run) cellOf(repeat int, p Point) cell {
	return cell{r.f.Name, r.f.Data, p, repeat, r.o.Seed}
}

// listJobs are the cells that the file lacks.
func (r *run) listJobs(ctx context.Context) (todo []*job) {
	for rep := range r.o.Repeats {
		for _, p := range r.f.Points {
			if c := r.cellOf(rep, p); r.log.had[c] == nil {
				todo = append(todo, &job{cell: c, done: make(chan struct{})})
			}
		}
	}
	return todo
}

func (r *run) workThrough(ctx context.Context, setup Setup, todo []*job) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var prepare func() (Measure, error)
	last := -1
	for _, j := range todo {
		if j.cell.repeat != last {
			last = j.cell.repeat
			rep := Repeat{last, r.o.Seed, r.f.Name}
			prepare = sync.OnceValues(func() (Measure, error) { return setup(ctx, rep) })
		}
		j.setup = prepare
	}
	var next sync.Mutex
	taken := 0
	take := func() *job {
		next.Lock()
		defer next.Unlock()
		if taken == len(todo) {
			return nil
		}
		taken++
		return todo[taken-1]
	}
	var workers sync.WaitGroup
	defer workers.Wait()
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for j := take(); j != nil; j = take() {
				j.runPoint(ctx)
				close(j.done)
			}
		})
	}
	commit := commitName()
	total := r.o.Repeats * len(r.f.Points)
	for i, j := range todo {
		<-j.done
		if j.err != nil {
			stop()
			return fmt.Errorf("experiment: %s, repeat %d, %s: %w", r.f.Name, j.cell.repeat, j.cell.point.Series, j.err)
		}
		records := j.cell.recordsOf(j.out, commit, r.o.Code)
		if err := r.log.appendRecords(records); err != nil {
			stop()
			return err
		}
		r.log.had[j.cell] = records
		todo[i] = nil // a repeat's tables go with its last job
		if r.o.Progress != nil {
			r.o.Progress(total-len(todo)+i+1, total)
		}
	}
	return nil
}

func (j *job) runPoint(ctx context.Context) {
	if j.err = ctx.Err(); j.err != nil {
		return
	}
	measure, err := j.setup()
	if err != nil {
		j.err = err
		return
	}
	j.out, j.err = measure(ctx, j.cell.point)
	j.setup = nil
}

func (r *run) judgeResult() {
	s := r.res.Summary
	v := Verdict{Figure: r.f.Name, Claim: r.f.Claim, Repeats: r.o.Repeats, Seed: r.o.Seed}
	v.Checks, v.Null, v.Outcome, v.Reason = r.f.judgeSummary(s)
	if r.f.Notes != nil {
		v.Notes = r.f.Notes(s)
	}
	for i := range r.res.Records {
		v.Older = v.Older || r.o.Code != "" && r.res.Records[i].Code != r.o.Code
		if c := r.res.Records[i].Commit; c != "" && !slices.Contains(v.Commits, c) {
			v.Commits = append(v.Commits, c)
		}
	}
	r.res.Verdict = v
}

// commitName names the checkout the program was built from, with a + where that
// had changes; empty if unknown.
func commitName() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	id, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			id = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+"
		}
	}
	if id == "" {
		return ""
	}
	return id + changed
}
