// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// rounds is a fit on its way: what was released, and the score that weighs the
// rows of the next release.
type rounds struct {
	pl    *Plan
	tab   engine.Table
	exit  *mech.Exit
	score *feature.Additive // of the weights: the start and what is kept of the released shapes
	least int64             // as in start, for the score
	most  int64
	sums  []engine.CellSums // by private column, under the score; nil when the score has changed
	total []float64         // weight of all rows under the score by label, positive first, while it is public; else nil
	free  []int             // private columns that may still be picked
	fit   []shape           // by private column
	// unseen is the mean over rows of what the model's shapes add and the weights
	// do not see, in nats: later columns say it again, as a constant.
	unseen float64
}

// shape is what has been learnt about one private column.
type shape struct {
	used     bool
	steps    []float64 // nats
	seen     []float64 // of steps, what weights see
	variance []float64 // of steps; the last release's, see learn
}

func newRounds(pl *Plan, tab engine.Table, st *start, exit *mech.Exit) *rounds {
	r := &rounds{pl: pl, tab: tab, exit: exit, score: &st.seen, least: st.least, most: st.most, total: st.totals, fit: make([]shape, len(pl.private))}
	for k := range pl.private {
		if k < pl.columns {
			r.free = append(r.free, k)
		}
		r.fit[k].seen = make([]float64, pl.private[k].Len())
		r.fit[k].steps = make([]float64, pl.private[k].Len())
		r.fit[k].variance = make([]float64, pl.private[k].Len())
	}
	return r
}

// run makes round t.
func (r *rounds) run(ctx context.Context, t int) error {
	k := r.pl.rules.turn(t)
	if k >= r.pl.columns {
		r.see()
	}
	if err := r.look(ctx, t, k); err != nil {
		return err
	}
	caps := r.caps()
	if r.pl.rules.picks {
		k = r.pick(t, caps)
	}
	r.learn(k, r.release(t, k, caps), r.pl.rules.of(t))
	return nil
}

// look asks for the cells of round t where earlier answers do not hold them: of
// all columns, or of the k-th alone where the score changes before the next is
// looked at.
func (r *rounds) look(ctx context.Context, t, k int) error {
	if r.sums != nil {
		return nil
	}
	from, to := 0, r.pl.columns
	if !r.pl.rules.picks && r.pl.rules.of(t).keep != 0 {
		from, to = k, k+1
	}
	sums, err := r.tab.Cells(ctx, r.score, r.pl.private[from:to])
	if err != nil {
		return err
	}
	r.sums = make([]engine.CellSums, len(r.pl.private))
	copy(r.sums[from:], sums)
	return nil
}

// caps bound what a row of each label can weigh, positive first, whatever its
// private cells: the weight at the worst score that the released shapes allow
// (1.3). One unit more covers the rounding of exp.
func (r *rounds) caps() [2]int64 {
	return [2]int64{
		int64(min(engine.WeightOne, engine.Weight(r.least)+1)),
		int64(min(engine.WeightOne, engine.Weight(-r.most)+1)),
	}
}

// pick chooses the column whose cells are furthest from balance,
// Σ_bins |positive − negative| in weight, and takes it off the list.
func (r *rounds) pick(t int, caps [2]int64) int {
	scores := make([]mech.Ratio, len(r.free))
	for i, k := range r.free {
		scores[i] = mech.Ratio{Num: imbalance(&r.sums[k]), Den: engine.WeightOne}
	}
	// A row moves a score by at most its weight each time it appears or leaves,
	// up or down.
	spread := 2 * step(r.pl.s.Relation) * float64(max(caps[0], caps[1])) / engine.WeightOne
	i := r.exit.Select(pickLabel(t), r.pl.selector(r.pl.shares[t].pick, spread), scores) // 1.4: rows meet noise
	k := r.free[i]
	r.free = append(append([]int(nil), r.free[:i]...), r.free[i+1:]...)
	return k
}

func imbalance(c *engine.CellSums) (sum int64) {
	for b := range c.Positive {
		if d := int64(c.Positive[b]) - int64(c.Negative[b]); d > 0 {
			sum += d
		} else {
			sum -= d
		}
	}
	return sum
}

// cells are released cells of one column, in rows of weight 1.
type cells struct {
	positive, negative []float64
	noise              noise
}

// noise is how far the noise takes the cells of one bin from the truth.
type noise struct {
	positive, negative float64 // standard deviations; 0 for none
	gaussian           bool    // else of Laplace
}

// variance is that of positive − negative, and of their sum.
func (n noise) variance() float64 {
	return float64(n.positive*n.positive) + float64(n.negative*n.negative)
}

// release lets the cells of column k out. Each is divided by the cap of its
// label, so that a row counts for at most 1 and lies in one cell: the vector
// moves by step(relation) in L1 (1.2).
func (r *rounds) release(t, k int, caps [2]int64) cells {
	c := r.let(cellsLabel(t), r.pl.noise(r.pl.shares[t].cells, r.pl.s.Relation, 2*r.pl.private[k].Len()), k, caps)
	p, q := float64(caps[0])/engine.WeightOne, float64(caps[1])/engine.WeightOne
	part := r.pl.shares[t].cells
	deviation := math.Sqrt(part.variance(r.pl.s.Relation))
	c.noise = noise{positive: p * deviation, negative: q * deviation, gaussian: part.rho > 0}
	return c
}

// let is release by a given mechanism, of which it does not know the noise.
func (r *rounds) let(label string, by mech.Mechanism, k int, caps [2]int64) cells {
	sums := &r.sums[k]
	n := len(sums.Positive)
	values := make([]mech.Ratio, 0, 2*n)
	for b := range n {
		values = append(values, mech.Ratio{Num: int64(sums.Positive[b]), Den: caps[0]}, mech.Ratio{Num: int64(sums.Negative[b]), Den: caps[1]})
	}
	out := r.exit.Release(label, by, values...) // 1.4: rows meet noise
	p, q := float64(caps[0])/engine.WeightOne, float64(caps[1])/engine.WeightOne
	c := cells{positive: make([]float64, n), negative: make([]float64, n)}
	for b := range n {
		c.positive[b], c.negative[b] = out[2*b]*p, out[2*b+1]*q
	}
	if r.total != nil {
		meet(c.positive, r.total[0])
		meet(c.negative, r.total[1])
	}
	return c
}

// meet moves released cells to the nearest ones that are possible: at least 0,
// with a sum that is public. All but those that end at 0 move by the same.
func meet(cells []float64, sum float64) {
	falling := slices.Clone(cells)
	slices.SortFunc(falling, func(a, b float64) int { return cmp.Compare(b, a) })
	shift := 0.0
	for b, x := range falling {
		sum -= x
		if next := sum / float64(b+1); b == 0 || x+next > 0 {
			shift = next
		}
	}
	for b := range cells {
		cells[b] = math.Max(0, cells[b]+shift)
	}
}

// learn adds what the cells say to the shape of column k, and what is kept of
// it to the score of the weights. From here on everything is post-processing.
func (r *rounds) learn(k int, c cells, in pass) {
	bins := r.pl.private[k]
	steps, variance := smooth(c, &bins)
	sh := &r.fit[k]
	sh.used = true
	sum, all := 0.0, 0.0
	for b := range steps {
		sh.steps[b] += in.trust * steps[b]
		// The last release alone says how far the shape may be off: it measured all
		// that the score did not know. What is not trusted may yet be so.
		held := (1 - in.trust) * steps[b]
		sh.variance[b] = variance[b] + float64(held*held) + float64(r.unseen*r.unseen)
		w := math.Max(c.positive[b]+c.negative[b], 0)
		sum, all = sum+float64(w*steps[b]), all+w
	}
	if all > 0 {
		r.unseen += (in.trust - in.keep) * sum / all
	}
	if in.keep == 0 {
		return
	}
	kept := make([]float64, len(steps))
	for b, s := range steps {
		kept[b] = in.keep * s
	}
	r.keep(k, kept)
}

// keep adds steps of column k to the score of the weights.
func (r *rounds) keep(k int, steps []float64) {
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	for b, s := range steps {
		r.fit[k].seen[b] += s
		lo, hi = min(lo, feature.Units(s)), max(hi, feature.Units(s))
	}
	r.score.Shapes = append(r.score.Shapes, feature.Shape{Bins: r.pl.private[k], Steps: steps})
	r.least, r.most, r.sums, r.total = r.least+lo, r.most+hi, nil, nil
}

// noise is for a vector that moves by step(relation) in L1 and by
// length(relation) in L2.
func (pl *Plan) noise(p part, relation dp.Relation, size int) mech.Mechanism {
	switch {
	case pl.NotPrivate:
		return mech.NoNoise{}
	case p.rho > 0:
		return mech.Sized(mech.GaussianFor(p.rho, length(relation), size))
	}
	return mech.Sized(mech.LaplaceFor(p.eps, step(relation), size))
}

// variance is that of the noise on one number; 0 where there is none.
func (p part) variance(relation dp.Relation) float64 {
	switch {
	case p.rho > 0:
		return length(relation) * length(relation) / (2 * p.rho.Float())
	case p.eps > 0:
		scale := step(relation) / p.eps.Float()
		return 2 * scale * scale
	}
	return 0
}

func (pl *Plan) selector(eps dp.Epsilon, spread float64) mech.Selector {
	if pl.NotPrivate {
		return mech.NoNoise{}
	}
	return mech.Sized(mech.PermuteAndFlipFor(eps, spread))
}
