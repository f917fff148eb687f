// SPDX-License-Identifier: Apache-2.0

package stattest

import "sync"

// T is the part of *testing.T and *testing.B a check needs.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Claim is what a statistical check promises.
type Claim struct {
	// FalsePositive bounds the probability that the check rejects a correct
	// sample; in (0, 0.5]. Those of one run add up to less than 1e-7.
	FalsePositive float64
	// Detects names a defect the check is known to see, e.g. "scale off by
	// 5%". The test shows it with Rejects.
	Detects string
}

// begin enters c into the run's account. A claim without both errors is a
// fault of the test, not of the sample, so it stops the test.
func (c Claim) begin(t T) {
	t.Helper()
	if !(c.FalsePositive > 0 && c.FalsePositive <= 0.5) {
		t.Fatalf("stattest: the false-positive rate must be in (0, 0.5] (got %g)", c.FalsePositive)
	}
	if c.Detects == "" {
		t.Fatalf("stattest: the claim must name a defect it detects")
	}
	if _, sabotaged := t.(*recorder); sabotaged {
		return // its rejections are wanted, so they are no false alarms
	}
	declared.Lock()
	defer declared.Unlock()
	sum := declared.sum + c.FalsePositive
	if !(sum < mostOfRun) {
		t.Fatalf("stattest: the false-positive rates of this run add up to %g; they must stay below %g", sum, mostOfRun)
	}
	declared.sum = sum
}

// mostOfRun bounds the false-positive rates of one run of a package's tests. Fewer than ten packages have
// such tests: with a hundred runs a day of all of them, one false alarm in thirty years.
const mostOfRun = 1e-7

var declared struct {
	sync.Mutex
	sum float64
}

// Declared is the sum of the rates of all checks made so far in this process:
// a bound on the probability that any of them was a false alarm.
func Declared() float64 {
	declared.Lock()
	defer declared.Unlock()
	return declared.sum
}

// Rejects fails t unless check, run over a sabotaged sample, reports at least
// one error. It is how a test shows that its claim detects what it says.
func Rejects(t T, check func(T)) {
	t.Helper()
	r := &recorder{T: t}
	check(r)
	if !r.rejected {
		t.Errorf("stattest: the check accepted a sample that was sabotaged on purpose")
	}
}

// recorder notes a rejection and keeps quiet about it. Fatalf passes through
// to the real test: a misused check must not look like a rejection.
type recorder struct {
	T
	rejected bool
}

func (r *recorder) Errorf(string, ...any) { r.rejected = true }
