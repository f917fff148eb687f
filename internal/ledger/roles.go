// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Appointment gives a key a role on a data set.
type Appointment struct {
	Dataset string
	Role    Role
	Name    string
	Key     ed25519.PublicKey
	Until   time.Time // zero for no expiry, as for an owner
}

// Allotment gives an analyst's key a share of a data set's total, which limits the price of all its
// jobs together; parts and cohorts count as for the data set. A later allotment replaces an earlier
// one.
type Allotment struct {
	Dataset  string
	Name     string
	Key      ed25519.PublicKey
	Price    dp.Price  // 0 to withdraw the rest of an allotment
	Until    time.Time // zero for no expiry
	Approval bool      // each job must be approved by another key
}

// Decision approves or refuses the request of a job.
type Decision struct {
	Dataset, Job string
	Approve      bool
	Until        time.Time // expiry of an approval; zero for none
	Reason       string
}

func formatUntil(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// Appoint gives a key a role. The first appointment of a data set is that of its owner. The owner
// signs all appointments.
func (l *Ledger) Appoint(ctx context.Context, key ed25519.PrivateKey, a Appointment) error {
	return l.runStep(ctx, "appoint", func(b *books) error { return l.appoint(b, key, a) })
}

func (l *Ledger) appoint(b *books, key ed25519.PrivateKey, a Appointment) error {
	return l.addAct(b, key, Entry{Kind: Appointed, Dataset: a.Dataset,
		Detail: encodeDetail(appointed{a.Role, a.Name, hex.EncodeToString(a.Key), formatUntil(a.Until)})})
}

// Allot gives an analyst an allotment; key must be the owner's.
func (l *Ledger) Allot(ctx context.Context, key ed25519.PrivateKey, a Allotment) error {
	if a.Price.Epsilon < 0 || a.Price.Epsilon > dp.MaxEpsilon || a.Price.Delta < 0 || a.Price.Delta >= dp.Femto {
		return dp.Refuse("ledger", "epsilon", "must be at least 0 and no more than a total may be", a.Price)
	}
	return l.runStep(ctx, "allot", func(b *books) error {
		return l.addAct(b, key, Entry{Kind: Allotted, Dataset: a.Dataset, Epsilon: a.Price.Epsilon, Delta: a.Price.Delta,
			Detail: encodeDetail(allotted{a.Name, hex.EncodeToString(a.Key), formatUntil(a.Until), a.Approval})})
	})
}

// Decide approves or refuses a request. key must be the owner's or an approver's, and not the
// requesting analyst's.
func (l *Ledger) Decide(ctx context.Context, key ed25519.PrivateKey, d Decision) error {
	if !isPlain(d.Reason) {
		return dp.Refuse("ledger", "reason", "must be one line of at most 1000 characters without control characters", nil)
	}
	return l.runStep(ctx, "decide", func(b *books) error {
		now := b.job(d.Dataset, d.Job)
		if now.kind != Requested {
			return &Conflict{d.Dataset, d.Job, cmp.Or(now.kind, "unknown"), "must be requested before it is decided on", dp.Step{}}
		}
		kind := Refused
		if d.Approve {
			kind = Approved
		}
		return l.addAct(b, key, Entry{Kind: kind, Dataset: d.Dataset, Part: now.part, Job: d.Job, Request: now.request,
			Detail: encodeDetail(decided{formatUntil(d.Until), d.Reason})})
	})
}

// File records the job as a request, with its purpose and its plan, instead of charging it.
func (j *Job) File(ctx context.Context, price dp.Price, bill []dp.Event, purpose string) error {
	if purpose == "" || !isPlain(purpose) {
		return dp.Refuse("ledger", "request",
			"must be a purpose, on one line of at most 1000 characters without control characters", nil)
	}
	if err := checkPrice(price, bill); err != nil {
		return err
	}
	d, err := j.describeCharge(bill)
	if err != nil {
		return err
	}
	plan := json.RawMessage(j.req.Config)
	if !json.Valid(plan) {
		plan = encodeDetail(string(j.req.Config))
	}
	return j.l.runStep(ctx, "request", func(b *books) error {
		if err := j.expectState(b, ""); err != nil {
			return err
		}
		if err := j.checkTerms(b); err != nil {
			return err
		}
		return j.l.addAct(b, j.req.By, j.newEntry(Requested, price, encodeDetail(requested{d, purpose, plan})))
	})
}

// addAct signs an entry and adds it, if its key may do so now. "Now" is the clock's time, or the
// latest time in any entry if that is later, so that an expiry that has once passed stays passed.
func (l *Ledger) addAct(b *books, key ed25519.PrivateKey, e Entry) error {
	if key == nil {
		return dp.Refuse("ledger", "key", "must be given: this step is signed", nil)
	}
	d, err := b.dataset(e.Dataset)
	if err != nil {
		return err
	}
	e.At = l.now().UTC().Format(time.RFC3339)
	if err := d.roster.checkNow(b.latest, key, e); err != nil {
		return err
	}
	return l.addSigned(b, e, key)
}

// checkNow refuses an entry that is not permitted now: at its own time, or at the latest time in any
// entry if that is later. The entry need not be signed yet.
func (r *roster) checkNow(latest string, key ed25519.PrivateKey, e Entry) error {
	err := r.check(act{kind: e.Kind, key: keyName(key), at: max(latest, e.At), job: e.Job, request: e.Request, part: e.Part,
		price: dp.Price{Epsilon: e.Epsilon, Delta: e.Delta}, detail: e.Detail})
	if exceeded, ok := err.(*Exceeded); ok {
		exceeded.Dataset = e.Dataset
	}
	return err
}

// Member is a key with a role on a data set.
type Member struct {
	Name  string `json:"name"`
	Role  string `json:"role"` // owner, approver or analyst
	Key   string `json:"key"`  // as hexadecimal digits
	Until string `json:"until,omitempty"`
	// For an analyst:
	Allotted *Decimal `json:"allotted,omitempty"`
	Charged  *Decimal `json:"charged,omitempty"` // spent and reserved, parts counted as for the data set
	Delta    dp.Delta `json:"allotted_delta_femto,omitempty"`
	Approval bool     `json:"needs_approval,omitempty"`
}

// Members lists the keys with a role on a data set: the owner first, analysts last, or none if it has
// no owner.
func (l *Ledger) Members(ctx context.Context, dataset string) (out []Member, err error) {
	err = l.view(ctx, func(b *books) error {
		d, err := b.dataset(dataset)
		if err == nil {
			out = d.roster.members()
		}
		return err
	})
	return out, err
}

func (r *roster) members() (out []Member) {
	byName := func(of map[string]*member) []string {
		return slices.SortedFunc(maps.Keys(of), func(a, b string) int { return cmp.Compare(of[a].name, of[b].name) })
	}
	for _, key := range byName(r.approvers) {
		m := Member{Name: r.approvers[key].name, Role: string(Approver), Key: key, Until: r.approvers[key].until}
		if key == r.owner {
			m.Role = string(Owner)
			out = slices.Insert(out, 0, m)
		} else {
			out = append(out, m)
		}
	}
	for _, key := range byName(r.analysts) {
		m := r.analysts[key]
		limit, used := Decimal(m.used.limit.Epsilon), Decimal(m.used.charged().Epsilon)
		out = append(out, Member{Name: m.name, Role: "analyst", Key: key, Until: m.until, Allotted: &limit, Charged: &used,
			Delta: m.used.limit.Delta, Approval: m.approval})
	}
	return out
}

// Account is a job in the report of a data set: the analyst, the model and the amount.
type Account struct {
	Job        string          `json:"job"`
	By         string          `json:"by,omitempty"` // the analyst's name; "" if the data set has no owner
	Key        string          `json:"key,omitempty"`
	State      Kind            `json:"state"`
	Epsilon    Decimal         `json:"epsilon"` // requested, reserved or spent, depending on the state
	Delta      dp.Delta        `json:"delta_femto"`
	Part       string          `json:"part,omitempty"`
	Purpose    string          `json:"purpose,omitempty"`
	Plan       json.RawMessage `json:"plan,omitempty"`
	DecidedBy  string          `json:"decided_by,omitempty"`
	DecidedKey string          `json:"decided_key,omitempty"`
	Until      string          `json:"until,omitempty"` // expiry of the approval
	Reason     string          `json:"reason,omitempty"`
	Model      string          `json:"model,omitempty"` // the file for the model
	SHA256     string          `json:"model_sha256,omitempty"`
	At         string          `json:"at"` // of the newest step
}

// Report lists the jobs of a data set in the order of their first steps.
func (l *Ledger) Report(ctx context.Context, dataset string) (out []Account, err error) {
	b, entries, err := l.readEntries(ctx, dataset)
	if err != nil {
		return nil, err
	}
	d, err := b.dataset(dataset)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for _, e := range entries {
		if e.Job == "" {
			continue
		}
		if _, known := at[e.Job]; !known {
			at[e.Job] = len(out)
			out = append(out, Account{Job: e.Job})
		}
		if err := out[at[e.Job]].addEntry(&e, d.roster); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// addEntry updates the account by the next step of the job.
func (a *Account) addEntry(e *Entry, r *roster) error {
	s, _ := e.unsign()
	a.State, a.At, a.Part = e.Kind, e.At, e.Part
	switch e.Kind {
	case Requested, Reserved:
		a.Key, a.Epsilon, a.Delta = s.Key, Decimal(e.Epsilon), e.Delta
		if m := r.analysts[s.Key]; m != nil {
			a.By = m.name
		}
		var d requested
		if err := e.decode(&d); err != nil {
			return err
		}
		if a.Model = d.Output; e.Kind == Requested {
			a.Purpose, a.Plan = d.Purpose, d.Plan
		}
	case Approved, Refused:
		var d decided
		if err := e.decode(&d); err != nil {
			return err
		}
		a.DecidedKey, a.Until, a.Reason = s.Key, d.Until, d.Reason
		if m := r.approvers[s.Key]; m != nil {
			a.DecidedBy = m.name
		}
	case Committed:
		var d committed
		if err := e.decode(&d); err != nil {
			return err
		}
		a.SHA256 = d.SHA256
	}
	return nil
}
