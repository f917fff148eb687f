// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Link turns the sums of a classifier of K levels, one per level, into K
// numbers in [0, 1] that add up to 1.
type Link string

const (
	// Share takes each sum, all of them ≥ 0, as a part of their total; 1/K each
	// where the total is 0.
	Share Link = "share"
	// Softmax takes the sums as logarithms of the levels' odds: exp(z_k)/Σ exp(z_j).
	Softmax Link = "softmax"
	// OneVersusRest takes each sum as the log-odds of its level against all
	// others together: σ(z_k)/Σ σ(z_j).
	OneVersusRest Link = "one-vs-rest"
)

// check refuses a link that is not one of those the classifier knows.
func (l Link) check(who string, known ...Link) error {
	for _, k := range known {
		if l == k {
			return nil
		}
	}
	return fmt.Errorf("model: %s: link %q is not known", who, l)
}

// apply overwrites the finite sums z. None of it overflows: softmax divides by
// its largest term first, and the sigmoids do so in logarithms.
func (l Link) apply(z []float64) {
	switch l {
	case OneVersusRest:
		for k, x := range z {
			z[k] = min(x, 0) - math.Log1p(math.Exp(-math.Abs(x)))
		}
		softmax(z)
	case Softmax:
		softmax(z)
	default:
		shares(z)
	}
}

func softmax(z []float64) {
	most := z[feature.ArgMax(z)]
	for k, x := range z {
		z[k] = math.Exp(x - most)
	}
	shares(z)
}

func shares(z []float64) {
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
