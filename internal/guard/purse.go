// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/accounting"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
)

// Share is the price of one measurement: Epsilon for a pure one, Rho for one with Gaussian noise, or
// neither in a training without privacy.
type Share struct {
	Epsilon dp.Epsilon
	Rho     dp.Rho
	// Gamma uses Gamma noise for Epsilon, whose length alone matters, instead of Laplace noise.
	Gamma bool
}

// purse holds what is left of a price. The price of a measurement may depend on all earlier
// measurements, except in a listPurse.
type purse interface {
	// take pays for one measurement with this label and mechanism, or refuses.
	take(label, mechanism string, s Share) error
	// part sets aside the price of an inner training.
	part(label string, price dp.Price) error
}

// newPurse makes the purse for a price and its bill. Three kinds cover all bills: lines whose prices
// add up in (ε, δ) (2.1); Gaussian lines, and pure ones beside them, that add up in ρ (2.2); and a list of lines that were
// accounted jointly, which must be spent exactly as listed (2.3).
func newPurse(op string, price dp.Price, bill []dp.Event) (purse, error) {
	if len(bill) == 0 && price == (dp.Price{}) {
		return &listPurse{whole: whole{op}}, nil // what is public is answered, and nothing else
	}
	enough, err := accounting.Within(bill, price)
	if err != nil {
		return nil, err
	}
	if !enough {
		return nil, &dp.ParamError{Op: op, Param: "bill", Want: "must cost at most the price", Got: price}
	}
	if sum, ok := dp.Sum(bill); ok && sum.Epsilon <= price.Epsilon && sum.Delta <= price.Delta {
		return &sumPurse{op, price}, nil
	}
	if all, releases, ok := accounting.AsGaussian(bill, price); ok {
		return &gaussianPurse{whole{op}, all, releases + 1, price.Epsilon}, nil
	}
	return &listPurse{whole{op}, bill}, nil
}

func refuse(op, label, want string, got any) error {
	return &dp.ParamError{Op: op, Param: "share of " + label, Want: want, Got: got}
}

// sumPurse is for pure measurements and inner trainings, whose prices add up (2.1).
type sumPurse struct {
	op   string
	left dp.Price
}

func (p *sumPurse) take(label, _ string, s Share) error {
	if s.Rho != 0 || s.Epsilon < 1 {
		return refuse(p.op, label, "must be an epsilon > 0", s)
	}
	return p.part(label, dp.Price{Epsilon: s.Epsilon})
}

func (p *sumPurse) part(label string, price dp.Price) error {
	if price.Epsilon < 1 || price.Epsilon > p.left.Epsilon || price.Delta < 0 || price.Delta > p.left.Delta {
		return refuse(p.op, label, "must be at most what is left, "+p.left.String(), price)
	}
	p.left.Epsilon -= price.Epsilon
	p.left.Delta -= price.Delta
	return nil
}

// whole is the part of no purse that pays for a training inside.
type whole struct{ op string }

func (p whole) part(label string, price dp.Price) error {
	return refuse(p.op, label, "must not be an (epsilon, delta) among measurements that are accounted jointly", price)
}

// gaussianPurse is for measurements with Gaussian noise, as many as were billed and one more, and for pure ones, which
// count as ρ (2.2): a plan may see by what it has measured that a line is better measured twice. While all are pure,
// they may add up to pure, the ε of the price, in place of that (2.6).
type gaussianPurse struct {
	whole
	left  dp.Rho
	count int
	pure  dp.Epsilon
}

func (p *gaussianPurse) take(label, _ string, s Share) error {
	rho, count, pure := s.Rho, 1, false
	if s.Rho == 0 && s.Epsilon > 0 { // it adds no rounding to what is counted
		rho, count, pure = accounting.PureRho(s.Epsilon), 0, s.Epsilon <= p.pure
	}
	gaussian := (s.Epsilon == 0 || count == 0) && rho >= 1 && rho <= p.left && p.count >= count
	if !gaussian && !pure {
		return refuse(p.op, label, fmt.Sprintf("must be a rho > 0 and at most %s, in at most %d measurements, or an epsilon that "+
			"counts as such a rho or is at most %s", p.left, p.count, p.pure), s)
	}
	p.left, p.count, p.pure = p.left-rho, p.count-count, p.pure-s.Epsilon
	if !gaussian {
		p.left, p.count = 0, 0
	}
	if !pure {
		p.pure = 0
	}
	return nil
}

// listPurse is for lines that were accounted jointly (2.3).
type listPurse struct {
	whole
	left []dp.Event
}

func (p *listPurse) take(label, mechanism string, s Share) error {
	want := s.Line(label)
	want.Mechanism = mechanism
	if len(p.left) == 0 || p.left[0] != want {
		return refuse(p.op, label, "must be the next line of the bill", s)
	}
	p.left = p.left[1:]
	return nil
}

// freePurse is that of a training without privacy.
type freePurse struct{ op string }

func (p freePurse) take(label, _ string, s Share) error {
	if s != (Share{}) {
		return refuse(p.op, label, "must be none without privacy", s)
	}
	return nil
}

func (p freePurse) part(string, dp.Price) error { return nil }

// Line returns the line of a bill for a measurement at s.
func (s Share) Line(label string) dp.Event {
	line := dp.Event{Release: label, Mechanism: mech.Laplace{}.Name(), Epsilon: s.Epsilon, Rho: s.Rho}
	if s.Rho > 0 {
		line.Mechanism, line.Epsilon = mech.Gaussian{}.Name(), dp.Infinite
	} else if s.Gamma {
		line.Mechanism = mech.Gamma{}.Name()
	}
	return line
}

// Pure is a share of ε that counts for at most s: an ε is at most π/4·ε² of ρ.
func (s Share) Pure() Share {
	if s.Rho > 0 {
		return Share{Epsilon: max(1, dp.Epsilon(math.Sqrt(4/math.Pi*s.Rho.Float())*(1-1e-6)*dp.Nano))}
	}
	return s
}

// ChoiceLine returns the line of a bill for a selection at s.
func (s Share) ChoiceLine(label string) dp.Event {
	return dp.Event{Release: label, Mechanism: mech.PermuteAndFlip{}.Name(), Epsilon: s.Epsilon}
}
