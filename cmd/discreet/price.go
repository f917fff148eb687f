// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// price is what a training may cost in privacy.
type price struct {
	epsilon    dp.Epsilon // 0 where notPrivate, or where the learner has no price
	delta      dp.Delta   // 0 for a pure guarantee
	notPrivate bool       // the operator's word that nothing need be protected
}

// priceFlags are the flags that say so. There is no default: a price that
// nobody named is a price that nobody agreed to.
type priceFlags struct {
	epsilon, delta string
	notPrivate     bool
}

func (f *priceFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.epsilon, "epsilon", "", "the privacy loss ε that a private learner may spend, a `number`; inf only with --not-private")
	c.Flags().StringVar(&f.delta, "delta", "0", "the δ that a learner with an (ε, δ) mode ("+strings.Join(approximate(), ", ")+") may spend besides, a `number`")
	c.Flags().BoolVar(&f.notPrivate, "not-private", false, "train without privacy although the schema has private columns")
}

// read checks what can be checked without a schema.
func (f *priceFlags) read(op string, l *learner) (price, error) {
	bad := func(want string, got any, hint string) (price, error) {
		return price{}, &dp.ParamError{Op: op, Param: "epsilon", Want: want, Got: got, Hint: hint}
	}
	delta, err := dp.ParseDelta(f.delta)
	if err != nil {
		return price{}, err
	}
	inf := strings.EqualFold(f.epsilon, "inf")
	switch {
	case inf && !f.notPrivate:
		return bad("may be inf only together with --not-private", f.epsilon, "give a finite epsilon such as 0.5")
	case !l.private && f.epsilon != "" && !inf:
		return bad(fmt.Sprintf("must be inf or left out: learner %s adds no noise and keeps no privacy", l.name), f.epsilon, "for a private model use a private learner such as brc")
	case delta > 0 && (!l.private || inf):
		return price{}, &dp.ParamError{Op: op, Param: "delta", Want: "must be 0 or left out: nothing is protected", Got: f.delta}
	case !l.private, inf:
		return price{notPrivate: f.notPrivate}, nil
	case delta > 0 && !l.approximate:
		return price{}, &dp.ParamError{Op: op, Param: "delta", Want: fmt.Sprintf("must be 0: the guarantee of learner %s is pure", l.name), Got: f.delta, Hint: "learners with an (epsilon, delta) mode: " + strings.Join(approximate(), ", ")}
	case f.epsilon == "":
		return bad("must be given: it is the price of the training, and nobody else can name it", nil, "for example --epsilon 0.5; discreet plan shows what it buys")
	case f.notPrivate:
		return bad("must be inf together with --not-private", f.epsilon, "leave out --not-private to train with privacy")
	}
	eps, err := dp.ParseEpsilon(f.epsilon)
	return price{epsilon: eps, delta: delta}, err
}

// excess says in words how pr exceeds what the owner of the table allows for
// one training, "" when it does not.
func (pr price) excess(s *schema.Schema) string {
	switch {
	case s.MaxEpsilon > 0 && pr.notPrivate:
		return fmt.Sprintf("training without privacy exceeds the max_epsilon %s that schema %q declares", s.MaxEpsilon, s.Name)
	case s.MaxEpsilon > 0 && pr.epsilon > s.MaxEpsilon:
		return fmt.Sprintf("epsilon %s exceeds the max_epsilon %s that schema %q declares", pr.epsilon, s.MaxEpsilon, s.Name)
	case s.MaxDelta > 0 && pr.delta > s.MaxDelta:
		return fmt.Sprintf("delta %s exceeds the max_delta %s that schema %q declares", pr.delta, s.MaxDelta, s.Name)
	case s.MaxEpsilon > 0 && s.MaxDelta == 0 && pr.delta > 0:
		return fmt.Sprintf("delta %s exceeds what schema %q declares: a max_epsilon and no max_delta", pr.delta, s.Name)
	}
	return ""
}
