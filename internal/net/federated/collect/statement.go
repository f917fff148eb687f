// SPDX-License-Identifier: Apache-2.0

package collect

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/response"
)

// Statement holds facts that only the operator of the task knows.
type Statement struct {
	Counted bool // every owner's ledger was charged
	Seeded  bool // reports can be reproduced
}

// Bill is the price that every owner of a task pays. mechanism is the task's, or "" if each question
// uses the more accurate of two.
func Bill(mode wire.Mode, mechanism string, eps dp.Epsilon) []dp.Event {
	switch {
	case mode == wire.Aggregate:
		return []dp.Event{{Release: "the one secret sum that an owner is in", Mechanism: response.Addend{}.Name(),
			Epsilon: eps}}
	case mechanism == "":
		mechanism = "oue or grr"
	}
	return []dp.Event{{Release: "the one report of an owner", Mechanism: mechanism, Epsilon: eps}}
}

func (a *Aggregator) privacyStatement(st Statement) model.Privacy {
	if a.task.Mode == wire.Aggregate {
		return a.aggregateStatement(st)
	}
	eps := a.task.Epsilon
	return model.Privacy{
		Scope: dp.Party, Relation: dp.ReplaceOne, Unit: a.task.Schema.Unit,
		Epsilon: eps,
		Bill:    Bill(a.task.Mode, a.task.Mechanism, eps),
		Claim:   "localboost: G-LOCALBOOST-3",
		Statement: fmt.Sprintf("Mode local: every data owner perturbed its one report before sending it. Whatever "+
			"one owner holds, the chance of its exact report, and of this exact model, changes by at most a factor e^%s, "+
			"whoever collected the reports and whatever they do with them.%s", eps, a.describeError()),
		Unprotected: []string{
			"that an owner took part, under which name, in which round and with which question",
			"the declared columns, bounds and levels",
			fmt.Sprintf("the model from dishonest owners: one of them moves an estimate by at most what one report can (%s), "+
				"which is more than an honest one", a.describePoison()),
			"what the model says about people in general, whether or not they took part",
		},
		Counted: st.Counted, Seeded: st.Seeded,
	}
}

// aggregateStatement is the statement of mode aggregate.
func (a *Aggregator) aggregateStatement(st Statement) model.Privacy {
	eps, spare := a.task.Epsilon, 0
	if len(a.spares) > 0 {
		spare = slices.Min(a.spares)
	}
	return model.Privacy{
		Scope: dp.Party, Relation: dp.ReplaceOne, Unit: a.task.Schema.Unit,
		Epsilon: eps, Delta: wire.SumDelta,
		Bill:  Bill(a.task.Mode, "", eps),
		Claim: "localboost: G-LOCALBOOST-5",
		Statement: fmt.Sprintf("Mode aggregate: no one saw an owner's numbers. Only the sum of at least two thirds of them "+
			"was opened. Its noise is complete if at most %d of the owners in a sum add none. Whatever one "+
			"owner holds, the chance of these sums, and of this exact model, changes by at most a factor e^%s, but for an "+
			"event of probability %s.%s", spare, eps, wire.SumDelta, a.describeError()),
		Unprotected: []string{
			"owners from a quorum of share holders who collude: they can open what an owner added",
			fmt.Sprintf("owners from more than %d of the owners in a sum, if these add no noise", spare),
			"that an owner took part, under which name and in which round",
			"the declared columns, bounds and levels",
			"the model from dishonest owners: only the range of shares bounds what one adds",
			"what the model says about people in general, whether or not they took part",
		},
		Counted: st.Counted, Seeded: st.Seeded,
	}
}

// describeError states the accuracy of the first round's classifier, whose error is measured on
// records of equal weight; those of later rounds are not. It is computed from numbers that are
// released anyway.
func (a *Aggregator) describeError() string {
	if len(a.done) == 0 || !(a.done[0].ErrNoise > 0) {
		return ""
	}
	o := a.done[0]
	percent := func(x float64) float64 { return 100 * min(1, max(0, x)) }
	return fmt.Sprintf(" Owners' answers put the accuracy of the first round's classifier at about %.0f %% (95 %% band "+
		"%.0f to %.0f), levels of the label counted alike.",
		percent(1-o.Err), percent(1-o.Err-1.96*o.ErrNoise), percent(1-o.Err+1.96*o.ErrNoise))
}

// describePoison states how much one owner, honest or not, can change an estimated share of all
// records (G-LOCALBOOST-4).
func (a *Aggregator) describePoison() string {
	return fmt.Sprintf("a share of all records by up to %.2g", a.Reach())
}

// Reach is the largest change of the estimated share of all records in a cell that one report could
// have caused: the reach of the law divided by the number of reports, at worst over the questions. A
// share is at most 1.
func (a *Aggregator) Reach() (worst float64) {
	for _, r := range a.reach {
		worst = max(worst, r)
	}
	return worst
}

// reachNow is Reach for the open slot.
func (a *Aggregator) reachNow() (worst float64) {
	if a.added > 0 {
		return min(1, a.addend.Reach()/float64(a.added))
	}
	for i, law := range a.laws {
		if n := a.tallies[i].Reports; n > 0 {
			worst = max(worst, min(1, law.Reach()/float64(n)))
		}
	}
	return worst
}
