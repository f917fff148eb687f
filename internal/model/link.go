// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Link converts the sums of a classifier of K classes, one per class, to K numbers in [0, 1] that add
// up to 1.
type Link string

const (
	// Share divides each sum, which must be ≥ 0, by their total; each score is 1/K if the total is 0.
	Share Link = "share"
	// Softmax treats the sums as logarithms of the classes' odds: exp(z_k)/Σ exp(z_j).
	Softmax Link = "softmax"
	// OneVersusRest treats each sum as the log-odds of its class against all others together: σ(z_k)/Σ
	// σ(z_j).
	OneVersusRest Link = "one-vs-rest"
)

// checkKnown refuses a link that the classifier does not support.
func (l Link) checkKnown(who string, known ...Link) error {
	for _, k := range known {
		if l == k {
			return nil
		}
	}
	return fmt.Errorf("model: %s: link %q is not known", who, l)
}

// applyTo replaces the finite sums z by scores. It cannot overflow: softmax divides by its largest
// term first, and the sigmoids are computed in logarithms.
func (l Link) applyTo(z []float64) {
	switch l {
	case OneVersusRest:
		for k, x := range z {
			z[k] = min(x, 0) - math.Log1p(math.Exp(-math.Abs(x)))
		}
		overwriteSoftmax(z)
	case Softmax:
		overwriteSoftmax(z)
	default:
		overwriteShares(z)
	}
}

func overwriteSoftmax(z []float64) {
	most := z[feature.ArgMax(z)]
	for k, x := range z {
		z[k] = math.Exp(x - most)
	}
	overwriteShares(z)
}

func overwriteShares(z []float64) {
	all := 0.0
	for _, x := range z {
		all += x
	}
	for k := range z {
		if z[k] /= all; all == 0 {
			z[k] = 1 / float64(len(z))
		}
	}
}

// bindTable turns a function that writes K sums per row into one that writes scores.
func (l Link) bindTable(m *Model, sum func(from int, sums []float64)) func(from int, out []float64) {
	classes, width := m.Schema.Classes(), m.Width()
	return func(from int, out []float64) {
		sums := out
		if width == 1 {
			sums = make([]float64, len(out)*classes)
		}
		sum(from, sums)
		for i := range len(out) / width {
			l.writeScores(m, sums[i*classes:][:classes], out[i*width:][:width])
		}
	}
}

// writeScores converts the sums of one row to scores. It overwrites the sums.
func (l Link) writeScores(m *Model, sums, out []float64) {
	l.applyTo(sums)
	if len(out) == 1 {
		out[0] = sums[m.Schema.Label.Positive]
		return
	}
	copy(out, sums)
}
