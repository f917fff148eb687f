// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/accounting"
)

// Request is a job that has not been paid for yet.
type Request struct {
	Dataset string
	ID      string // the operator's name for the job; the same ID is the same job
	Config  []byte // every public choice that determines the result, in one spelling
	Terms   Terms
	// Part is the part of the data set that the job reads, "" for all of it. If it is given, PartsBy
	// and Definition are those of the job's own schema (see Parts).
	Part, PartsBy, Definition string
	// Cohorts are the cohorts that the job reads, in ascending order; none for all of the data set. If
	// they are given, PartsBy is the column of the cohorts and Definition a hash of how its cells are
	// read.
	Cohorts []string
	// Institution is set if the price protects all rows of the institution together, and the data set has a
	// total for that. Terms are then not compared: it protects more than any of them. Exposed lets the job be
	// charged although the institution is not protected any more.
	Institution, Exposed bool
	// By is the key of the analyst whose allotment is charged, nil if the data set has no owner.
	By ed25519.PrivateKey
	// Resume goes on with a job that was charged for this very request and has no result, and does not charge
	// it again. The caller must know that nothing which was read since the charge has left.
	Resume bool
	Output string // the file the result goes to, as an absolute path; "" for none
	Worker string // the process that runs the job, for Recover
}

// unitPerson is the unit of a data set whose jobs protect all rows of each person together.
const unitPerson = "person"

// Terms describe what the prices of a data set's jobs protect. Prices add up only if the terms agree:
// the same unit and relation, and at least the columns that the first job protected.
type Terms struct {
	Unit      string      `json:"unit"`
	Relation  dp.Relation `json:"relation"`
	Protected []string    `json:"protected"` // columns, sorted
	// Person is the column that identifies persons, whose rows are protected together; "" if each row
	// is a unit.
	Person string `json:"person,omitempty"`
}

// Job is one request and its progress in the ledger. A Job must be used by one goroutine only.
type Job struct {
	l       *Ledger
	req     Request
	request string // hash of the data set's identity, Config and ID
	price   dp.Price
	began   bool
	closed  bool
	stored  []byte
}

// Job looks up a request. If its ID already has a result, Stored returns the bytes, and only Publish
// is left to do. If its ID was used with another configuration, or its job was interrupted, it is
// refused with *Conflict.
func (l *Ledger) Job(ctx context.Context, req Request) (*Job, error) {
	switch {
	case !isWord(req.ID):
		return nil, dp.Refuse("ledger", "job", "must be 1 to 128 letters, digits, dots, hyphens and underscores",
			fmt.Sprintf("%.200q", req.ID))
	case !slices.IsSorted(req.Terms.Protected):
		return nil, errors.New("ledger: protected columns must be sorted")
	}
	j := &Job{l: l, req: req}
	err := l.view(ctx, func(b *books) error {
		d, err := b.dataset(req.Dataset)
		if err != nil {
			return err
		}
		j.request = jobIdentity(d.hash, req)
		if err := j.checkSigned(d); err != nil {
			return err
		}
		state, err := j.readState(b)
		switch {
		case err != nil:
			return err
		case state == Committed || state == Published:
			if err = j.checkRepeated(b); err == nil {
				j.stored, err = b.result(j.request, req.ID)
			}
			return err
		case j.resumes(state):
			return j.checkRepeated(b)
		case state != "" && state != Approved:
			return j.conflictError(state)
		}
		return j.checkTerms(b)
	})
	if err != nil {
		return nil, err
	}
	return j, nil
}

// resumes reports whether a job in this state was charged, and goes on.
func (j *Job) resumes(state Kind) bool { return j.req.Resume && (state == Reserved || state == Began) }

// jobIdentity returns the job's identity, a hash of the data set, the configuration and the ID.
func jobIdentity(dataset string, req Request) string {
	h := sha256.New()
	fields := []string{"discreet job 2", dataset, req.where(), string(req.Config), req.ID}
	if req.Institution {
		fields = append(fields, "institution")
	}
	if req.By != nil {
		fields = append(fields, keyName(req.By))
	}
	for _, s := range fields {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// where returns the part that the entries of the job name.
func (r *Request) where() string {
	if len(r.Cohorts) > 0 {
		return strings.Join(r.Cohorts, cohortComma)
	}
	return r.Part
}

func (j *Job) name() jobName { return jobName{j.req.Dataset, j.req.ID} }

// names returns the parts or cohorts that the job is charged to.
func (r *Request) names() []string {
	if r.Part != "" {
		return []string{r.Part}
	}
	return r.Cohorts
}

// Stored returns the result of an earlier run of the same job, or nil if there is none.
func (j *Job) Stored() []byte { return j.stored }

// Announced says what is charged if nothing refuses it.
func (j *Job) Announced() string {
	return fmt.Sprintf("to be charged to data set %q as job %s", j.req.Dataset, j.req.ID)
}

// Returned says that the stored result is returned, and what was not looked at for it.
func (j *Job) Returned() string {
	return fmt.Sprintf("from the ledger: job %s of data set %q has a result already, which is returned; nothing is read, drawn "+
		"or charged, and these rows are not compared with those it was made from", j.req.ID, j.req.Dataset)
}

// Counted implements guard.Account: spending is recorded.
func (j *Job) Counted() bool { return true }

// Afford refuses what Charge would refuse now, without reserving anything, so that no table is read
// for a job that cannot be paid.
func (j *Job) Afford(ctx context.Context, price dp.Price, bill []dp.Event) error {
	if err := checkPrice(price, bill); err != nil {
		return err
	}
	return j.l.view(ctx, func(b *books) error {
		d, err := b.dataset(j.req.Dataset)
		if err != nil {
			return err
		}
		if err := j.checkAffordable(b, d, price); err != nil {
			return err
		}
		return j.checkAllotment(b, d, price)
	})
}

// checkSigned refuses a job with a key if the data set has no owner, and a job without a key if it has
// one.
func (j *Job) checkSigned(d *datasetBooks) error {
	if owned := d.roster.owner != ""; owned != (j.req.By != nil) {
		if owned {
			return dp.Refuse("ledger", "key", "must be given: the data set has an owner, and only keys with an allotment charge it",
				nil)
		}
		return dp.Refuse("ledger", "key", "must not be given: the data set has no owner", "one")
	}
	return nil
}

// checkAffordable refuses a price that a total does not allow.
func (j *Job) checkAffordable(all *books, d *datasetBooks, price dp.Price) error {
	b := all.balance(d)
	left, err := b.LeftFor(j.req.names()...)
	if err != nil {
		return err
	}
	if price.Epsilon > left.Epsilon || price.Delta > left.Delta { // 1.2
		return &Exceeded{Dataset: j.req.Dataset, Part: j.req.Part, Cohorts: b.shortOf(j.req.Cohorts, price),
			Spent: b.Epsilon - left.Epsilon, Asked: price.Epsilon, Limit: b.Epsilon,
			SpentDelta: b.Delta - left.Delta, AskedDelta: price.Delta, LimitDelta: b.Delta}
	}
	return j.checkInstitution(all, d, price)
}

// checkAllotment refuses a price that the analyst's allotment, or a missing approval, does not allow.
func (j *Job) checkAllotment(b *books, d *datasetBooks, price dp.Price) error {
	if j.req.By == nil {
		return nil
	}
	e := j.newEntry(Reserved, price, nil)
	e.At = j.l.now().UTC().Format(time.RFC3339)
	return d.roster.checkNow(b.latest, j.req.By, e)
}

// Charge reserves price for the whole bill or refuses it, with *Exceeded if the total does not allow
// it. Once it has returned nil, private data may be read.
func (j *Job) Charge(ctx context.Context, price dp.Price, bill []dp.Event) error {
	if err := checkPrice(price, bill); err != nil {
		return err
	}
	if err := j.reservePrice(ctx, price, bill); err != nil {
		return err
	}
	if err := j.beginReading(ctx); err != nil {
		// Nothing was read. Where even this fails, recovery refunds.
		failed := j.l.refundJob(context.WithoutCancel(ctx), j.name(), j.request)
		if failed != nil {
			failed = fmt.Errorf("ledger: the price of job %q was not given back, and stays reserved in data set %q, or spent "+
				"(budget show; budget recover settles it): %w", j.req.ID, j.req.Dataset, failed)
		}
		return errors.Join(err, failed)
	}
	j.began = true
	return nil
}

// checkPrice refuses a price that does not match the bill: a pure price other than the bill's total,
// or another price that joint accounting finds too small (1.5). It does not accept a bill without a
// price.
func checkPrice(price dp.Price, bill []dp.Event) error {
	enough, err := accounting.Within(bill, price)
	switch total := dp.Total(bill); {
	case err != nil:
		return fmt.Errorf("ledger: %w", err)
	case total == 0:
		return dp.Refuse("ledger", "epsilon", "must be > 0 on the bill", 0)
	case price.Delta == 0 && total != price.Epsilon, !enough:
		return dp.Refuse("ledger", "price", "must be what its bill costs", price)
	}
	for i, e := range bill {
		if e.Epsilon == 0 {
			return dp.Refuse("ledger", "epsilon", fmt.Sprintf("must be > 0 on every line of the bill (line %d)", i+1), 0)
		}
	}
	return nil
}

func (j *Job) reservePrice(ctx context.Context, price dp.Price, bill []dp.Event) error {
	detail, err := j.describeCharge(bill)
	if err != nil {
		return err
	}
	err = j.l.runStep(ctx, "reserve", func(b *books) error {
		state, err := j.readState(b)
		if err != nil {
			return err
		}
		if j.resumes(state) {
			return j.checkCharged(b, price)
		}
		if state != "" && state != Approved {
			return j.conflictError(state)
		}
		d, err := b.dataset(j.req.Dataset)
		if err != nil {
			return err
		}
		if err := j.checkTerms(b); err != nil {
			return err
		}
		if err := j.checkAffordable(b, d, price); err != nil {
			return err
		}
		e := j.newEntry(Reserved, price, encodeDetail(detail))
		switch err := j.checkSigned(d); { // an owner may have come meanwhile
		case err != nil:
			return err
		case j.req.By != nil:
			return j.l.addAct(b, j.req.By, e)
		}
		return j.l.addEntry(b, e)
	})
	if err == nil {
		j.price = price
	}
	return err
}

// checkCharged refuses to go on with a job at another price than it was charged.
func (j *Job) checkCharged(b *books, price dp.Price) error {
	if charged := b.job(j.req.Dataset, j.req.ID).price; charged != price {
		return dp.Refuse("ledger", "price", "must be what the job was charged, "+charged.String(), price)
	}
	return nil
}

// describeCharge makes the detail of an entry that requests the price of a bill.
func (j *Job) describeCharge(bill []dp.Event) (d reserved, err error) {
	text, err := json.Marshal(bill)
	if err != nil {
		return d, err
	}
	d = reserved{Terms: j.req.Terms, Sum: hashOf(text), Output: j.req.Output, Worker: j.req.Worker,
		Institution: j.req.Institution, Exposed: j.req.Exposed}
	for _, e := range bill {
		at := slices.IndexFunc(d.Bill, func(l line) bool { return l.Mechanism == e.Mechanism })
		if at < 0 {
			at = len(d.Bill)
			d.Bill = append(d.Bill, line{Mechanism: e.Mechanism})
		}
		d.Bill[at].Releases++
		d.Bill[at].Delta += e.Delta
		if d.Bill[at].Rho += e.Rho; e.Rho == 0 {
			d.Bill[at].Epsilon += e.Epsilon
		}
	}
	return d, nil
}

// beginReading records the last step before private data are read.
func (j *Job) beginReading(ctx context.Context) error {
	return j.l.runStep(ctx, "begin", func(b *books) error {
		if state, err := j.readState(b); err == nil && state == Began && j.resumes(state) {
			return nil
		}
		if err := j.expectState(b, Reserved); err != nil {
			return err
		}
		if err := j.checkTerms(b); err != nil { // another job may have begun first
			return err
		}
		if d := b.datasets[j.req.Dataset]; len(j.req.Cohorts) > 0 && d.definition == "" {
			err := j.l.addEntry(b, Entry{Kind: Defined, Dataset: d.name, Detail: encodeDetail(defined{j.req.Definition})})
			if err != nil {
				return err
			}
		}
		return j.l.addEntry(b, j.newEntry(Began, j.price, encodeDetail(began{j.req.Terms}))) // 1.3
	})
}

// Commit stores the result, which from then on is the job's only one. A result must not be released
// before it is committed. Committing the same bytes again has no effect.
func (j *Job) Commit(ctx context.Context, result []byte) error {
	err := j.l.runStep(context.WithoutCancel(ctx), "commit", func(b *books) error {
		state, err := j.readState(b)
		if err != nil {
			return err
		}
		if state == Committed || state == Published {
			old, err := b.result(j.request, j.req.ID)
			if err == nil && !slices.Equal(old, result) {
				err = j.conflictError(state)
			}
			return err
		}
		if state != Began {
			return j.conflictError(state)
		}
		if err := b.tx.putResult(j.request, result); err != nil {
			return err
		}
		// 2.1
		return j.l.addEntry(b, j.newEntry(Committed, dp.Price{}, encodeDetail(committed{int64(len(result)), hashOf(result)})))
	})
	if err == nil {
		j.stored = slices.Clone(result)
	}
	return err
}

// Publish writes exactly the committed bytes to path.
func (j *Job) Publish(ctx context.Context, path string) error {
	if j.stored == nil {
		return errors.New("ledger: a result must be committed before it is published")
	}
	if err := j.l.replaceFile(path, j.stored); err != nil { // 2.2
		return fmt.Errorf("ledger: publish: %w", err)
	}
	return j.l.notePublished(context.WithoutCancel(ctx), j.name(), j.request)
}

// Abandon closes a job that began and will have no result. Its price stays
// spent. A job that was not charged has nothing to close.
func (j *Job) Abandon(ctx context.Context, reason string) error {
	if !j.began {
		return nil
	}
	err := j.l.closeJob(context.WithoutCancel(ctx), j.name(), j.request, reason)
	j.closed = err == nil
	return err
}

// Explain adds to the error of a charged job what happened to its price; nil stays nil.
func (j *Job) Explain(err error) error {
	if err == nil || !j.began && j.stored == nil {
		return err
	}
	return &Spent{Ledger: j.l.address, Dataset: j.req.Dataset, Job: j.req.ID, Price: j.price, Kept: j.stored != nil,
		Closed: j.closed, Err: err}
}

func (j *Job) newEntry(kind Kind, price dp.Price, d json.RawMessage) Entry {
	return Entry{Kind: kind, Dataset: j.req.Dataset, Part: j.req.where(), Job: j.req.ID, Request: j.request,
		Epsilon: price.Epsilon, Delta: price.Delta, Detail: d}
}

// readState returns the kind of the job's newest entry, "" if it has none or was refunded.
func (j *Job) readState(b *books) (Kind, error) {
	now := b.job(j.req.Dataset, j.req.ID)
	if now.kind == "" || now.kind == Refunded {
		return "", nil
	}
	if now.request != j.request {
		return "", &Conflict{j.req.Dataset, j.req.ID, now.kind,
			"was used for another configuration; the same ID must mean the same training", dp.Step{}}
	}
	return now.kind, nil
}

// checkRepeated refuses to repeat a job under other terms than those of its charge: the job's identity
// covers them only as far as its configuration does.
func (j *Job) checkRepeated(b *books) error {
	now := b.job(j.req.Dataset, j.req.ID)
	var own reserved
	if err := now.reserved.decode(&own); err != nil {
		return err
	}
	mine := j.req.Terms
	if own.Terms.Unit != mine.Unit || own.Terms.Relation != mine.Relation || own.Terms.Person != mine.Person ||
		!slices.Equal(own.Terms.Protected, mine.Protected) {
		return &Conflict{j.req.Dataset, j.req.ID, now.kind,
			"was charged under other terms; the same ID must mean the same training", dp.Step{}}
	}
	return j.checkTerms(b)
}

func (j *Job) expectState(b *books, want Kind) error {
	state, err := j.readState(b)
	if err == nil && state != want {
		err = j.conflictError(state)
	}
	return err
}

func (j *Job) conflictError(state Kind) error {
	want := map[Kind]string{
		Reserved:  "is running, or was interrupted before anything was read",
		Began:     "is running, or was interrupted: its price is spent and it will never be drawn again; a new job needs a new ID",
		Committed: "has a result already: ask for it again",
		Published: "has a result already: ask for it again",
		Closed:    "was interrupted: its price is spent and it will never be drawn again; a new job needs a new ID",
		Requested: "waits for an approval by the data set's owner or an approver",
		Approved:  "is approved: the same training without a request is granted",
		Refused:   "was refused; another request needs a new ID",
		"":        "must have been reserved and not refunded",
	}[state]
	next := map[Kind]dp.Step{Reserved: {Kind: dp.RefundJob}, Began: {Kind: dp.CloseJob}}[state]
	if state == "" {
		state = "not reserved"
	}
	return &Conflict{j.req.Dataset, j.req.ID, state, want, next}
}

// checkTerms refuses terms whose prices do not add up with those of earlier jobs.
func (j *Job) checkTerms(b *books) error {
	refuse := func(param, want string, got any) error {
		return &dp.ParamError{Op: "ledger", Param: param, Want: want, Got: got,
			Hint: fmt.Sprintf("the prices of data set %q add up only under the same terms", j.req.Dataset)}
	}
	d, err := b.dataset(j.req.Dataset)
	if err != nil {
		return err
	}
	if err := d.Parts.checkRequest(&j.req); err != nil {
		return err
	}
	if err := checkCohortRequest(&j.req, d.CohortBy, d.definition); err != nil {
		return err
	}
	if j.req.Institution {
		if j.req.where() != "" {
			return refuse("part", "must not be given where the institution is protected as a whole", j.req.where())
		}
		return nil
	}
	if err := checkSides(d.division, &j.req); err != nil {
		return err
	}
	mine := j.req.Terms
	// Who declares persons gets what protects all rows of a person, whatever a row is called.
	if d.Unit != "" && d.Unit != mine.Unit && !(d.Unit == unitPerson && mine.Person != "") {
		return refuse("unit", fmt.Sprintf("must be %q, as declared", d.Unit), mine.Unit)
	}
	first := d.terms
	switch {
	case first == nil:
		return nil
	case mine.Unit != first.Unit:
		return refuse("unit", fmt.Sprintf("must be %q, as in the first job", first.Unit), mine.Unit)
	case mine.Person != first.Person:
		return refuse("person", fmt.Sprintf("must be %q, as in the first job", first.Person), mine.Person)
	case mine.Relation != first.Relation:
		return refuse("relation", fmt.Sprintf("must be %q, as in the first job", first.Relation), mine.Relation)
	}
	for _, c := range first.Protected {
		if _, ok := slices.BinarySearch(mine.Protected, c); !ok {
			return refuse("private columns", fmt.Sprintf("must include %q, which the first job protected", c), mine.Protected)
		}
	}
	return nil
}
