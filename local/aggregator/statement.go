// SPDX-License-Identifier: Apache-2.0

package aggregator

import (
	"fmt"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/model"
)

// Statement is what only whoever runs the task knows.
type Statement struct {
	Counted bool // every owner keeps a ledger that was charged
	Seeded  bool // reports can be reproduced
}

func (a *Aggregator) privacy(st Statement) model.Privacy {
	mech := a.task.Mechanism
	if mech == "" {
		mech = "oue or grr"
	}
	eps := a.task.Epsilon
	return model.Privacy{
		Scope: dp.Party, Relation: dp.ReplaceOne, Unit: a.task.Schema.Unit,
		Epsilon:   eps,
		Bill:      []dp.Event{{Release: "the one report of an owner", Mechanism: mech, Epsilon: eps}},
		Claim:     "localboost: G-LOCALBOOST-3",
		Statement: fmt.Sprintf("Mode local: every data owner perturbed its one report itself, before it left. Whatever one owner holds, the chance of its exact report, and of this exact model, changes by at most a factor e^%s, whoever collected the reports and whatever they do with them.", eps),
		Unprotected: []string{
			"that somebody took part, under which name, in which round and with which question",
			"the declared columns, bounds and levels",
			fmt.Sprintf("the model from dishonest owners: one of them moves an estimate by at most what one report can (%s), which is more than an honest one", a.poison()),
			"what the model says about people in general, whether or not they took part",
		},
		Counted: st.Counted, Seeded: st.Seeded,
	}
}

// poison says what one owner, honest or not, can do to an estimated share of all
// records (G-LOCALBOOST-4).
func (a *Aggregator) poison() string {
	return fmt.Sprintf("a share of all records by up to %.2g", a.Reach())
}

// Reach is the most that one report has been able to move the estimated share of
// all records in a cell: the reach of the law over the reports to its question,
// at worst over the questions that were asked. A share is at most 1.
func (a *Aggregator) Reach() (worst float64) {
	for _, r := range a.reach {
		worst = max(worst, r)
	}
	return worst
}

// reachNow is Reach for the open slot.
func (a *Aggregator) reachNow() (worst float64) {
	for i, law := range a.laws {
		if n := a.tallies[i].Reports; n > 0 {
			worst = max(worst, min(1, law.Reach()/float64(n)))
		}
	}
	return worst
}
