// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// ShowBusy shows on a terminal that rows are being processed, until done is called. It shows no share
// of the work, because that would reveal the number of rows and the length of their cells.
func (a *App) ShowBusy(what string) (done func()) {
	f, ok := findTerminal(a.progress)
	if !ok {
		return func() {}
	}
	p := mpb.New(mpb.WithOutput(f))
	bar := p.AddSpinner(0, mpb.BarRemoveOnComplete(), mpb.PrependDecorators(decor.Name(what+" ")))
	return func() {
		bar.Abort(true)
		p.Wait()
	}
}

// ShowRuns shows on a terminal how many of the runs are done.
func (a *App) ShowRuns(what string) (report func(done, total int), done func()) {
	wide, done := a.ShowProgress(what, decor.CountersNoUnit("%d of %d"))
	return func(n, of int) { wide(int64(n), int64(of)) }, done
}

// ShowProgress shows on a terminal a bar with the given counters and the time left, which it estimates
// from the time so far.
func (a *App) ShowProgress(what string, counters decor.Decorator) (report func(done, total int64), done func()) {
	f, ok := findTerminal(a.progress)
	if !ok {
		return func(int64, int64) {}, func() {}
	}
	p := mpb.New(mpb.WithOutput(f), mpb.WithWidth(32))
	bar := p.AddBar(0,
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(what+" ")),
		mpb.AppendDecorators(counters, decor.Name(", "), decor.AverageETA(decor.ET_STYLE_GO), decor.Name(" left")),
	)
	report = func(n, total int64) {
		bar.SetTotal(total, false)
		bar.SetCurrent(n)
	}
	return report, func() {
		bar.Abort(true)
		p.Wait()
	}
}
