// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// ShowBytes shows how much of some files has been read, on a terminal only.
// Call done when reading has ended, however it ended.
func (a *App) ShowBytes(what string) (report func(done, total int64), done func()) {
	return a.ShowProgress(what, decor.CountersKibiByte("% .1f of % .1f"))
}

// ShowRuns shows how many runs of how many are done, on a terminal only.
func (a *App) ShowRuns(what string) (report func(done, total int), done func()) {
	wide, done := a.ShowProgress(what, decor.CountersNoUnit("%d of %d"))
	return func(n, of int) { wide(int64(n), int64(of)) }, done
}

// ShowProgress shows a bar with the given counters and the time left, as long as all before, on a
// terminal only.
func (a *App) ShowProgress(what string, counters decor.Decorator) (report func(done, total int64), done func()) {
	f, ok := findTerminal(a.Stderr)
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
