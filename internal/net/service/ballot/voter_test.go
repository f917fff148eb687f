// SPDX-License-Identifier: Apache-2.0

package ballot

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
)

// Only a model whose statement protects all rows of one person votes for persons, at its price.
func TestPriceOfPersons(t *testing.T) {
	person := model.Privacy{Scope: dp.WholeRow, Epsilon: 2 * dp.Nano, Unit: "one visit",
		Claim: "additive: G-ADDITIVE-2" + model.PersonClaim}
	v := &Voter{ours: &model.Model{Privacy: person}, source: [32]byte{5}}
	if p, err := v.PriceOfPersons(); err != nil || p.Epsilon != 2*dp.Nano || p.Model != v.source {
		t.Errorf("%+v, %v", p, err)
	}
	for want, change := range map[string]func(*model.Privacy){
		"not all rows of one person": func(p *model.Privacy) { p.Claim = "additive: G-ADDITIVE-2" },
		"no guarantee":               func(p *model.Privacy) { p.Scope, p.NotPrivate = dp.Nothing, true },
		"has a delta":                func(p *model.Privacy) { p.Delta = 1 },
	} {
		p := person
		change(&p)
		_, err := (&Voter{ours: &model.Model{Privacy: p}}).PriceOfPersons()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := (&Voter{Command: "cat"}).PriceOfPersons(); err == nil || !strings.Contains(err.Error(), "a command") {
		t.Errorf("a command votes for persons: %v", err)
	}
}
