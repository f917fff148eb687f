// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// releasesOf is a learner on pairs of neighbouring tables, seen by someone to whom every
// noisy number and every choice is shown, as the proofs of learners allow (the model is
// made of these and of public facts). A run trains on one side's table; then the same
// releases are forced upon a training on the other side's, which shows what would have
// met noise there. The one output is the log-likelihood ratio of all that left, the
// strongest statistic there is.
//
// It is not for learners of which a release or a public coin stays secret: objective
// perturbation, whose term is not shown, and parts dealt at random (pate with
// fewer teachers than rows). The first are refused when they run.
func releasesOf(name string, pl learn.Plan, pairs []Neighbours) (Subject, error) {
	sub := Subject{Name: "releases of " + name}
	for _, n := range pairs {
		var tabs [2]engine.Table
		for side, t := range n.Tables {
			tab, err := memory.New(t)
			if err != nil {
				return Subject{}, err
			}
			tabs[side] = tab
		}
		sub.Pairs = append(sub.Pairs, releasesPair(n.Name, [2]release{fitOf(pl, tabs[0]), fitOf(pl, tabs[1])}))
	}
	return sub, nil
}

// loudestNeighbours are the pair of so many at random on which a learner's releases
// speak loudest: the mean log-likelihood ratio of a few runs is the largest. Rows of a
// table are alike in part of the pairs and mixed in the others. What is protected of row
// 0 differs. It is a search for a bad case and no measurement: its runs are not counted.
func loudestNeighbours(ctx context.Context, pl learn.Plan, s *schema.Schema, rows, tries int, scope dp.Scope,
	src rng.Source) (loudest Neighbours, err error) {
	const few = 12
	most := math.Inf(-1)
	for range tries {
		n := randomNeighbours(s, rows, scope, src)
		sub, err := releasesOf("a try", pl, []Neighbours{n})
		if err != nil {
			return Neighbours{}, err
		}
		sum := 0.0
		out := make([]float64, few)
		for side := range 2 {
			if err := sub.Pairs[0].Draw(ctx, side, src, out); err != nil {
				return Neighbours{}, err
			}
			for _, x := range out {
				sum += x * float64(1-2*side)
			}
		}
		if sum > most {
			loudest, most = n, sum
		}
	}
	loudest.Name = fmt.Sprintf("the loudest of %d random pairs of %d rows", tries, rows)
	return loudest, nil
}

// randomNeighbours are tables of rows drawn at random, of a few kinds, that differ in the
// protected part of row 0.
func randomNeighbours(s *schema.Schema, rows int, scope dp.Scope, src rng.Source) Neighbours {
	anything := func(codes int) uint32 { return uint32(rng.Below(src, uint64(codes))) }
	t := equalRows(s, rows, anything)
	kinds := 1 + int(anything(3)) // of rows
	for j := range t.Cols {
		_, n := codeValues(&s.Columns[j])
		if n == 0 {
			continue
		}
		of := make([]uint32, kinds)
		for k := range of {
			of[k] = anything(n)
		}
		codes := make([]uint32, rows)
		for i := range codes {
			codes[i] = of[i%kinds]
		}
		t.Cols[j].Codes = column.Narrow(codes, max(s.Columns[j].Codes(), n))
	}
	labels := make([]uint8, kinds)
	for k := range labels {
		labels[k] = uint8(anything(s.Classes()))
	}
	for i := range t.Labels {
		t.Labels[i] = labels[i%kinds]
	}
	t.Labels[0] = uint8(anything(s.Classes()))
	t.Derive()
	n := Neighbours{"random", [2]*dataset.Table{}}
	for side := range n.Tables {
		n.Tables[side] = replaceProtected(t, scope, anything, uint8(anything(s.Classes())))
	}
	if s.Relation == dp.AddRemove {
		n.Tables[1] = n.Tables[0].Subset(upFrom(1, rows))
	}
	return n
}

// release lets out, through an exit, all that one side has to say.
type release func(ctx context.Context, exit *mech.Exit) error

func fitOf(pl learn.Plan, tab engine.Table) release {
	return func(ctx context.Context, exit *mech.Exit) error {
		_, err := guard.Train(ctx, pl, tab, guard.Uncounted{}, exit)
		return err
	}
}

func releasesPair(name string, sides [2]release) Pair {
	return Pair{
		Name: name, Outputs: []string{"log-likelihood ratio of all releases"}, Batch: 64,
		Draw: Each(1, func(ctx context.Context, side int, src rng.Source, out []float64) error {
			coins := &recordedCoins{src: src}
			echo := &echoTape{exit: mech.NewExit(src)}
			if err := sides[side](ctx, mech.NewTapedExit(coins, echo)); err != nil {
				return err
			}
			coins.next = 0
			force := &forcingTape{seen: echo.seen}
			err := sides[1-side](ctx, mech.NewTapedExit(coins, force))
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if echo.hidden != "" {
				return fmt.Errorf("audit: %s: release %q is not shown to anybody; its likelihood says nothing", name, echo.hidden)
			}
			ratio := force.ratio // of this side to the other
			if err != nil || force.strange || len(force.seen) > 0 {
				ratio = math.MaxFloat64 // the other side could not have let this out
			}
			if out[0] = ratio; side == 1 {
				out[0] = -ratio
			}
			return nil
		}),
	}
}

// passage is one release or choice: what was to leave, and what left.
type passage struct {
	label string
	in    []mech.Ratio
	out   []float64 // of a choice, its index
}

// echoTape lets everything pass with its noise and writes both down.
type echoTape struct {
	exit   *mech.Exit
	seen   []passage
	hidden string // a release that no one is shown
}

func (e *echoTape) Numbers(label string, m mech.Mechanism, values []mech.Ratio) []float64 {
	if slices.Contains([]string{"objective", "objective blocks", "remainder"}, m.Name()) {
		e.hidden = label
	}
	out := e.exit.Release(label, m, values...)
	e.seen = append(e.seen, passage{label, slices.Clone(values), out})
	return slices.Clone(out)
}

func (e *echoTape) Choice(label string, m mech.Selector, scores []mech.Ratio) int {
	at := e.exit.Select(label, m, scores)
	e.seen = append(e.seen, passage{label, slices.Clone(scores), []float64{float64(at)}})
	return at
}

// Report makes reports fail: owners' reports have audits of their own.
func (e *echoTape) Report(label string, _ response.Priced, _ []mech.Ratio) response.Report {
	e.hidden = label
	return nil
}

// forcingTape lets the same leave once more and adds up how much likelier it was where
// it left first.
type forcingTape struct {
	seen    []passage // still to come
	ratio   float64
	strange bool // this side lets out something else
}

func (f *forcingTape) take(label string, values []mech.Ratio) (p passage, ok bool) {
	if len(f.seen) == 0 || f.seen[0].label != label || len(f.seen[0].in) != len(values) {
		f.strange = true
		return passage{}, false
	}
	p, f.seen = f.seen[0], f.seen[1:]
	return p, true
}

func (f *forcingTape) Numbers(label string, m mech.Mechanism, values []mech.Ratio) []float64 {
	p, ok := f.take(label, values)
	if !ok {
		return make([]float64, len(values))
	}
	f.ratio += logDensity(m, p.out, p.in) - logDensity(m, p.out, values)
	return slices.Clone(p.out)
}

func (f *forcingTape) Choice(label string, m mech.Selector, scores []mech.Ratio) int {
	p, ok := f.take(label, scores)
	if !ok {
		return 0
	}
	at := int(p.out[0])
	f.ratio += logChance(m, p.in, at) - logChance(m, scores, at)
	return at
}

func (f *forcingTape) Report(string, response.Priced, []mech.Ratio) response.Report { return nil }

// logDensity is the logarithm of how likely a mechanism lets out leave where in was to
// leave, but for a constant: the laws without their grids, good enough for a score.
func logDensity(m mech.Mechanism, out []float64, in []mech.Ratio) float64 {
	scaled, ok := m.(interface{ Scale() float64 })
	if !ok { // no noise: what is not the same is impossible
		for i := range out {
			if out[i] != in[i].Float() {
				return -math.MaxFloat64
			}
		}
		return 0
	}
	var sum, square, block, largest float64
	var sizes []int
	if b, ok := m.(interface{ Blocks() []int }); ok {
		sizes = b.Blocks()
	}
	left := 0
	for i := range out {
		d := math.Abs(out[i] - in[i].Float())
		sum, square = sum+d, square+d*d
		if len(sizes) > 0 && left == 0 {
			block, left, sizes = 0, sizes[0], sizes[1:]
		}
		block, left = block+d, left-1
		largest = max(largest, block)
	}
	switch {
	case m.Norm() == mech.BlockL1:
		return -largest / scaled.Scale()
	case m.Loss() == dp.Infinite: // Gaussian
		return -square / (2 * scaled.Scale() * scaled.Scale())
	case m.Norm() == mech.L2:
		return -math.Sqrt(square) / scaled.Scale()
	}
	return -sum / scaled.Scale()
}

// logChance is the logarithm of the probability of a choice. Permute-and-flip takes
// candidate i where its coin, of chance q_i, shows heads and those of all that come
// before it in a random order show tails: q_i·∫ Π (1 − t·q_j) dt over t from 0 to 1.
func logChance(m mech.Selector, scores []mech.Ratio, at int) float64 {
	if math.IsInf(m.Spread(), 1) {
		return 0 // no noise: the other training's scores decide nothing here
	}
	best := math.Inf(-1)
	for _, s := range scores {
		best = max(best, s.Float())
	}
	q, sum := make([]float64, len(scores)), 0.0
	for i, s := range scores {
		q[i] = math.Exp((s.Float() - best) * m.Loss().Float() / m.Spread())
		sum += q[i]
	}
	if m.Name() == "exponential" {
		return math.Log(q[at] / sum)
	}
	const steps = 64
	mean := 0.0
	for k := range steps {
		product := 1.0
		for j := range q {
			if j != at {
				product *= 1 - (float64(k)+0.5)/steps*q[j]
			}
		}
		mean += product / steps
	}
	return math.Log(q[at]) + math.Log(mean)
}

// recordedCoins are public coins, which fall the same way twice.
type recordedCoins struct {
	src   rng.Source
	words []uint64
	next  int
}

func (c *recordedCoins) Uint64() uint64 {
	if c.next == len(c.words) {
		c.words = append(c.words, c.src.Uint64())
	}
	c.next++
	return c.words[c.next-1]
}

func (c *recordedCoins) Seeded() bool { return c.src.Seeded() }
