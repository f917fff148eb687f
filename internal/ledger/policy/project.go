// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/yamltext"
	"github.com/discreet-dp/discreet/internal/ledger"
)

// Project is what the owner of a data set allows to be made of it.
type Project struct {
	Clauses `yaml:",inline"`

	Unit    string   `yaml:"unit"`    // Person or Row
	Schema  string   `yaml:"schema"`  // SHA-256 of the approved schema's file; "" for any
	Private []string `yaml:"private"` // columns that must not be public
	Rows    Rows     `yaml:"rows"`
	Check   bool     `yaml:"check"`   // schema check has read the table
	Audit   bool     `yaml:"audit"`   // a release has the report of an audit
	Approve Approve  `yaml:"approve"` // who decides on trainings

	Digest string            `yaml:"-"` // of the text without its signature
	Signer ed25519.PublicKey `yaml:"-"` // the officer's key
}

// Rows says how many rows, or persons, there must be. Declared is what the owner says of them, which is no count.
type Rows struct {
	Minimum  int `yaml:"minimum"`
	Declared int `yaml:"declared"`
}

// Approve are the public keys of those who decide, by name: the line of a public key's file between its first and its last.
type Approve map[string]string

// key returns a member's key, nil if it is none.
func (a Approve) key(name string) ed25519.PublicKey {
	text, err := base64.StdEncoding.DecodeString(a[name])
	if err != nil {
		return nil
	}
	key, _ := x509.ParsePKIXPublicKey(text)
	public, _ := key.(ed25519.PublicKey)
	return public
}

// The units that a policy may ask for.
const (
	Person = "person"
	Row    = "row"
)

const project Kind = "policy"

// ReadProject reads a project's policy, which must be signed. Whose key it must be, the caller knows.
func ReadProject(path string) (*Project, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	p, err := ParseProject(text)
	if err != nil {
		return nil, fmt.Errorf("policy: %s: %w", path, err)
	}
	return p, nil
}

// ParseProject is ReadProject for the content of a file.
func ParseProject(text []byte) (*Project, error) {
	signer := signerOf(text)
	body, ok := project.Open(text, signer)
	if !ok {
		return nil, errors.New("must be signed, in place of its draft, and unchanged since")
	}
	p, err := parseProject(body)
	if err == nil {
		p.Signer = signer
	}
	return p, err
}

// SignProject writes a project's policy with the officer's signature. Where approve names a file, read reads the key
// that takes its place.
func SignProject(text []byte, officer ed25519.PrivateKey, read func(file string) (ed25519.PublicKey, error), to io.Writer) (*Project, error) {
	body, _ := project.Open(text, nil)
	var draft Project
	if yamltext.Decode("policy", body, &draft) == nil {
		for name, file := range draft.Approve {
			if draft.Approve.key(name) != nil {
				continue
			}
			key, err := read(file)
			if err != nil {
				return nil, err
			}
			der, err := x509.MarshalPKIXPublicKey(key)
			if err != nil {
				return nil, err
			}
			body = bytes.ReplaceAll(body, []byte(file), []byte(base64.StdEncoding.EncodeToString(der)))
		}
	}
	p, err := parseProject(body)
	if err != nil {
		return nil, err
	}
	return p, project.Sign(body, officer, to)
}

// parseProject parses a project's policy. Its errors quote nothing, because the file may be another one.
func parseProject(body []byte) (*Project, error) {
	p := &Project{Digest: Digest(body)}
	if err := yamltext.Decode("policy", body, p); err != nil {
		return nil, errors.New("must be a project's policy, with its keys and no others (docs/verifying.md)")
	}
	if err := p.Clauses.Check(); err != nil {
		return nil, err
	}
	sum, err := hex.DecodeString(p.Schema)
	switch {
	case p.Unit != Person && p.Unit != Row:
		return nil, Bad("unit", "be %s or %s", Person, Row)
	case p.Schema != "" && (err != nil || fmt.Sprintf("%064x", sum) != p.Schema):
		return nil, Bad("schema", "be the SHA-256 of the approved file, in 64 hexadecimal digits")
	case p.Rows.Minimum < 0 || p.Rows.Declared < 0:
		return nil, Bad("rows", "be a minimum and the declared number, both at least 0")
	}
	seen := map[string]bool{}
	for name := range p.Approve {
		key := p.Approve.key(name)
		if key == nil || seen[string(key)] || name == "" {
			return nil, Bad("approve", "have names, each with a key of its own: the second line of the public key's file")
		}
		seen[string(key)] = true
	}
	return p, nil
}

// Outcome is what became of a criterion.
type Outcome string

const (
	Met      Outcome = "met"
	NotMet   Outcome = "not met"
	NotShown Outcome = "not shown" // by what was looked at
)

// Criterion is a clause that was applied, for the record.
type Criterion struct {
	Clause  string  `json:"clause" yaml:"clause"`
	Asks    string  `json:"asks" yaml:"asks"`
	Found   string  `json:"found" yaml:"found"`
	Outcome Outcome `json:"outcome" yaml:"outcome"`
}

// String is the criterion on one line.
func (c Criterion) String() string {
	return fmt.Sprintf("%-9s %-9s %s; found: %s", c.Outcome, c.Clause, c.Asks, c.Found)
}

// Facts are what is known of a training or a release. What is nil is not known.
type Facts struct {
	Price    dp.Price // none for a model without privacy
	Day      time.Time
	Unit     string
	Schema   string                 // SHA-256 of the schema's file; "" if it is not known
	Public   []string               // columns that the guarantee does not protect
	Declares func(name string) bool // the schema says something of this column of the table
	Rows     int                    // for how many rows, or persons, a training is planned; 0 if that is not said
	Data     *string                // the data set in the ledger
	Total    *dp.Price
	Approved *string // the key of who approved, in hexadecimal digits; "" if nobody did
	Checked  *Shown  // schema check has read the table
	Audited  *Shown  // the model's learner was audited at its price, and its guarantee not refuted
}

// Shown is a fact that others have judged, in words.
type Shown struct {
	Met   bool
	Words string
}

// Judge applies every clause that the policy has to facts.
func (p *Project) Judge(f *Facts) (list []Criterion) {
	one, _ := p.Training.Price() // which Check has parsed
	all, _ := p.Lifetime.Price()
	say := func(clause, asks, found string, met bool) {
		outcome := NotMet
		if met {
			outcome = Met
		}
		list = append(list, Criterion{clause, asks, found, outcome})
	}
	unknown := func(clause, asks string) {
		list = append(list, Criterion{clause, asks, "nothing that shows it", NotShown})
	}
	shown := func(clause, asks string, s *Shown) {
		if s == nil {
			unknown(clause, asks)
		} else {
			say(clause, asks, s.Words, s.Met)
		}
	}
	if f.Price.Epsilon == 0 {
		say("training", "at most "+one.String(), "no guarantee", false)
	} else {
		say("training", "at most "+one.String(), f.Price.String(), f.Price.Epsilon <= one.Epsilon && f.Price.Delta <= one.Delta)
	}
	if f.Total == nil {
		unknown("lifetime", "at most "+all.String()+" in total")
	} else {
		say("lifetime", "at most "+all.String()+" in total", "the ledger allows "+f.Total.String(), f.Total.Epsilon <= all.Epsilon &&
			f.Total.Delta <= all.Delta)
	}
	if f.Data == nil {
		unknown("data", "data set "+p.Data)
	} else {
		say("data", "data set "+p.Data, "data set "+*f.Data, *f.Data == p.Data)
	}
	say("until", "a day up to "+p.Until, f.Day.UTC().Format(time.DateOnly), f.Day.Before(p.End))
	say("unit", "one "+p.Unit, "one "+f.Unit, f.Unit == p.Unit || f.Unit == Person)
	switch {
	case p.Schema != "" && f.Schema == "":
		unknown("schema", "the file of SHA-256 "+p.Schema)
	case p.Schema != "":
		say("schema", "the file of SHA-256 "+p.Schema, "SHA-256 "+f.Schema, f.Schema == p.Schema)
	}
	if len(p.Private) > 0 {
		without := func(drop func(name string) bool) string {
			return strings.Join(slices.DeleteFunc(slices.Clone(p.Private), drop), ", ")
		}
		open := without(func(name string) bool { return !slices.Contains(f.Public, name) })
		unknown := without(func(name string) bool { return f.Declares != nil && f.Declares(name) })
		found := "none is public"
		switch {
		case open != "":
			found = "public: " + open
		case unknown != "":
			found = "no column of the table: " + unknown
		}
		say("private", "private or not read: "+strings.Join(p.Private, ", "), found, open == "" && unknown == "")
	}
	if p.Rows.Minimum > 0 {
		found := fmt.Sprintf("the owner declares %d", p.Rows.Declared)
		if f.Rows > 0 {
			found += fmt.Sprintf(", the plan is for %d", f.Rows)
		}
		say("rows", fmt.Sprintf("at least %d", p.Rows.Minimum), found,
			p.Rows.Declared >= p.Rows.Minimum && (f.Rows == 0 || f.Rows >= p.Rows.Minimum))
	}
	if p.Check {
		shown("check", "a table that schema check has read with this schema", f.Checked)
	}
	if len(p.Approve) > 0 {
		asks := "an approval by " + strings.Join(slices.Sorted(maps.Keys(p.Approve)), " or ")
		var by *Shown
		if f.Approved != nil {
			by = &Shown{false, "none of theirs"}
			for name := range p.Approve {
				if hex.EncodeToString(p.Approve.key(name)) == *f.Approved {
					by = &Shown{true, "one by " + name}
				}
			}
		}
		shown("approve", asks, by)
	}
	if p.Audit {
		shown("audit", "an audit of the model's learner, at the model's epsilon and delta, that did not refute it", f.Audited)
	}
	return list
}

// Refused is a criterion that is not met.
type Refused struct {
	Op     string
	Number int64
	Criterion
}

func (e *Refused) Error() string {
	return fmt.Sprintf("%s: policy number %d, %s: it asks for %s; found: %s", e.Op, e.Number, e.Clause, e.Asks, e.Found)
}

// Refuse returns an error for the first criterion that is not met, or not shown and none of those that may be shown later.
func (p *Project) Refuse(op string, list []Criterion, later ...string) error {
	for _, c := range list {
		if c.Outcome == NotMet || c.Outcome == NotShown && !slices.Contains(later, c.Clause) {
			return &Refused{op, p.Number, c}
		}
	}
	return nil
}

// RefuseRows refuses fewer rows, or persons, than the policy asks for, where their number is public.
func (p *Project) RefuseRows(op string, rows int) error {
	if rows >= p.Rows.Minimum {
		return nil
	}
	return &Refused{op, p.Number, Criterion{"rows", fmt.Sprintf("at least %d", p.Rows.Minimum), fmt.Sprint(rows), NotMet}}
}

// FindLedger adds to facts what a ledger knows of a job on a data set. It refuses a data set whose owner did not sign
// the policy.
func (p *Project) FindLedger(ctx context.Context, l *ledger.Ledger, data, job string, f *Facts) error {
	b, err := l.Balances(ctx, data)
	if err != nil {
		return err
	}
	members, err := l.Members(ctx, data)
	if err != nil {
		return err
	}
	if len(members) > 0 && members[0].Key != hex.EncodeToString(p.Signer) {
		return dp.Refuse("policy", "signature", "must be that of the data set's owner", nil)
	}
	f.Data, f.Total = &data, &dp.Price{Epsilon: b[0].Epsilon, Delta: b[0].Delta}
	accounts, err := l.Report(ctx, data)
	if err != nil {
		return err
	}
	f.Approved = new(string)
	for _, a := range accounts {
		if a.Job != job {
			continue
		}
		if a.State != ledger.Refused {
			f.Approved = &a.DecidedKey
		}
		var plan struct {
			Policy string `json:"policy_sha256"`
		}
		if p.Check && json.Unmarshal(a.Plan, &plan) == nil && plan.Policy == p.Digest {
			f.Checked = &Shown{true, "the training was approved under this policy, which enforces it"}
		}
	}
	return nil
}

// Declare declares the policy's data set in a ledger, with the officer as its owner, and appoints who decides.
func (p *Project) Declare(ctx context.Context, l *ledger.Ledger, d ledger.Dataset) error {
	all, err := p.Lifetime.Price()
	if err != nil {
		return err
	}
	if d.Owner == nil || !p.Signer.Equal(d.Owner.Public()) {
		return dp.Refuse("policy", "key", "must be the one that signed the policy", nil)
	}
	d.Name, d.Epsilon, d.Delta = p.Data, all.Epsilon, all.Delta
	if err := l.Declare(ctx, d); err != nil {
		return err
	}
	_, err = p.Appoint(ctx, l, d.Owner)
	return err
}

// Appoint gives the keys of the policy their roles on its data set, and returns their names.
func (p *Project) Appoint(ctx context.Context, l *ledger.Ledger, owner ed25519.PrivateKey) (names []string, err error) {
	if !p.Signer.Equal(owner.Public()) {
		return nil, dp.Refuse("policy", "key", "must be the one that signed the policy", nil)
	}
	members, err := l.Members(ctx, p.Data)
	if err != nil {
		return nil, err
	}
	if len(members) == 0 {
		names = append(names, "owner")
		if err := l.Appoint(ctx, owner, ledger.Appointment{Dataset: p.Data, Role: ledger.Owner, Name: "owner", Key: p.Signer}); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Approve)) {
		key := p.Approve.key(name)
		names = append(names, name)
		if p.Signer.Equal(key) {
			continue // the owner may decide anyway
		}
		if err := l.Appoint(ctx, owner, ledger.Appointment{Dataset: p.Data, Role: ledger.Approver, Name: name, Key: key,
			Until: p.End.Add(-time.Second)}); err != nil {
			return names, err
		}
	}
	return names, nil
}
