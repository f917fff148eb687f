// SPDX-License-Identifier: Apache-2.0

package evaluation

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Choice chooses the threshold from the released counts. The zero Choice leaves it as it was measured.
type Choice struct {
	Costs *Costs  // the cut at which mistakes cost least; nil for none
	Rate  float64 // the cut at which the share that is predicted positive is nearest to this one; 0 for none
}

// Costs are the costs of a mistake.
type Costs struct{ FalsePositive, FalseNegative float64 }

// ParseCosts parses FP:FN.
func ParseCosts(text string) (*Costs, error) {
	left, right, _ := strings.Cut(text, ":")
	fp, err := strconv.ParseFloat(left, 64)
	fn, err2 := strconv.ParseFloat(right, 64)
	c := &Costs{fp, fn}
	if err != nil || err2 != nil || !c.valid() {
		return nil, &dp.ParamError{Op: op, Param: "costs", Want: "must be FP:FN, two costs above 0", Got: strconv.Quote(text)}
	}
	return c, nil
}

func (c *Costs) valid() bool {
	return c.FalsePositive > 0 && c.FalseNegative > 0 && c.FalsePositive+c.FalseNegative < math.Inf(1)
}

// given reports whether a threshold is chosen.
func (c *Choice) given() bool { return c.Costs != nil || c.Rate != 0 }

// Check refuses costs that are not positive numbers, a rate that is no share, both, and choices where there is no
// threshold: for several classes or models.
func (c *Choice) Check(classes, models int) error {
	switch {
	case c.Costs != nil && !c.Costs.valid():
		return &dp.ParamError{Op: op, Param: "costs", Want: "must be above 0 and finite", Got: *c.Costs}
	case !(c.Rate >= 0 && c.Rate < 1):
		return &dp.ParamError{Op: op, Param: "threshold", Want: "must have a share of the rows above 0 and below 1", Got: c.Rate}
	case c.Costs != nil && c.Rate > 0:
		return &dp.ParamError{Op: op, Param: "costs", Want: "must not be given together with a rate", Got: *c.Costs}
	case c.given() && (classes > 2 || models > 1):
		name := "costs"
		if c.Rate > 0 {
			name = "threshold"
		}
		return &dp.ParamError{Op: op, Param: name, Want: "must be chosen for one model of two classes",
			Got: fmt.Sprintf("%d classes, %d models", classes, models)}
	}
	return nil
}
