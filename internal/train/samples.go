// SPDX-License-Identifier: Apache-2.0

package train

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
)

// SampleSizes are bounds without their constants and logarithms, as in the
// slides of Chaudhuri, Monteleoni and Sarwate.
type SampleSizes struct {
	NonPrivate float64 `json:"non_private"` // 1/(γ²α²)
	Objective  float64 `json:"objective"`   // 1/(γ²α²) + d/(γαε), perturbing the objective
	DMNS06     float64 `json:"dmns06"`      // d/(γ²εα^1.5), perturbing sums
	BLR08      float64 `json:"blr08"`       // d²/(α³ε), any margin, in time exponential in d
	Meaning    string  `json:"meaning"`
}

// SampleSizesFor computes how many rows are needed to learn a linear classifier of margin γ in (0, 1],
// to error α in (0, 1), in dim dimensions. param names a refused parameter.
func SampleSizesFor(margin, alpha float64, dim int, eps dp.Epsilon) (s *SampleSizes, param, want string) {
	switch { // written so that NaN fails
	case !(margin > 0 && margin <= 1):
		return nil, "margin", "must be > 0 and at most 1"
	case !(alpha > 0 && alpha < 1):
		return nil, "error", "must be between 0 and 1"
	case dim < 1:
		return nil, "dim", "must be at least 1"
	case eps == 0:
		return nil, "epsilon", "must be finite if sample sizes are asked for"
	}
	d, e := float64(dim), eps.Float()
	free := 1 / (margin * margin * alpha * alpha)
	s = &SampleSizes{
		NonPrivate: free,
		Objective:  free + d/(margin*alpha*e),
		DMNS06:     d / (margin * margin * e * math.Pow(alpha, 1.5)),
		BLR08:      d * d / (alpha * alpha * alpha * e),
		Meaning:    "orders of magnitude of rows; constants and logarithms are left out",
	}
	if math.IsInf(s.Objective, 0) || math.IsInf(s.DMNS06, 0) {
		return nil, "margin", "must not be so small that sample sizes are infinite"
	}
	if math.IsInf(s.BLR08, 0) {
		return nil, "error", "must not be so small that sample sizes are infinite"
	}
	return s, "", ""
}

func (s *SampleSizes) String() string {
	return fmt.Sprintf(`rows to learn a linear classifier of that margin to that error, ORDER OF MAGNITUDE
(no constants, no logarithms; not a statement about this learner)
  %12s  without privacy                        1/(γ²α²)
  %12s  perturbed objective (CM08, SCM09)      1/(γ²α²) + d/(γαε)
  %12s  recipe of DMNS06                       d/(γ²εα^1.5)
  %12s  BLR08, KLNRS08, time exponential in d  d²/(α³ε)
`, roundUp(s.NonPrivate), roundUp(s.Objective), roundUp(s.DMNS06), roundUp(s.BLR08))
}

// roundUp formats x with two significant digits, rounded up: fewer rows than x are too few.
func roundUp(x float64) string {
	const slack = 1e-9 // of a sum's rounding
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	return learn.Digits(math.Ceil(x/unit*(1-slack))*unit, 2)
}
