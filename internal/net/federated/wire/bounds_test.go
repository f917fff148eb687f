// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// A task is taken up to each of its bounds, read back as it is, and refused beyond.
func TestTasksReachTheirBounds(t *testing.T) {
	try := func(name string, want bool, set func(*Task)) {
		t.Helper()
		task := testTask(t, Stump)
		set(task)
		if err := task.Check(); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
			return
		}
		if !want {
			return
		}
		text, err := task.Text()
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseTask(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(again.Rounds) != len(task.Rounds) || again.WeightCap != task.WeightCap || again.Cells(1) != task.Cells(1) {
			t.Errorf("%s: another task is read back", name)
		}
	}
	for _, n := range []int{0, 1, 2, 255, 256, 257, MaxRounds - 1, MaxRounds, MaxRounds + 1} {
		try(strconv.Itoa(n)+" rounds", n > 0 && n <= MaxRounds, func(t *Task) { t.Rounds = slices.Repeat([]Shares{{9, 1}}, n) })
	}
	for x, want := range map[float64]bool{math.Nextafter(1, 0): false, 1: true, maxCap: true,
		math.Nextafter(maxCap, math.Inf(1)): false} {
		try("weight cap", want, func(t *Task) { t.WeightCap = x })
	}
	for _, n := range []int{nonceLen - 1, nonceLen, nonceLen + 1} {
		try(strconv.Itoa(n)+" digits", n == nonceLen, func(t *Task) { t.Nonce = strings.Repeat("a", n) })
	}
	const classes = 4
	for _, cells := range []int{255, 256, 257, maxCells/classes - 1, maxCells / classes, maxCells/classes + 1} {
		try(strconv.Itoa(cells)+" cells of each level", cells <= maxCells/classes, func(t *Task) {
			s := *t.Schema
			s.Columns = slices.Clone(s.Columns)
			s.Label.Levels = append(slices.Clone(s.Label.Levels), schema.Level{Value: "d"})
			pet := &s.Columns[1]
			pet.Levels = nil
			for k := range cells - 1 { // and one for any other
				pet.Levels = append(pet.Levels, schema.Level{Value: "p" + strconv.Itoa(k)})
			}
			t.Schema = &s
			if t.Cells(1) != cells || s.Classes() != classes {
				panic("the case has another number of cells")
			}
		})
	}
}

// A round is taken up to each of its bounds and refused beyond.
func TestRoundsReachTheirBounds(t *testing.T) {
	task := testTask(t, Stump)
	for x, want := range map[float64]bool{-math.SmallestNonzeroFloat64: false, 0: true, maxScore: true,
		math.Nextafter(maxScore, 100): false} {
		r := testRound(t, task)
		r.Members[0].Vote = x
		if err := r.Check(task); (err == nil) != want {
			t.Errorf("a vote of %g: %v", x, err)
		}
	}
	for x, want := range map[float64]bool{maxScore: true, math.Nextafter(maxScore, 100): false} {
		for _, sign := range []float64{-1, 1} {
			r := testRound(t, task)
			r.Members[0].Shapes[1].Leaves[2][1] = sign * x
			if err := r.Check(task); (err == nil) != want {
				t.Errorf("a score of %g: %v", sign*x, err)
			}
		}
	}
	centred := testTask(t, Centroid)
	d, err := centred.Digest()
	if err != nil {
		t.Fatal(err)
	}
	sp, err := centred.Space()
	if err != nil {
		t.Fatal(err)
	}
	for x, want := range map[float64]bool{maxCoef: true, math.Nextafter(maxCoef, math.Inf(1)): false} {
		for _, sign := range []float64{-1, 1} {
			for at := range sp.Width() + 1 {
				a := &Argmax{Bias: make([]float64, 3)}
				for range 3 {
					a.Coef = append(a.Coef, make([]float64, sp.Width()))
				}
				if at < sp.Width() {
					a.Coef[2][at] = sign * x
				} else {
					a.Bias[1] = sign * x
				}
				r := &Round{Task: d.String(), Slot: 3, Members: []Member{{Vote: 1, Argmax: a}}}
				if err := r.Check(centred); (err == nil) != want {
					t.Errorf("a coefficient of %g at %d: %v", sign*x, at, err)
				}
			}
		}
	}
	summed := testTask(t, Stump)
	summed.Mode = Aggregate
	if d, err = summed.Digest(); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]bool{1: false, 2: true, maxCrowd - 1: true, maxCrowd: true, maxCrowd + 1: false} {
		for _, less := range []int{0, 1} {
			r := &Round{Task: d.String(), Asks: []Ask{{Question: 0}},
				Crowd: &Crowd{Owners: n, AtLeast: AtLeastOf(n) - less, Honest: max(1, AtLeastOf(n)-less)}}
			if err := r.Check(summed); (err == nil) != (want && less == 0) {
				t.Errorf("a crowd of %d, %d of them at least: %v", n, r.Crowd.AtLeast, err)
			}
		}
	}
	// The noise of an opened sum is that of owners who are in it.
	for honest, want := range map[int]bool{0: false, 1: true, 19: true, 20: true, 21: false, 30: false} {
		r := &Round{Task: d.String(), Asks: []Ask{{Question: 0}}, Crowd: &Crowd{Owners: 30, AtLeast: 20, Honest: honest}}
		if err := r.Check(summed); (err == nil) != want {
			t.Errorf("sums of at least 20 of 30 count on the noise of %d: %v", honest, err)
		}
	}
}

// A report's name and words are taken up to their bounds, read back as they are, and refused beyond;
// and a text up to the longest is looked at.
func TestReportsReachTheirBounds(t *testing.T) {
	for _, name := range []int{0, 1, 127, MaxOwner - 1, MaxOwner, MaxOwner + 1} {
		for _, words := range []int{0, 1, 255, 256, 65_535, 65_536, 65_537, 2*maxCells - 1, 2 * maxCells, 2*maxCells + 1} {
			r := &Report{Owner: strings.Repeat("n", name), Slot: math.MaxUint16, Ask: 256, Words: make([]uint32, words)}
			for i := range r.Words {
				r.Words[i] = uint32(i) * 2654435761
			}
			b := r.Append(nil)
			fits := len(b) <= MaxReport
			if name == MaxOwner && fits != (words <= 2*maxCells) {
				t.Errorf("the longest name and %d words make %d bytes, of at most %d", words, len(b), MaxReport)
			}
			again, err := ParseReport(b)
			if want := name >= 1 && name <= MaxOwner && fits; (err == nil) != want {
				t.Fatalf("a name of %d bytes, %d words: %v", name, words, err)
			}
			if err == nil && (again.Owner != r.Owner || again.Slot != r.Slot || again.Ask != r.Ask ||
				!slices.Equal(again.Words, r.Words)) {
				t.Errorf("a name of %d bytes, %d words: another report is read back", name, words)
			}
		}
	}
	for _, n := range []int{0, 1, reportFixed - 1} {
		if _, err := ParseReport(append([]byte(reportMagic), make([]byte, reportFixed)...)[:n]); err == nil {
			t.Errorf("%d bytes are a report", n)
		}
	}
	for n, long := range map[int]bool{MaxText - 1: false, MaxText: false, MaxText + 1: true} {
		var into Task
		if err := decodeJSON("task", make([]byte, n), &into); err == nil ||
			strings.Contains(err.Error(), "must have at most") != long {
			t.Errorf("a text of %d bytes: %v", n, err)
		}
	}
}
