// SPDX-License-Identifier: Apache-2.0

package evaluation

import (
	"math"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

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

// Check refuses costs that are not positive numbers, and costs that choose no threshold: for several
// classes or models.
func (c *Costs) Check(classes, models int) error {
	if !c.valid() {
		return &dp.ParamError{Op: op, Param: "costs", Want: "must be above 0 and finite", Got: *c}
	}
	if classes > 2 || models > 1 {
		return &dp.ParamError{Op: op, Param: "costs", Want: "must be for one model of two classes", Got: classes}
	}
	return nil
}
