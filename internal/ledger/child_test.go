// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// A child is this test binary running one training of its own, told by
// environment variables where to stop: by SIGKILL, so nothing cleans up.
const (
	childLedger = "LEDGER_CHILD"       // the ledger's address
	childJob    = "LEDGER_CHILD_JOB"   // job ID
	childFolder = "LEDGER_CHILD_OUT"   // where the result and the log of draws go
	childStop   = "LEDGER_CHILD_STOP"  // die at this point, counted from 1; 0 for never
	childRounds = "LEDGER_CHILD_TIMES" // so many trainings, one after another
	childMarks  = "LEDGER_CHILD_MARKS" // a file to write each point to once it is passed
)

// child is the whole program of a child process.
func child() {
	address := os.Getenv(childLedger)
	if address == "" {
		return
	}
	stop, _ := strconv.Atoi(os.Getenv(childStop))
	times, _ := strconv.Atoi(os.Getenv(childRounds))
	folder, id := os.Getenv(childFolder), os.Getenv(childJob)
	l, err := Open(context.Background(), address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	marks, err := os.OpenFile(os.Getenv(childMarks), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if os.Getenv(childMarks) != "" && err != nil {
		panic(err)
	}
	l.pass = func(point string) error {
		if marks != nil {
			marks.WriteString(point + "\n")
		}
		if stop--; stop == 0 {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}
	for i := range max(times, 1) {
		job := id
		if times > 0 {
			job = fmt.Sprintf("%s-%d", id, i)
		}
		if _, err := train(l, job, filepath.Join(folder, job), func() string { return logged(folder, job) }); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	l.Close()
	os.Exit(0)
}

// logged draws a result and writes it down before anyone can use it.
func logged(folder, job string) string {
	result := rand.Text()
	f, err := os.OpenFile(filepath.Join(folder, "draws"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(f, "%s %s\n", job, result)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		panic(err)
	}
	return result
}

// draws reads the log: what was drawn for each job, at most once.
func draws(t testing.TB, folder string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, "draws"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(b)) {
		job, result, _ := strings.Cut(strings.TrimSpace(line), " ")
		if out[job] != "" {
			t.Errorf("%s was drawn twice", job)
		}
		out[job] = result
	}
	return out
}

func spawn(address, folder, job string, stop, times int) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childLedger+"="+address, childFolder+"="+folder, childJob+"="+job,
		fmt.Sprintf("%s=%d", childStop, stop), fmt.Sprintf("%s=%d", childRounds, times))
	return cmd
}

func wasKilled(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
}

// TestKilledAtEveryStep kills a process at every point between two effects of a
// training, and recovers.
func TestKilledAtEveryStep(t *testing.T) {
	for name, start := range starts {
		t.Run(name, func(t *testing.T) { killAtEveryStep(t, start) })
	}
}

func killAtEveryStep(t *testing.T, start func(testing.TB, place) *Ledger) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		p := fresh(t)
		l := start(t, p)
		folder := t.TempDir()
		for stop := 1; ; stop++ {
			id := fmt.Sprintf("job%d", stop)
			before := balanceOf(t, l)
			err := spawn(p.address, folder, id, stop, 0).Run()
			if err != nil && !wasKilled(err) {
				t.Fatal(err)
			}
			settled(t, l, id, filepath.Join(folder, id), draws(t, folder)[id], before,
				func() string { return logged(folder, id) })
			draws(t, folder)
			if err == nil {
				t.Logf("%d points", stop-1)
				if stop < 15 {
					t.Errorf("only %d points", stop-1)
				}
				break
			}
		}
		verify(t, l)
		sumsAreRight(t, l)
	})
}

// TestKilledAtRandom kills a process that trains all the time at random
// moments: DISCREET_KILLS times, 20 when not given, and 40 with cohorts and approvals.
func TestKilledAtRandom(t *testing.T) {
	for name, start := range starts {
		kills := 20
		if name == "roles" {
			kills = 40
		}
		t.Run(name, func(t *testing.T) { killAtRandom(t, start, kills) })
	}
}

func killAtRandom(t *testing.T, begin func(testing.TB, place) *Ledger, kills int) {
	if n, err := strconv.Atoi(os.Getenv("DISCREET_KILLS")); err == nil && n > 0 {
		kills = n
	}
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		p := fresh(t)
		l := begin(t, p)
		folder := t.TempDir()
		r := mathrand.New(mathrand.NewPCG(1, 2))
		var took, plain []time.Duration
		lost := 0
		for i := range kills {
			before := balanceOf(t, l)
			cmd := spawn(p.address, folder, fmt.Sprintf("kill%d", i), 0, 1000)
			must(t, cmd.Start())
			time.Sleep(time.Duration(10+r.IntN(kills*9/2)) * time.Millisecond)
			must(t, cmd.Process.Kill())
			cmd.Wait()

			start := time.Now()
			again, err := Open(context.Background(), p.address) // opening rolls back what was half written
			must(t, err)
			_, err = again.Recover(context.Background(), all)
			must(t, err)
			took = append(took, time.Since(start))
			must(t, again.Close())

			// The same without a kill before it: opening, and as many steps as a
			// recovery takes at most. What is slow here is the machine.
			start = time.Now()
			undisturbed, err := Open(context.Background(), p.address)
			must(t, err)
			_, err = undisturbed.Recover(context.Background(), all)
			must(t, err)
			must(t, undisturbed.Declare(context.Background(), Dataset{Name: fmt.Sprintf("kill%d", i), Epsilon: 1}))
			plain = append(plain, time.Since(start))
			must(t, undisturbed.Close())

			b := balanceOf(t, l)
			drawn := 0
			for job, result := range draws(t, folder) {
				if !strings.HasPrefix(job, fmt.Sprintf("kill%d-", i)) {
					continue
				}
				drawn++
				if file, err := os.ReadFile(filepath.Join(folder, job)); err == nil && string(file) != result {
					t.Fatalf("%s: the file holds %q, drawn was %q", job, file, result)
				} else if err != nil {
					lost++
				}
			}
			cost := b.Spent - before.Spent
			if b.Reserved != 0 || cost%price != 0 || cost < price*dp.Epsilon(drawn) {
				t.Fatalf("kill %d: %d drawn, cost %d, still reserved %d", i, drawn, cost, b.Reserved)
			}
		}
		verify(t, l)
		sumsAreRight(t, l)
		slices.Sort(took)
		slices.Sort(plain)
		t.Logf("%d kills, %d draws without a file; opening and recovery took %v in the median, %v at most; with nothing "+
			"to recover %v and %v",
			kills, lost, took[kills/2], took[kills-1], plain[kills/2], plain[kills-1])
	})
}
