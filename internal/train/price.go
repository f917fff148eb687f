// SPDX-License-Identifier: Apache-2.0

package train

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Price is the privacy cost that a training may have.
type Price struct {
	Epsilon    dp.Epsilon // 0 if NotPrivate, or if the learner has no price
	Delta      dp.Delta   // 0 for a pure guarantee
	NotPrivate bool       // the operator states that nothing needs protection
}

// PriceText is a price as it was typed. It has no default, because a price must be chosen
// deliberately.
type PriceText struct {
	Epsilon    string // a decimal number, "inf" together with NotPrivate, or ""
	Delta      string // a decimal number; "" is 0
	NotPrivate bool
}

// parsePrice checks what can be checked without a schema.
func (p PriceText) parsePrice(op string, l *Learner) (Price, error) {
	bad := func(want string, got any, hint string, next dp.Step) (Price, error) {
		return Price{}, &dp.ParamError{Op: op, Param: "epsilon", Want: want, Got: got, Hint: hint, Next: next}
	}
	delta := dp.Delta(0)
	if p.Delta != "" {
		var err error
		if delta, err = dp.ParseDelta(p.Delta); err != nil {
			return Price{}, err
		}
	}
	inf := strings.EqualFold(p.Epsilon, "inf")
	switch {
	case inf && !p.NotPrivate:
		return bad("may be inf only together with not-private", p.Epsilon, "give a finite epsilon such as 0.5", dp.Step{})
	case !l.Private && p.Epsilon != "" && !inf:
		return bad(fmt.Sprintf("must be inf or left out: learner %s adds no noise and keeps no privacy", l.Name), p.Epsilon,
			"for a private model use a private learner such as additive", dp.Step{})
	case delta > 0 && (!l.Private || inf):
		return Price{}, &dp.ParamError{Op: op, Param: "delta", Want: "must be 0 or left out: nothing is protected",
			Got: p.Delta}
	case !l.Private, inf:
		return Price{NotPrivate: p.NotPrivate}, nil
	case delta > 0 && !l.Approximate:
		return Price{}, &dp.ParamError{
			Op: op, Param: "delta", Want: "must be 0: the guarantee of learner " + l.Name + " is pure", Got: p.Delta,
			Hint: "learners with an (epsilon, delta) mode: " + strings.Join(ApproximateNames(), ", "),
		}
	case p.Epsilon == "":
		return bad("is required: it is the price of the training", nil, "", dp.Step{Kind: dp.ChooseEpsilon, Why: "0.5"})
	case p.NotPrivate:
		return bad("must be inf together with not-private", p.Epsilon, "",
			dp.Step{Kind: dp.LeaveOut, Name: "not-private", Why: "to train with privacy"})
	}
	eps, err := dp.ParseEpsilon(p.Epsilon)
	return Price{Epsilon: eps, Delta: delta}, err
}

// ExcessError is a price above the owner's limit for one training.
type ExcessError struct {
	Op, Why string
	Final   bool // the limit cannot be overridden
}

func (e *ExcessError) Error() string { return e.Op + ": " + e.Why }

// Excess describes how pr exceeds the owner's limit for one training, "" if it does not.
func (pr Price) Excess(s *schema.Schema) string {
	switch {
	case s.MaxEpsilon > 0 && pr.NotPrivate:
		return fmt.Sprintf("training without privacy exceeds the max_epsilon %s that schema %q declares", s.MaxEpsilon,
			s.Name)
	case s.MaxEpsilon > 0 && pr.Epsilon > s.MaxEpsilon:
		return fmt.Sprintf("epsilon %s exceeds the max_epsilon %s that schema %q declares", pr.Epsilon, s.MaxEpsilon, s.Name)
	case s.MaxDelta > 0 && pr.Delta > s.MaxDelta:
		return fmt.Sprintf("delta %s exceeds the max_delta %s that schema %q declares", pr.Delta, s.MaxDelta, s.Name)
	case s.MaxEpsilon > 0 && s.MaxDelta == 0 && pr.Delta > 0:
		return fmt.Sprintf("delta %s exceeds what schema %q declares: a max_epsilon and no max_delta", pr.Delta, s.Name)
	}
	return ""
}
