// SPDX-License-Identifier: Apache-2.0

package printed

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/optimize"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// linear is sections 3.5.1 and 3.5.2: a centroid, or a logistic regression, per
// class, in the space of all columns.
type linear struct {
	*run
	space *feature.Space
	cols  []int
	index [][]int // per column and code: the feature
	value [][]float64
	kept  []*linearMember
	last  *linearMember
}

type linearMember struct {
	coef [][]float64 // K × features
	bias []float64
	vote float64
}

func newLinear(r *run) (*linear, error) {
	l := &linear{run: r, cols: r.tab.Schema.Features()}
	var err error
	if l.space, err = feature.NewSpace(r.tab.Schema, feature.OneHot, l.cols); err != nil {
		return nil, err
	}
	for k, j := range l.cols {
		codes := l.space.Codes(k, &r.tab.Cols[j])
		index, value := make([]int, codes), make([]float64, codes)
		for c := range codes {
			index[c], value[c] = l.space.Cell(k, &r.tab.Cols[j], c)
		}
		l.index, l.value = append(l.index, index), append(l.value, value)
	}
	return l, nil
}

// writeRow writes the features of a row, times scale, to x.
func (l *linear) writeRow(i int, scale float64, x []float64) {
	clear(x)
	for k, j := range l.cols {
		c := l.tab.Cols[j].Codes.At(i)
		x[l.index[k][c]] = scale * l.value[k][c]
	}
}

func (l *linear) fit(ctx context.Context, group []int, t *Round) (func(int) uint8, error) {
	var err error
	if l.Classifier == Centroid {
		err = l.perturbCentroids(ctx, group)
	} else {
		err = l.meanParameters(ctx, group)
	}
	if err != nil {
		return nil, err
	}
	x, m := make([]float64, l.space.Width()), l.last
	return func(row int) uint8 {
		l.writeRow(row, 1, x)
		best, most := 0, math.Inf(-1)
		for k := range m.coef {
			z := m.bias[k]
			for f, v := range x {
				z += m.coef[k][f] * v
			}
			if z > most {
				best, most = k, z
			}
		}
		return uint8(best)
	}, nil
}

// perturbCentroids takes the mean, over the owners of each class, of the perturbed
// weighted samples (w·x)', submitted with the label in clear.
func (l *linear) perturbCentroids(ctx context.Context, group []int) error {
	d := l.space.Width()
	mu, count := make([][]float64, l.classes), make([]float64, l.classes)
	for k := range mu {
		mu[k] = make([]float64, d)
		of := make([]int, 0, len(group))
		for _, o := range group {
			if int(l.tab.Labels[o]) == k {
				of = append(of, o)
			}
		}
		count[k] = float64(len(of))
		sum, err := l.sumReports(ctx, d, of, func(o int, x []float64) error {
			l.writeRow(o, l.rowShare(o), x)
			return nil
		})
		if err != nil {
			return err
		}
		for f, s := range sum {
			mu[k][f] = s * l.most / math.Max(count[k], 1)
		}
	}
	l.last = &linearMember{coef: make([][]float64, l.classes), bias: make([]float64, l.classes)}
	for k := range mu {
		// ‖x−μ‖² = ‖x‖² − 2μ·x + ‖μ‖².
		l.last.coef[k] = make([]float64, d)
		for f, m := range mu[k] {
			l.last.coef[k][f] = 2 * m
			l.last.bias[k] -= m * m
		}
	}
	return nil
}

// meanParameters is (4): the mean of the perturbed local classifiers.
func (l *linear) meanParameters(ctx context.Context, group []int) error {
	d, K := l.space.Width(), l.classes
	functions := K
	if K == 2 { // one function is enough: the other is its opposite
		functions = 1
	}
	sum, err := l.sumReports(ctx, functions*(d+1), group, func(o int, x []float64) error {
		theta, err := l.fitLocal(o)
		if err != nil {
			return err
		}
		for j := range x {
			at := j
			if K == 2 {
				at += d + 1 // of class 1
			}
			x[j] = math.Min(math.Max(theta[at]/l.Clip, -1), 1)
		}
		return nil
	})
	if err != nil {
		return err
	}
	l.last = &linearMember{coef: make([][]float64, K), bias: make([]float64, K)}
	for k := range K {
		l.last.coef[k] = make([]float64, d)
		at, sign := k*(d+1), l.Clip/float64(len(group))
		if K == 2 {
			at = 0
			if k == 0 {
				sign = -sign
			}
		}
		for f := range d {
			l.last.coef[k][f] = sign * sum[at+f]
		}
		l.last.bias[k] = sign * sum[at+d]
	}
	return nil
}

// fitLocal is (3): the owner's own regression, K rows of features and intercept, on
// features that are multiplied by the record's weight.
//
//	mean over records of −log softmax(Θ(w·x, 1))_y + ½·Reg·‖Θ‖²
//
// At its minimum Reg·Θ is a mean of (1[y=k] − p_k)·(w·x, 1), so that no entry is
// larger than 1/Reg if w ≤ 1: a public range, which the paper does not give.
func (l *linear) fitLocal(o int) ([]float64, error) {
	from, to := l.ownerRows(o)
	n, d, K := to-from, l.space.Width(), l.classes
	xs := make([][]float64, n)
	for i := range xs {
		xs[i] = make([]float64, d+1)
		l.writeRow(from+i, l.rowShare(from+i), xs[i][:d])
		xs[i][d] = 1
	}
	if n == 1 {
		return l.fitAlone(xs[0], int(l.tab.Labels[from])), nil
	}
	p := make([]float64, K)
	evaluate := func(grad, theta []float64) (loss float64) {
		if grad != nil {
			for j, t := range theta {
				grad[j] = l.Reg * t
			}
		}
		for _, t := range theta {
			loss += 0.5 * l.Reg * t * t
		}
		for i, x := range xs {
			y := int(l.tab.Labels[from+i])
			writeSoftmax(p, theta, x)
			loss -= math.Log(math.Max(p[y], 1e-300)) / float64(n)
			if grad == nil {
				continue
			}
			for k := range K {
				r := p[k]
				if k == y {
					r--
				}
				for f, v := range x {
					grad[k*(d+1)+f] += r * v / float64(n)
				}
			}
		}
		return loss
	}
	res, err := optimize.Minimize(optimize.Problem{
		Func: func(t []float64) float64 { return evaluate(nil, t) },
		Grad: func(g, t []float64) { evaluate(g, t) },
	}, make([]float64, K*(d+1)), &optimize.Settings{GradientThreshold: 1e-5, MajorIterations: 200}, &optimize.LBFGS{})
	if res == nil {
		return nil, fmt.Errorf("printed: a local regression: %w", err)
	}
	return res.X, nil // where a search stops short is as good a local classifier as any
}

func writeSoftmax(p, theta, x []float64) {
	top := math.Inf(-1)
	for k := range p {
		p[k] = 0
		for f, v := range x {
			p[k] += theta[k*len(x)+f] * v
		}
		top = math.Max(top, p[k])
	}
	sum := 0.0
	for k := range p {
		p[k] = math.Exp(p[k] - top)
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
}

// fitAlone is local for one record x of class y. Θ is a multiple of x in each row:
// q/Reg for y and −q/(Reg·(K−1)) for the others, q the probability of not y,
// which solves q = 1/(1 + exp(q·s)/(K−1)) with s = ‖x‖²·K/((K−1)·Reg).
func (l *linear) fitAlone(x []float64, y int) []float64 {
	K := float64(l.classes)
	s := 0.0
	for _, v := range x {
		s += v * v
	}
	s *= K / ((K - 1) * l.Reg)
	lo, hi := 0.0, 1.0
	for range 52 {
		q := (lo + hi) / 2
		if q < 1/(1+math.Exp(q*s)/(K-1)) {
			lo = q
		} else {
			hi = q
		}
	}
	out := make([]float64, l.classes*len(x))
	for k := range l.classes {
		c := lo / l.Reg
		if k != y {
			c /= -(K - 1)
		}
		for f, v := range x {
			out[k*len(x)+f] = c * v
		}
	}
	return out
}

func (l *linear) keep(vote float64) {
	l.last.vote = vote
	l.kept = append(l.kept, l.last)
}

func (l *linear) model() *model.Model {
	out := &model.Model{Schema: l.tab.Schema.Part(l.cols)}
	_, at, err := spaceOf(out, l.tab, l.cols)
	if err != nil {
		panic("printed: the space was built before: " + err.Error())
	}
	if len(l.kept) == 0 {
		l.kept = []*linearMember{l.last}
	}
	if len(l.kept) == 1 {
		m := l.kept[0]
		out.Classifier = &model.Linear{Space: at, Link: model.Softmax, Coef: m.coef, Bias: m.bias}
		return out
	}
	ballots := &model.Ballots{Link: model.Share}
	for _, m := range l.kept {
		ballots.Members = append(ballots.Members,
			model.Ballot{Space: at, Weight: m.vote, Argmax: &model.Argmax{Coef: m.coef, Bias: m.bias}})
	}
	out.Classifier = ballots
	return out
}
