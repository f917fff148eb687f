// SPDX-License-Identifier: Apache-2.0

package mechtest

import (
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

func TestMovedMeasuresWhatTheBoundIsAbout(t *testing.T) {
	at := func(norm mech.Norm, choice bool, v ...int64) Passage {
		p := Passage{Norm: norm, Choice: choice}
		for _, x := range v {
			p.Values = append(p.Values, mech.Ratio{Num: x, Den: 2})
		}
		return p
	}
	for _, c := range []struct {
		norm   mech.Norm
		choice bool
		want   float64
	}{{mech.L1, false, 7}, {mech.L2, false, 5}, {mech.Certified, false, 0}, {mech.AnyTwo, false, 0}, {"", true, 7}} {
		p, q := at(c.norm, c.choice, 2, 2), at(c.norm, c.choice, 8, -6)
		if got := p.Moved(q); got != c.want {
			t.Errorf("%q (choice %v): moved %g, want %g", c.norm, c.choice, got, c.want)
		}
	}
}

// Reports and addends pass the tape like releases: what they are about, clamped,
// at the price of their law; a script replaces what leaves.
func TestRecorderSeesWhatOwnersSend(t *testing.T) {
	pm, err1 := response.PiecewiseFor(dp.Nano, 2)
	oue, err2 := response.OUEFor(2*dp.Nano, 40)
	vector, err3 := response.ShortAddendFor(3*dp.Nano, 2, 4, 10, 5)
	cells, err4 := response.CellAddendFor(4*dp.Nano, 9, 3, 10, 5)
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
		t.Fatal(err1, err2, err3, err4)
	}
	r := &Recorder{}
	exit := mech.NewTapedExit(rng.System(), r)
	send := func() (words []uint64) {
		a, err1 := exit.Perturb("a", pm, []float64{0.5, math.Inf(1)})
		b, err2 := exit.PerturbCell("b", oue, 7, 2)
		c, err3 := exit.Addend("c", vector, []float64{-9, 0})
		d, err4 := exit.CellAddend("d", cells, []int{1, 8}, 0.25)
		if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
			t.Fatal(err1, err2, err3, err4)
		}
		return append(append([]uint64{uint64(a[0]), uint64(b[0])}, c...), d...)
	}
	send()
	want := [][]float64{{0.5, 1}, {7, 1}, {-1, 0}, {0.25, 1, 8}}
	for i, p := range r.Passages {
		var got []float64
		for _, v := range p.Values {
			got = append(got, v.Float())
		}
		if !slices.Equal(got, want[i]) || p.Loss != dp.Epsilon(i+1)*dp.Nano || p.Norm != mech.AnyTwo ||
			p.Label != "abcd"[i:i+1] {
			t.Errorf("passage %d is %+v", i, p)
		}
	}
	if sum := dp.Total(r.Bill()); sum != 10*dp.Nano {
		t.Errorf("ε = %s passed", sum)
	}
	r.Script = func(k int, _ Passage) []float64 { return []float64{float64(k)} }
	if got := send(); !slices.Equal(got, []uint64{4, 5, 6, 7}) {
		t.Errorf("the script's words are 4 to 7, %v left", got)
	}
}
