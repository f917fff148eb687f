// SPDX-License-Identifier: Apache-2.0

package brc

import (
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
)

// privateRows is the training table as the private side sees it: how many rows
// share a mistake pattern, and their common weight. Rows of one pattern have
// been wrong about the same classifiers, so their weights are equal.
type privateRows struct {
	pl       *Plan
	patterns *engine.Patterns
	n        int
	weight   []int64 // per pattern, in clip units, without that of its class
	reach    *reachable
	label    int       // the classifier whose mistakes are the negative labels; used where classes are weighed
	units    classUnit // weights of the classes
	total    int64     // sum of units over all rows where labels are public, else 0
}

func newPrivateRows(pl *Plan, p *engine.Patterns, n int) *privateRows {
	r := &privateRows{pl: pl, patterns: p, n: n, weight: make([]int64, len(p.Count)), reach: newReachable(pl.clip),
		units: evenUnits}
	for i := range r.weight {
		r.weight[i] = pl.clip.one // Algorithm 2 line 2; 1 lies in [1/c1, c2]
	}
	return r
}

// isWrong reports the mistake bit of classifier k for pattern i.
func (r *privateRows) isWrong(k, i int) bool {
	return r.patterns.Bits[i*r.patterns.Words+k/64]>>(k%64)&1 == 1
}

// sumWeights adds the weights of the rows classifier k is wrong and right about, in
// clip units, times classUnits where classes are weighed. n ≤ 2^31 rows of at most 2^21·2^10
// fit an int64.
func (r *privateRows) sumWeights(k int) (wrong, right int64) {
	if !r.units.isEven() {
		return r.sumWeighed(k)
	}
	var sum [2]int64
	word, shift := k/64, k%64
	for i, w := range r.weight {
		bit := r.patterns.Bits[i*r.patterns.Words+word] >> shift & 1
		sum[bit] += w * int64(r.patterns.Count[i])
	}
	return sum[1], sum[0]
}

// sumWeighed is sumWeights where classes are weighed.
func (r *privateRows) sumWeighed(k int) (wrong, right int64) {
	var wrongs, rights [2]int64 // of the positive and of the negative class
	for i, w := range r.weight {
		class, add := 0, w*int64(r.patterns.Count[i])
		if r.isWrong(r.label, i) {
			class = 1
		}
		if r.isWrong(k, i) {
			wrongs[class] += add
		} else {
			rights[class] += add
		}
	}
	code := r.pl.s.Label.Positive
	pos, neg := r.units[code], r.units[1-code]
	return pos*wrongs[0] + neg*wrongs[1], pos*rights[0] + neg*rights[1]
}

// one is a row's weight at the start, of the heavier class, in the units of sumWeights.
func (r *privateRows) one() int64 {
	if r.units.isEven() {
		return r.pl.clip.one
	}
	return r.pl.clip.one * classUnits
}

// errorSensitivity bounds how far replacing one row moves wrong/(wrong+right), given
// what was released so far (1.4; docs/guarantees/brc.md, lemma 1). Where classes are weighed, the
// row that is replaced may be of the heavier class, and the others weigh together at least
// what the public labels tell, or else as rows of the lighter class (1.9; lemma 4).
func (r *privateRows) errorSensitivity() float64 {
	n := float64(r.n)
	if r.pl.Sensitivity == Paper {
		return roundUp(r.pl.C1 * r.pl.C2 / n)
	}
	hi, lo := float64(r.reach.hi), float64(r.reach.lo)
	others := n - 1
	switch {
	case r.units.isEven():
	case r.total > 0:
		others = float64(r.total-classUnits) / classUnits
	default:
		others *= float64(min(r.units[0], r.units[1])) / classUnits
	}
	return roundUp(hi / (hi + others*lo))
}

// roundUp rounds a quotient computed in a few float operations upwards past their
// rounding errors.
func roundUp(x float64) float64 { return x * (1 + 0x1p-50) }

// releaseError lets the noisy weighted error of a round out (Algorithm 2 line 6).
// Under replacement the ratio itself leaves; under add-remove, where the
// number of rows is private, the two weighted counts do and the ratio is taken
// afterwards.
func (r *privateRows) releaseError(label string, eps dp.Epsilon, wrong, right int64, exit *mech.Exit) float64 {
	if r.pl.s.Relation == dp.ReplaceOne {
		// Rows meet noise.
		return exit.Release(label, r.noiseFor(eps, r.errorSensitivity(), 1), mech.Ratio{Num: wrong, Den: wrong + right})[0]
	}
	one := r.one()
	most := float64(r.reach.hi) / float64(r.pl.clip.one) // a row sits in one of the two counts with at most this weight
	// Rows meet noise.
	out := exit.Release(label, r.noiseFor(eps, most, 2), mech.Ratio{Num: wrong, Den: one},
		mech.Ratio{Num: right, Den: one})
	if total := out[0] + out[1]; total > 0 {
		return min(1, max(0, out[0]/total))
	}
	return 0.5 // too few rows to tell; released values decide, not the data
}

func (r *privateRows) noiseFor(eps dp.Epsilon, l1 float64, length int) mech.Mechanism {
	if r.pl.NotPrivate {
		return mech.NoNoise{}
	}
	return mech.Sized(mech.LaplaceFor(eps, l1, length))
}

// edgeScore is the score of a candidate intercept: |err − 1/2|, since a classifier
// that is mostly wrong is worth as much as one mostly right. It is 1-Lipschitz
// in err, so its sensitivity is that of err. Under add-remove the score is
// |wrong − right|/2 in rows, whose sensitivity is half the largest weight.
func (r *privateRows) edgeScore(wrong, right int64) mech.Ratio {
	gap := wrong - right
	if gap < 0 {
		gap = -gap
	}
	if r.pl.s.Relation == dp.ReplaceOne {
		return mech.Ratio{Num: gap, Den: 2 * (wrong + right)}
	}
	return mech.Ratio{Num: gap, Den: 2 * r.one()}
}

func (r *privateRows) selectorFor(eps dp.Epsilon) mech.Selector {
	if r.pl.NotPrivate {
		return mech.NoNoise{}
	}
	spread := 2 * r.errorSensitivity() // scores move within ± the sensitivity of err
	if r.pl.s.Relation == dp.AddRemove {
		spread = float64(r.reach.hi) / float64(r.pl.clip.one) // within ± half the largest weight
	}
	return mech.Sized(mech.PermuteAndFlipFor(eps, spread))
}

// reweighPatterns applies lines 13-19 to every pattern classifier k is wrong about,
// and the same step to the set of reachable weights.
func (r *privateRows) reweighPatterns(k int, factor float64) {
	for i := range r.weight {
		if r.isWrong(k, i) {
			r.weight[i] = r.pl.clip.stepWeight(r.weight[i], factor)
		}
	}
	r.reach.addRound(factor)
}
