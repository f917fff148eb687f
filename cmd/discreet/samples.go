// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/train"
)

// samples are the flags that ask how many rows it takes to learn a linear
// classifier, which separates the labels with a margin when it is found.
type samples struct {
	margin float64 // γ, in (0, 1]
	err    float64 // α, in (0, 1)
	dim    int     // d ≥ 1
}

// sampleSizes are bounds without their constants and logarithms, as in the
// slides of Chaudhuri, Monteleoni and Sarwate.
type sampleSizes struct {
	NonPrivate float64 `json:"non_private"` // 1/(γ²α²)
	Objective  float64 `json:"objective"`   // 1/(γ²α²) + d/(γαε), perturbing the objective
	DMNS06     float64 `json:"dmns06"`      // d/(γ²εα^1.5), perturbing sums
	Meaning    string  `json:"meaning"`
}

func (f *samples) add(c *cobra.Command) {
	c.Flags().Float64Var(&f.margin, "margin", 0, "sample sizes: margin γ of a linear classifier, a `number` above 0 and at most 1")
	c.Flags().Float64Var(&f.err, "error", 0, "sample sizes: error α to learn it to, a `number` between 0 and 1")
	c.Flags().IntVar(&f.dim, "dim", 0, "sample sizes: `number` of dimensions d")
}

// sizes is nil where none of the flags is given.
func (f *samples) sizes(c *cobra.Command, pr train.Price) (*sampleSizes, error) {
	bad := func(param, want string, got any) (*sampleSizes, error) {
		return nil, &dp.ParamError{Op: "plan", Param: param, Want: want, Got: got}
	}
	names := []string{"margin", "error", "dim"}
	given := 0
	for _, name := range names {
		if c.Flags().Changed(name) {
			given++
		}
	}
	if given == 0 {
		return nil, nil
	}
	for _, name := range names {
		if !c.Flags().Changed(name) {
			return bad(name, "must be given too: sample sizes need --margin, --error and --dim", nil)
		}
	}
	switch { // written so that NaN fails
	case !(f.margin > 0 && f.margin <= 1):
		return bad("margin", "must be > 0 and at most 1", f.margin)
	case !(f.err > 0 && f.err < 1):
		return bad("error", "must be between 0 and 1", f.err)
	case f.dim < 1:
		return bad("dim", "must be at least 1", f.dim)
	case pr.Epsilon == 0:
		return bad("epsilon", "must be finite where sample sizes are asked for", nil)
	}
	d, eps := float64(f.dim), pr.Epsilon.Float()
	free := 1 / (f.margin * f.margin * f.err * f.err)
	s := &sampleSizes{
		NonPrivate: free,
		Objective:  free + d/(f.margin*f.err*eps),
		DMNS06:     d / (f.margin * f.margin * eps * math.Pow(f.err, 1.5)),
		Meaning:    "orders of magnitude of rows; constants and logarithms are left out",
	}
	if math.IsInf(s.Objective, 0) || math.IsInf(s.DMNS06, 0) {
		return bad("margin", "must not be so small that sample sizes are infinite", f.margin)
	}
	return s, nil
}

func (s *sampleSizes) String() string {
	return fmt.Sprintf(`rows to learn a linear classifier of that margin to that error, ORDER OF MAGNITUDE
(no constants, no logarithms; not a statement about this learner)
  %8.0e  without privacy                        1/(γ²α²)
  %8.0e  perturbed objective (CM08, SCM09)      1/(γ²α²) + d/(γαε)
  %8.0e  recipe of DMNS06                       d/(γ²εα^1.5)
`, s.NonPrivate, s.Objective, s.DMNS06)
}
