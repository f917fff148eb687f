// SPDX-License-Identifier: Apache-2.0

package mistakes

import (
	"fmt"
	"sync"

	"github.com/discreet-dp/discreet/internal/ground/deepcopy"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/internal/inside"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Question is the question that the rows answer once. It consists of public choices and coins alone.
type Question struct {
	Space *feature.Space
	// List is the classifiers. If there are Shapes, those are the classifiers instead, and List holds
	// their components.
	List   []feature.Threshold
	Shapes []Shape
	// C1 and C2 are the bounds of weights, which stay in [1/C1, C2]: each in [1, MaxC].
	C1, C2 float64
	// Paper scales noise by C1·C2/n in every round, as printed in the paper, instead of by the largest
	// possible weights after the steps so far. It requires a public number of rows, and equal weights
	// of classes.
	Paper bool
	// Classes states that Share or WeighClasses will be called.
	Classes bool
}

// MaxC is the largest bound of weights.
const MaxC = 1000

// ClassUnits is the weight of a row of the heavier class before any round. Weights of rows are at most
// 2^21 times this, so that sums over 2^31 rows fit an int64.
const ClassUnits = 1 << 10

// Rows counts the rows by mistake pattern, with their common weight. Rows of one pattern have been
// misclassified by the same classifiers, so that their weights are equal.
type Rows struct {
	in       guard.Inside
	relation dp.Relation
	private  bool
	positive int // label code
	question Question
	clip     clip
	sealed   inside.Sealed[*weighed]
	reach    *reachable
	count    int      // of classifiers
	label    int      // the classifier whose mistakes are the negative labels; used if classes are weighted
	units    [2]int64 // weights of the classes, by label code
	total    int64    // sum of units over all rows if labels are public, otherwise 0
}

// weighed holds the rows by pattern. It is locked from a question's first look at weights or their
// range to its release, so that both are of one round.
type weighed struct {
	sync.Mutex
	patterns *engine.Patterns
	n        int     // number of rows
	weight   []int64 // by pattern, in clip units, without the weight of its class
}

// evenUnits count every row once.
var evenUnits = [2]int64{ClassUnits, ClassUnits}

// Read answers the question from the rows of g, with one row per person. It takes one pass.
func Read(g *guard.Guard, q Question) (*Rows, error) {
	g.DrawRows() // G-PERSONS-2
	in := g.Inside(inside.Take())
	s, space := in.Schema(), q.Space
	q.Space = nil
	q = deepcopy.Of(q)
	switch { // written so that NaN fails
	case !(q.C1 >= 1 && q.C1 <= MaxC && q.C2 >= 1 && q.C2 <= MaxC):
		return nil, fmt.Errorf("mistakes: bounds of weights must be 1 to %d (got %g, %g)", MaxC, q.C1, q.C2)
	case q.Paper && in.Relation() != dp.ReplaceOne:
		return nil, fmt.Errorf("mistakes: c1·c2/n needs a public number of rows")
	case s.Classes() != 2:
		return nil, fmt.Errorf("mistakes: the label must have two levels")
	}
	tab, err := in.OneRow()
	if err != nil {
		return nil, err
	}
	if q.Space, err = in.Space(space); err != nil {
		return nil, err
	}
	for k := range q.List {
		if err := q.List[k].Check(q.Space); err != nil {
			return nil, err
		}
	}
	list := q.List
	if q.Classes || q.Shapes != nil {
		list = append(list[:len(list):len(list)], positiveAlways(q.Space))
	}
	if err := checkShapes(q.Shapes, len(q.List)); err != nil {
		return nil, err
	}
	patterns, err := tab.Mistakes(in.Context(), q.Space, list)
	if err != nil {
		return nil, err
	}
	count := len(q.List)
	if q.Shapes != nil {
		count = len(q.Shapes)
		patterns = answerPatterns(patterns, q.Shapes, len(q.List))
	}
	r := newRows(q, patterns, tab.Rows(), count)
	r.in, r.private, r.relation, r.positive = in, g.Private(), in.Relation(), s.Label.Positive
	return r, nil
}

// newRows makes Rows for n rows with these patterns of count classifiers and, if the question requires
// it, the label.
func newRows(q Question, p *engine.Patterns, n, count int) *Rows {
	r := &Rows{question: q, clip: newClip(q.C1, q.C2), count: count, label: count, units: evenUnits,
		sealed: inside.Seal(&weighed{patterns: p, n: n, weight: make([]int64, len(p.Count))})}
	r.reach = newReachable(r.clip)
	for i := range r.sealed().weight {
		r.sealed().weight[i] = r.clip.one // Algorithm 2 line 2; 1 lies in [1/c1, c2]
	}
	return r
}

// positiveAlways is wrong on exactly the negative rows: its bit among the mistakes is the label.
func positiveAlways(sp *feature.Space) feature.Threshold {
	return feature.Threshold{Coef: make([]float64, sp.Width()), Bias: 1}
}

// WeighClasses sets the weight of a row to the units of its class, by label code: 1 to ClassUnits.
// They must depend only on public data and earlier releases.
func (r *Rows) WeighClasses(units [2]int64) error {
	r.sealed().Lock()
	defer r.sealed().Unlock()
	for _, u := range units {
		if u < 1 || u > ClassUnits {
			return fmt.Errorf("mistakes: classes must weigh 1 to %d units (got %d)", ClassUnits, u)
		}
	}
	if units[0] != units[1] && (r.question.Paper || !r.question.Classes) {
		return fmt.Errorf("mistakes: classes may weigh differently only if the question says so, and not under c1·c2/n")
	}
	r.units, r.total = units, 0
	if r.question.Classes && !r.in.LabelProtected() { // so their numbers are public
		held := r.sealed()
		for i, n := range held.patterns.Count {
			class := r.positive
			if held.isWrong(r.label, i) {
				class = 1 - class
			}
			r.total += units[class] * int64(n)
		}
	}
	return nil
}

// isWrong reports the mistake bit of classifier k for pattern i.
func (w *weighed) isWrong(k, i int) bool {
	return w.patterns.Bits[i*w.patterns.Words+k/64]>>(k%64)&1 == 1
}

func (r *Rows) isEven() bool { return r.units[0] == r.units[1] }

// sumWeights adds up the weights of the rows on which classifier k is wrong and right, in clip units,
// times the units of classes if those are weighted. n ≤ 2^31 rows of at most 2^21·2^10 fit an int64.
func (r *Rows) sumWeights(k int) (wrong, right int64) {
	if !r.isEven() {
		return r.sumWeighed(k)
	}
	var sum [2]int64
	word, shift := k/64, k%64
	p := r.sealed().patterns
	for i, w := range r.sealed().weight {
		bit := p.Bits[i*p.Words+word] >> shift & 1
		sum[bit] += w * int64(p.Count[i])
	}
	return sum[1], sum[0]
}

// sumWeighed is sumWeights for weighted classes.
func (r *Rows) sumWeighed(k int) (wrong, right int64) {
	var sums [2][2]int64 // by the mistake bit of k and that of the label, which is set for negative rows
	word, shift, labelWord, labelShift := k/64, k%64, r.label/64, r.label%64
	held := r.sealed()
	p := held.patterns
	for i, w := range held.weight {
		bits := p.Bits[i*p.Words:][:p.Words]
		sums[bits[word]>>shift&1][bits[labelWord]>>labelShift&1] += w * int64(p.Count[i])
	}
	positive, negative := r.units[r.positive], r.units[1-r.positive]
	return positive*sums[1][0] + negative*sums[1][1], positive*sums[0][0] + negative*sums[0][1]
}

// one is the initial weight of a row of the heavier class, in the units of sumWeights.
func (r *Rows) one() int64 {
	if r.isEven() {
		return r.clip.one
	}
	return r.clip.one * ClassUnits
}

// errorSensitivity bounds the change of wrong/(wrong+right) if one row is replaced, given the releases
// so far (1.4; evidence/guarantees/brc.md, lemma 1). If classes are weighted, the replaced row may be
// of the heavier class. The others then weigh together at least what the public labels imply, or as
// much as rows of the lighter class (1.9; lemma 4).
func (r *Rows) errorSensitivity() float64 {
	n := float64(r.sealed().n)
	if r.question.Paper {
		return roundUp(r.question.C1 * r.question.C2 / n)
	}
	hi, lo := float64(r.reach.hi), float64(r.reach.lo)
	others := n - 1
	switch {
	case r.isEven():
	case r.total > 0:
		others = float64(r.total-ClassUnits) / ClassUnits
	default:
		others *= float64(min(r.units[0], r.units[1])) / ClassUnits
	}
	return roundUp(hi / (hi + others*lo))
}

// roundUp rounds up a quotient of a few float operations by more than their rounding errors.
func roundUp(x float64) float64 { return x * (1 + 0x1p-50) }

// Error releases the noisy weighted error of classifier k (Algorithm 2 line 6), for eps. Under
// replacement it releases the ratio itself. Under add-remove, if the number of rows is private, it
// releases the two weighted counts and computes the ratio afterwards.
func (r *Rows) Error(label string, eps dp.Epsilon, k int) (float64, error) {
	r.sealed().Lock()
	defer r.sealed().Unlock()
	if err := r.checkClassifiers(k, k+1); err != nil {
		return 0, err
	}
	wrong, right := r.sumWeights(k)
	if r.relation == dp.ReplaceOne {
		return first(r.release(label, eps, r.errorSensitivity(), mech.Ratio{Num: wrong, Den: wrong + right})) // 1.3
	}
	most := float64(r.reach.hi) / float64(r.clip.one) // a row sits in one of the two counts with at most this weight
	out, err := r.release(label, eps, most, mech.Ratio{Num: wrong, Den: r.one()}, mech.Ratio{Num: right, Den: r.one()})
	if err != nil {
		return 0, err
	}
	if total := out[0] + out[1]; total > 0 {
		return min(1, max(0, out[0]/total)), nil
	}
	return 0.5, nil // too few rows to tell; released values decide, not the data
}

// release releases values with Laplace noise for eps.
func (r *Rows) release(label string, eps dp.Epsilon, l1 float64, values ...mech.Ratio) ([]float64, error) {
	m := mech.Mechanism(mech.NoNoise{})
	if r.private {
		sized, err := mech.LaplaceFor(eps, l1, len(values))
		if err != nil {
			return nil, err
		}
		m = sized
	}
	return r.in.Release(label, m, values...)
}

func first(values []float64, err error) (float64, error) {
	if err != nil {
		return 0, err
	}
	return values[0], nil
}

// Share releases the noisy share of the positive class, for eps. It must be called before rows or
// classes are weighted (1.9).
func (r *Rows) Share(label string, eps dp.Epsilon) (float64, error) {
	r.sealed().Lock()
	defer r.sealed().Unlock()
	if !r.question.Classes || !r.isEven() || len(r.reach.list) > 1 {
		return 0, fmt.Errorf("mistakes: a share of classes must be asked first, if the question says so")
	}
	neg, pos := r.sumWeights(r.label) // weights are 1 as yet, so these are counts
	if r.relation == dp.ReplaceOne {
		return first(r.release(label, eps, roundUp(1/float64(r.sealed().n)), mech.Ratio{Num: pos, Den: pos + neg}))
	}
	out, err := r.release(label, eps, 1, mech.Ratio{Num: neg, Den: r.clip.one}, mech.Ratio{Num: pos, Den: r.clip.one})
	if err != nil {
		return 0, err
	}
	if total := out[0] + out[1]; total > 0 {
		return out[1] / total, nil
	}
	return 0.5, nil // too few rows to tell
}

// edgeScore is the score of a candidate: |err − 1/2|, since a classifier that is mostly wrong is as
// useful as one that is mostly right. It is 1-Lipschitz in err, so that it has the same sensitivity.
// Under add-remove the score is |wrong − right|/2 in rows, whose sensitivity is half the largest
// weight.
func (r *Rows) edgeScore(wrong, right int64) mech.Ratio {
	gap := wrong - right
	if gap < 0 {
		gap = -gap
	}
	if r.relation == dp.ReplaceOne {
		return mech.Ratio{Num: gap, Den: 2 * (wrong + right)}
	}
	return mech.Ratio{Num: gap, Den: 2 * r.one()}
}

// Choose returns one of the classifiers from..to-1 that has a high edge, for eps (1.6).
func (r *Rows) Choose(label string, eps dp.Epsilon, from, to int) (int, error) {
	r.sealed().Lock()
	defer r.sealed().Unlock()
	if err := r.checkClassifiers(from, to); err != nil {
		return 0, err
	}
	scores := make([]mech.Ratio, to-from)
	for c := range scores {
		scores[c] = r.edgeScore(r.sumWeights(from + c))
	}
	m := mech.Selector(mech.NoNoise{})
	if r.private {
		sized, err := mech.PermuteAndFlipFor(eps, r.edgeSpread())
		if err != nil {
			return 0, err
		}
		m = sized
	}
	k, err := r.in.Select(label, m, scores)
	return from + k, err
}

// edgeSpread is the sensitivity of the difference of two scores.
func (r *Rows) edgeSpread() float64 {
	if r.relation == dp.AddRemove {
		return float64(r.reach.hi) / float64(r.clip.one) // within ± half the largest weight
	}
	spread := 2 * r.errorSensitivity() // scores move within ± the sensitivity of err
	return spread
}

func (r *Rows) checkClassifiers(from, to int) error {
	if from < 0 || from >= to || to > r.count {
		return fmt.Errorf("mistakes: classifiers %d to %d must be among the %d of the question", from, to-1, r.count)
	}
	return nil
}

// Reweigh applies lines 13-19 to every row on which classifier k is wrong, and the same step to the
// set of reachable weights. The factor must depend only on public data and earlier releases.
func (r *Rows) Reweigh(k int, factor float64) error {
	r.sealed().Lock()
	defer r.sealed().Unlock()
	if err := r.checkClassifiers(k, k+1); err != nil {
		return err
	}
	held := r.sealed()
	for i, w := range held.weight {
		if held.isWrong(k, i) {
			held.weight[i] = r.clip.stepWeight(w, factor)
		}
	}
	r.reach.addRound(factor)
	return nil
}
