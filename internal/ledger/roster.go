// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// A data set may have an owner, who is a key. Then only keys with an allotment from the owner charge
// it, each up to its allotment and, if the owner says so, only jobs that another key has approved. All
// of that is entries that are signed (claim G-LEDGER-6).

// Role is what a key may do on a data set.
type Role string

const (
	Owner    Role = "owner"    // appoints, allots and approves; there is one, for good
	Approver Role = "approver" // approves and refuses requests
)

// The contents of Detail for entries about roles.
type (
	appointed struct {
		Role  Role   `json:"role"`
		Name  string `json:"name"`
		Key   string `json:"key"`
		Until string `json:"until,omitempty"`
	}
	// The allotment is the entry's ε and δ.
	allotted struct {
		Name     string `json:"name"`
		Key      string `json:"key"`
		Until    string `json:"until,omitempty"`
		Approval bool   `json:"approval,omitempty"` // each job requires an approval
	}
	requested struct {
		reserved
		Purpose string          `json:"purpose"`
		Plan    json.RawMessage `json:"plan,omitempty"` // the job's configuration
	}
	decided struct {
		Until  string `json:"until,omitempty"` // expiry of an approval
		Reason string `json:"reason,omitempty"`
	}
)

// expired reports whether the time until, "" for never, has passed at the time at. Both are in the
// format of entries.
func expired(until, at string) bool { return until != "" && at > until }

// act is an entry that was added or is to be added: the key, the action and the time.
type act struct {
	kind               Kind
	key                string // of the signer, "" for none
	at                 string // the latest time in any entry up to this one
	job, request, part string
	price              dp.Price
	detail             json.RawMessage
}

// member is a key with a role.
type member struct {
	name, until string
	approval    bool
	used        *account // for an analyst: the allotment, and what was charged to it
}

// filed is a job in the roster.
type filed struct {
	by       string // the key that last reserved or requested it
	charged  string // the key to which it was charged, "" for none
	asked    bool
	approved bool
	until    string // expiry of the approval
	request  string
	price    dp.Price
}

// roster holds the permissions on a data set, derived from its entries in order.
type roster struct {
	data      *declared
	total     dp.Price
	owner     string
	approvers map[string]*member
	analysts  map[string]*member
	others    *account // charges from before there was an owner
	jobs      map[string]*filed
}

func newRoster(d *declared, total dp.Price) *roster {
	return &roster{data: d, total: total, approvers: map[string]*member{}, analysts: map[string]*member{},
		others: newAccount(d, total), jobs: map[string]*filed{}}
}

// ofRoles are the kinds of entries from which a roster is derived.
var ofRoles = []Kind{Appointed, Allotted, Requested, Approved, Refused, Reserved, Refunded}

// addEntry applies an entry, and refuses one that was not permitted at that time.
func (r *roster) addEntry(e *Entry, at string, checked *sync.Map) error {
	key, of, err := e.signer(checked)
	if err != nil {
		return err
	}
	a := act{kind: e.Kind, key: key, at: at, job: e.Job, request: e.Request, part: e.Part,
		price: dp.Price{Epsilon: e.Epsilon, Delta: e.Delta}, detail: of}
	if err := r.check(a); err != nil {
		return err
	}
	return r.take(a)
}

// Denied refuses an action that a key is not permitted. Nothing was charged.
type Denied struct {
	Why  string
	Next dp.Step
}

func (e *Denied) Error() string {
	s := "ledger: " + e.Why + "; nothing was charged"
	if e.Next.Kind != dp.NoStep {
		s += "; " + e.Next.String()
	}
	return s
}
func (e *Denied) NextStep() dp.Step { return e.Next }

func denied(format string, args ...any) error { return &Denied{Why: fmt.Sprintf(format, args...)} }

// deniedUntil is denied with the step that lifts it.
func deniedUntil(next dp.StepKind, format string, args ...any) error {
	return &Denied{fmt.Sprintf(format, args...), dp.Step{Kind: next}}
}

// check refuses an action that its key is not permitted.
func (r *roster) check(a act) error {
	switch a.kind {
	case Appointed:
		return r.checkAppointment(a)
	case Allotted:
		return r.checkAllotment(a)
	case Requested:
		_, err := r.activeAnalyst(a)
		return err
	case Approved, Refused:
		return r.checkDecision(a)
	case Reserved:
		return r.checkCharge(a)
	}
	return nil
}

// ownersAct refuses an action that only the owner may take, by another key (6.1).
func (r *roster) ownersAct(a act) error {
	switch {
	case r.owner == "":
		return deniedUntil(dp.AppointOwner, "the data set must have an owner first")
	case a.key != r.owner:
		return denied("only the data set's owner may do this, with the owner's key")
	}
	return nil
}

// checkName refuses a name or a key that cannot be a member's, and the name of another key.
func (r *roster) checkName(name, key, until string, members map[string]*member) error {
	_, err := parseKey(key)
	switch {
	case !isWord(name):
		return denied("a name must be 1 to 128 letters, digits, dots, hyphens and underscores (got %.200q)", name)
	case err != nil:
		return denied("a member's key must be an Ed25519 public key: %v", err)
	case until != "" && !isTime(until):
		return denied("a date of expiry must be a time of UTC in RFC 3339 (got %.100q)", until)
	}
	for other, m := range members {
		if other != key && m.name == name {
			return denied("the name %s must be one key's only", name)
		}
	}
	return nil
}

func isTime(s string) bool {
	at, err := time.Parse(time.RFC3339, s)
	return err == nil && at.UTC().Format(time.RFC3339) == s
}

func (r *roster) checkAppointment(a act) error {
	var d appointed
	if err := json.Unmarshal(a.detail, &d); err != nil {
		return err
	}
	if err := r.checkName(d.Name, d.Key, d.Until, r.approvers); err != nil {
		return err
	}
	switch {
	case d.Role == Owner && r.owner != "":
		return denied("the data set has an owner already, who is never changed")
	case d.Role == Owner && (a.key != d.Key || d.Until != ""):
		return denied("an owner must sign the appointment, which does not expire")
	case d.Role == Owner:
		return nil
	case d.Role != Approver:
		return denied("a role must be owner or approver (got %.100q)", d.Role)
	}
	return r.ownersAct(a)
}

// checkAllotment refuses an allotment unless all allotments, and what was charged outside of them, fit
// into the total together.
func (r *roster) checkAllotment(a act) error {
	var d allotted
	if err := json.Unmarshal(a.detail, &d); err != nil {
		return err
	}
	if err := r.ownersAct(a); err != nil {
		return err
	}
	if err := r.checkName(d.Name, d.Key, d.Until, r.analysts); err != nil {
		return err
	}
	promised := addPrices(r.others.charged(), a.price)
	if m := r.analysts[d.Key]; m != nil {
		promised = addPrices(r.others.charged(), largerPrice(a.price, m.used.charged()))
	}
	for key, m := range r.analysts {
		if key == d.Key {
			continue
		}
		use := m.used.charged()
		if !expired(m.until, a.at) {
			use = largerPrice(use, m.used.limit)
		}
		promised = addPrices(promised, use)
	}
	if a.price.Epsilon < 0 || a.price.Delta < 0 || promised.Epsilon > r.total.Epsilon || promised.Delta > r.total.Delta {
		return denied("allotments and what was charged outside of them must fit into the total, ε %s and δ %s (got %s and %s)",
			r.total.Epsilon, r.total.Delta, promised.Epsilon, promised.Delta)
	}
	return nil
}

// activeAnalyst returns the analyst whose key acts, if it has an allotment that has not expired (6.2).
func (r *roster) activeAnalyst(a act) (*member, error) {
	m := r.analysts[a.key]
	switch {
	case r.owner == "":
		return nil, denied("the data set has no owner, and takes trainings without a key")
	case a.key == "":
		return nil, deniedUntil(dp.SignTraining, "the data set has an owner: a training must be signed by a key with an allotment")
	case m == nil:
		return nil, deniedUntil(dp.AllotBudget, "the key has no allotment of this data set")
	case expired(m.until, a.at):
		return nil, denied("the allotment of %s expired at %s", m.name, m.until)
	}
	return m, nil
}

// checkDecision refuses a decision that is not by the owner or an approver, or that is about the key's
// own request (6.3).
func (r *roster) checkDecision(a act) error {
	if r.owner == "" {
		return denied("the data set has no owner, and needs no approvals")
	}
	if m := r.approvers[a.key]; a.key != r.owner && m == nil {
		return denied("only the data set's owner and approvers may decide on requests")
	} else if a.key != r.owner && expired(m.until, a.at) {
		return denied("the appointment of %s expired at %s", m.name, m.until)
	}
	j := r.jobs[a.job]
	var d decided
	switch {
	case j == nil || !j.asked || j.request != a.request:
		return denied("job %q must have been requested", a.job)
	case j.by == a.key:
		return denied("a request must be decided by another key than the one that made it")
	}
	if err := json.Unmarshal(a.detail, &d); err != nil {
		return err
	}
	if d.Until != "" && !isTime(d.Until) {
		return denied("a date of expiry must be a time of UTC in RFC 3339 (got %.100q)", d.Until)
	}
	return nil
}

// checkCharge refuses a job that exceeds its analyst's allotment (6.4). It also refuses a job that was
// requested, or requires a request, unless exactly this job was approved (6.5).
func (r *roster) checkCharge(a act) error {
	if r.owner == "" && a.key == "" {
		return nil
	}
	m, err := r.activeAnalyst(a)
	if err != nil {
		return err
	}
	j := r.jobs[a.job]
	switch {
	case j == nil || !j.asked:
		if m.approval {
			return deniedUntil(dp.RequestTraining, "trainings of %s need an approval", m.name)
		}
	case !j.approved || j.request != a.request || j.by != a.key || j.price != a.price:
		return denied("job %q must be approved as it was requested", a.job)
	case expired(j.until, a.at):
		return denied("the approval of job %q expired at %s", a.job, j.until)
	}
	fits := m.used.addUse(a.part, Use{Reserved: a.price})
	m.used.addUse(a.part, Use{Reserved: subtractPrice(dp.Price{}, a.price)})
	if !fits {
		before := m.used.charged()
		return &Exceeded{Analyst: m.name, Spent: before.Epsilon, Asked: a.price.Epsilon, Limit: m.used.limit.Epsilon,
			SpentDelta: before.Delta, AskedDelta: a.price.Delta, LimitDelta: m.used.limit.Delta}
	}
	return nil
}

// take applies an action that was checked.
func (r *roster) take(a act) error {
	job := func() *filed {
		if r.jobs[a.job] == nil {
			r.jobs[a.job] = &filed{}
		}
		return r.jobs[a.job]
	}
	switch a.kind {
	case Appointed:
		var d appointed
		if err := json.Unmarshal(a.detail, &d); err != nil {
			return err
		}
		if d.Role == Owner {
			r.owner = d.Key
		}
		r.approvers[d.Key] = &member{name: d.Name, until: d.Until}
	case Allotted:
		var d allotted
		if err := json.Unmarshal(a.detail, &d); err != nil {
			return err
		}
		m := &member{name: d.Name, until: d.Until, approval: d.Approval, used: newAccount(r.data, a.price)}
		if old := r.analysts[d.Key]; old != nil {
			m.used.uses = old.used.uses
		}
		r.analysts[d.Key] = m
	case Requested:
		*job() = filed{by: a.key, asked: true, request: a.request, price: a.price}
	case Approved:
		var d decided
		if err := json.Unmarshal(a.detail, &d); err != nil {
			return err
		}
		job().approved, job().until = true, d.Until
	case Reserved:
		job().charged = a.key
		r.accountOf(a.key).addUse(a.part, Use{Reserved: a.price})
	case Refunded:
		r.accountOf(job().charged).addUse(a.part, Use{Reserved: subtractPrice(dp.Price{}, a.price)})
	}
	return nil
}

// accountOf returns the account to which a key's jobs are charged.
func (r *roster) accountOf(key string) *account {
	if m := r.analysts[key]; m != nil {
		return m.used
	}
	return r.others
}
