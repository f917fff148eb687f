// SPDX-License-Identifier: Apache-2.0

package mistakes

import "math"

// clip is the range [1/c1, c2] of a row's weight, in integer units; one is the number of units of the
// weight 1. Integers make sums exact in any order, and the set of reachable weights finite. The range
// is rounded inwards.
type clip struct{ one, lo, hi int64 }

// mostWeights is the largest number of weights in a range.
const mostWeights = 1 << 20

// newClip chooses units so that the range holds at most mostWeights: 2^-20
// for the paper's c1 = c2 = √2, coarser for a wider range.
func newClip(c1, c2 float64) clip {
	one := int64(mostWeights)
	for float64(one)*(c2-1/c1) > mostWeights {
		one >>= 1
	}
	return clip{one, int64(math.Ceil(float64(one) / c1)), int64(math.Floor(float64(one) * c2))}
}

// stepWeight is the paper's update of one weight, Algorithm 2 line 14: w·e^α if that is in the range,
// otherwise w unchanged. A weight depends on its own row and on released votes only; it is never
// divided by a sum (1.2).
func (c clip) stepWeight(w int64, factor float64) int64 {
	// Compared before the conversion: the product may overflow an int64.
	f := math.RoundToEven(float64(w) * factor)
	if f >= float64(c.lo) && f <= float64(c.hi) {
		return int64(f)
	}
	return w
}

// reachable is the exact set of weights that rows can have after the votes released so far. The
// sensitivity of a round is a function of its smallest and largest weight, and hence of released
// values only (1.4).
type reachable struct {
	clip    clip
	present []uint64 // bit weight − clip.lo
	list    []int64  // the same set, unordered
	lo, hi  int64
}

func newReachable(c clip) *reachable {
	r := &reachable{clip: c, present: make([]uint64, (c.hi-c.lo)/64+1), lo: c.one, hi: c.one}
	r.insertWeight(c.one)
	return r
}

// addRound applies a round with the factor e^α to each weight: a row may be classified correctly (its
// weight stays) or wrongly (its weight steps).
func (r *reachable) addRound(factor float64) {
	for _, w := range r.list { // weights inserted meanwhile are not visited
		r.insertWeight(r.clip.stepWeight(w, factor))
	}
}

func (r *reachable) insertWeight(w int64) {
	if r.hasWeight(w) {
		return
	}
	r.present[(w-r.clip.lo)/64] |= 1 << ((w - r.clip.lo) % 64)
	r.list = append(r.list, w)
	r.lo, r.hi = min(r.lo, w), max(r.hi, w)
}

func (r *reachable) hasWeight(w int64) bool {
	return r.present[(w-r.clip.lo)/64]>>((w-r.clip.lo)%64)&1 == 1
}
