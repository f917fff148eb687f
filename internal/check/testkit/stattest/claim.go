// SPDX-License-Identifier: Apache-2.0

package stattest

import "sync"

// T is the part of *testing.T and *testing.B that a check needs.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Claim states the error rates of a statistical check.
type Claim struct {
	// FalsePositive bounds the probability that the check rejects a correct sample; in (0, 0.5]. The
	// rates of one run must add up to less than 1e-7.
	FalsePositive float64
	// Detects names a defect that the check detects, e.g. "scale off by 5%". The test demonstrates it
	// with Rejects.
	Detects string
}

// begin adds c to the run's total rate. A claim without both errors is a fault of the test, not of the
// sample, so that it stops the test.
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

// mostOfRun bounds the false-positive rate of one run of a package's tests. Fewer than ten packages
// have such tests: with a hundred runs of all of them per day, that is one false alarm in thirty
// years.
const mostOfRun = 1e-7

var declared struct {
	sync.Mutex
	sum float64
}

// Declared returns the sum of the rates of all checks so far in this process, which bounds the
// probability that any of them was a false alarm.
func Declared() float64 {
	declared.Lock()
	defer declared.Unlock()
	return declared.sum
}

// Rejects fails t unless check, run on a sabotaged sample, reports at least one error. Tests use it to
// demonstrate that a claim detects its defect.
func Rejects(t T, check func(T)) {
	t.Helper()
	r := &recorder{T: t}
	check(r)
	if !r.rejected {
		t.Errorf("stattest: the check accepted a sample that was sabotaged on purpose")
	}
}

// recorder records a rejection without reporting it. It passes Fatalf on to the real test, because an
// incorrect use of a check must not look like a rejection.
type recorder struct {
	T
	rejected bool
}

func (r *recorder) Errorf(string, ...any) { r.rejected = true }
