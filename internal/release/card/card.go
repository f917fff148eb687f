// SPDX-License-Identifier: Apache-2.0

package card

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/keyfile"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/ground/stats"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/ledger/policy"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Card holds the facts about a model that its YAML and JSON forms contain.
type Card struct {
	Dataset  string   `json:"data_set" yaml:"data_set"`
	Unit     string   `json:"one_row_is" yaml:"one_row_is"`
	Predicts string   `json:"predicts" yaml:"predicts"`
	Classes  []string `json:"classes" yaml:"classes"`
	Learner  string   `json:"learner" yaml:"learner"`

	Guarantee  string      `json:"guarantee" yaml:"guarantee"` // in words
	Epsilon    json.Number `json:"epsilon" yaml:"epsilon"`     // 0 if nothing is protected
	Delta      json.Number `json:"delta" yaml:"delta"`
	Odds       []string    `json:"odds" yaml:"odds"`
	Neighbours string      `json:"tables_compared" yaml:"tables_compared"`

	Protected    string   `json:"protected" yaml:"protected"`
	NotProtected []string `json:"not_protected" yaml:"not_protected"`
	Private      []string `json:"private_columns" yaml:"private_columns"` // the private columns that the model reads
	Public       []string `json:"public_columns" yaml:"public_columns"`
	Ignored      []string `json:"ignored_columns,omitempty" yaml:"ignored_columns,omitempty"` // by the schema
	LabelRole    string   `json:"label_is" yaml:"label_is"`

	Mechanisms []Mechanism `json:"mechanisms" yaml:"mechanisms"`
	Proof      string      `json:"proof,omitempty" yaml:"proof,omitempty"`
	Warnings   []string    `json:"warnings" yaml:"warnings"`

	Counted bool   `json:"counted" yaml:"counted"`
	Limit   string `json:"limit_of_one_training,omitempty" yaml:"limit_of_one_training,omitempty"`
	Entry   *Entry `json:"ledger,omitempty" yaml:"ledger,omitempty"`
	Audit   *Audit `json:"audit,omitempty" yaml:"audit,omitempty"`
	// Evaluation is nil if no private evaluation was given.
	Evaluation *Evaluation `json:"evaluation,omitempty" yaml:"evaluation,omitempty"`
	// Policy is the record of the policy that was applied; nil for none.
	Policy *Policy `json:"policy,omitempty" yaml:"policy,omitempty"`

	// About is what the organisation states about the model; nil if it gave nothing.
	About About `json:"about,omitempty" yaml:"about,omitempty"`

	Program  string `json:"card_written_by" yaml:"card_written_by"`
	Checksum string `json:"model_sha256" yaml:"model_sha256"`
	// SchemaFile is the digest of the schema's file as it was given to the training; "" if the model has none.
	SchemaFile string `json:"schema_file_sha256,omitempty" yaml:"schema_file_sha256,omitempty"`
	Schema     string `json:"-" yaml:"schema_sha256"` // digest of a release's schema.json; not in JSON, which old releases attest
	Date       string `json:"card_date" yaml:"card_date"`

	privacy  *model.Privacy
	declares func(name string) bool // the model's schema names a column
	weight   float64                // δ, as a number
}

// Mechanism is one kind of random noise and its share of the price.
type Mechanism struct {
	Name     string `json:"name" yaml:"name"`
	Releases int    `json:"releases" yaml:"releases"`
	Epsilon  string `json:"epsilon,omitempty" yaml:"epsilon,omitempty"`
	Rho      string `json:"rho,omitempty" yaml:"rho,omitempty"`
	Delta    string `json:"delta,omitempty" yaml:"delta,omitempty"`
}

// Entry identifies the model in a ledger.
type Entry struct {
	Dataset  string `json:"data_set" yaml:"data_set"`
	Job      string `json:"job" yaml:"job"`
	Seq      int64  `json:"entry" yaml:"entry"`
	At       string `json:"at" yaml:"at"`
	Hash     string `json:"entry_hash" yaml:"entry_hash"`
	HeadSeq  int64  `json:"head" yaml:"head"`
	HeadHash string `json:"head_hash" yaml:"head_hash"`
	Total    string `json:"total" yaml:"total"`
	Spent    string `json:"spent" yaml:"spent"`
	Left     string `json:"left" yaml:"left"`
	SetAt    string `json:"total_declared_at" yaml:"total_declared_at"`
	Note     string `json:"owners_note,omitempty" yaml:"owners_note,omitempty"`
	// Approval is the decision that let the training run; nil if it needed none.
	Approval *Approval `json:"approval,omitempty" yaml:"approval,omitempty"`
}

// Approval says which role approved which price for which purpose, and when.
type Approval struct {
	Role    string `json:"role" yaml:"role"` // owner or approver
	Price   string `json:"price" yaml:"price"`
	Purpose string `json:"purpose" yaml:"purpose"`
	At      string `json:"at" yaml:"at"`
	Name    string `json:"name,omitempty" yaml:"name,omitempty"` // of who approved, if it was asked for
}

// Audit is the result of an attempt to break the claim.
type Audit struct {
	Subject    string  `json:"subject" yaml:"subject"`
	LowerBound float64 `json:"lower_bound" yaml:"lower_bound"` // on ε
	Claim      float64 `json:"claim" yaml:"claim"`
	Confidence float64 `json:"confidence" yaml:"confidence"`
	Runs       int     `json:"runs" yaml:"runs"`
	Verdict    string  `json:"verdict" yaml:"verdict"`
	// Counted of the runs were counted, the others searched for the event. Neither number is in JSON, which old releases
	// attest.
	Counted int     `json:"-" yaml:"counted_runs,omitempty"`
	Delta   float64 `json:"-" yaml:"delta,omitempty"`
}

// Policy is a project's policy, and what became of each of its criteria.
type Policy struct {
	Number   int64              `json:"number" yaml:"number"`
	Digest   string             `json:"sha256" yaml:"sha256"` // of its text without the signature
	Signer   string             `json:"signed_by" yaml:"signed_by"`
	Criteria []policy.Criterion `json:"criteria" yaml:"criteria"`
}

// Of returns the card of a model whose file has these bytes.
func Of(m *model.Model, file []byte, program string, date time.Time) *Card {
	p, s := &m.Privacy, m.Schema
	sum, schemaSum := sha256.Sum256(file), ""
	if text, err := s.MarshalJSON(); err == nil { // a schema that a model holds can be written
		schemaSum = fmt.Sprintf("%x", sha256.Sum256(append(text, '\n')))
	}
	c := &Card{
		Dataset: s.Name, Unit: p.Unit, Predicts: s.Label.Name, Classes: schema.Values(s.Label.Levels),
		Learner: m.Learner, LabelRole: string(s.Label.Role),
		Epsilon: json.Number(p.Epsilon.String()), Delta: json.Number(p.Delta.String()), Counted: p.Counted,
		NotProtected: p.Unprotected, Program: program, Checksum: hex.EncodeToString(sum[:]), Schema: schemaSum,
		Date: date.UTC().Format(time.DateOnly), Private: []string{}, Public: []string{}, Mechanisms: []Mechanism{},
		SchemaFile: p.SchemaFile, Ignored: append([]string{}, p.Ignored...), privacy: p, weight: float64(p.Delta) / dp.Femto,
	}
	for _, column := range s.Columns {
		switch column.Role {
		case schema.Private:
			c.Private = append(c.Private, column.Name)
		case schema.Public:
			c.Public = append(c.Public, column.Name)
		}
	}
	c.addMechanisms(p.Bill)
	c.Warnings = append([]string{}, p.Flags()...)
	ignored := schema.Schema{Ignored: p.Ignored}
	c.declares = func(name string) bool { return s.Declares(name) || ignored.IsIgnored(name) }
	if s.MaxEpsilon > 0 {
		c.Limit = fmt.Sprintf("The table's schema allows one training at most epsilon %s.", s.MaxEpsilon)
	}
	if p.Claim != "" {
		c.Proof = p.Claim
	}
	c.Protected, c.Neighbours = p.Protects(), p.Compares()
	c.Guarantee, c.Odds = DescribeGuarantee(p)
	return c
}

func (c *Card) addMechanisms(bill []dp.Event) {
	at := map[string]int{}
	costs, rhos, deltas := map[string]dp.Epsilon{}, map[string]dp.Rho{}, map[string]dp.Delta{}
	for _, e := range bill {
		i, known := at[e.Mechanism]
		if !known {
			i = len(c.Mechanisms)
			at[e.Mechanism] = i
			c.Mechanisms = append(c.Mechanisms, Mechanism{Name: e.Mechanism})
		}
		c.Mechanisms[i].Releases++
		if e.Epsilon != dp.Infinite {
			costs[e.Mechanism] += e.Epsilon
			c.Mechanisms[i].Epsilon = costs[e.Mechanism].String()
		}
		if e.Delta > 0 {
			deltas[e.Mechanism] += e.Delta
			c.Mechanisms[i].Delta = deltas[e.Mechanism].String()
		}
		if e.Rho > 0 {
			rhos[e.Mechanism] += e.Rho
			c.Mechanisms[i].Rho = rhos[e.Mechanism].String()
		}
	}
}

// Suspicions are the certainties of an observer before seeing a model, to which a card gives the largest
// ones after it.
var Suspicions = [3]float64{0.5, 0.1, 0.01}

// DescribeGuarantee describes the price in plain words, and what it means for an observer who suspects
// something.
func DescribeGuarantee(p *model.Privacy) (guarantee string, odds []string) {
	if p.Scope == dp.Nothing {
		return "None. This model may reveal whatever was read of the training rows.", []string{}
	}
	guarantee = fmt.Sprintf("A change of %s changes the probability of any model by at most a factor of %s",
		strings.ReplaceAll(p.Protects(), " each ", " one "), p.Factor())
	if p.Delta > 0 {
		guarantee += fmt.Sprintf(", plus a probability of %s.", p.Delta)
		if strings.HasPrefix(p.Guess(), "100.0") {
			return guarantee, []string{"A reader who guesses between two possibilities that were equally likely before may " +
				"be right almost always."}
		}
		return guarantee, []string{
			"A reader who guesses between two possibilities that were equally likely before is right at most " + p.Guess() +
				" of the time."}
	}
	for _, before := range Suspicions {
		after := percentOf(p.Epsilon, before)
		if strings.HasPrefix(after, "100.0") {
			odds = append(odds, fmt.Sprintf("A suspicion of %g %% can become a near certainty.", 100*before))
			continue
		}
		odds = append(odds, fmt.Sprintf("A suspicion of %g %% becomes at most %s.", 100*before, after))
	}
	return guarantee + ".", odds
}

// Suspect returns the largest certainty that a model with a pure guarantee can give to an observer,
// who had the certainty before without it. Both are probabilities. The odds grow at most by the factor
// e^ε.
func Suspect(e dp.Epsilon, before float64) float64 {
	return 1 / (1 + math.Exp(-e.Float())*(1-before)/before)
}

// percentOf returns Suspect in percent, rounded up.
func percentOf(e dp.Epsilon, before float64) string {
	return fmt.Sprintf("%.1f\u00a0%%", math.Ceil(1000*Suspect(e, before)-1e-9)/10)
}

// AddLedger adds the entry of l that holds the model's file, and the approval of its training, by name if names is set.
// It refuses a ledger without the entry.
func (c *Card) AddLedger(ctx context.Context, l *ledger.Ledger, names bool) error {
	var e Entry
	declared, approved := map[string]string{}, map[[2]string]string{}
	err := l.History(ctx, "", func(x ledger.Entry) error {
		e.HeadSeq, e.HeadHash = x.Seq, x.Hash
		var result struct {
			SHA256 string `json:"sha256"`
		}
		switch x.Kind {
		case ledger.Declared:
			declared[x.Dataset] = x.At
		case ledger.Approved:
			approved[[2]string{x.Dataset, x.Job}] = x.At
		case ledger.Committed:
			if err := json.Unmarshal(x.Detail, &result); err == nil && result.SHA256 == c.Checksum {
				e.Dataset, e.Job, e.Seq, e.At, e.Hash = x.Dataset, x.Job, x.Seq, x.At, x.Hash
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if e.Seq == 0 {
		return &dp.ParamError{Op: "card", Param: "ledger", Want: "must be the one that holds this model's bytes",
			Got: "another", Next: dp.Step{Kind: dp.LeaveOut, Name: "ledger", Why: "for a model that no ledger counted"}}
	}
	b, err := l.Balances(ctx, e.Dataset)
	if err != nil {
		return err
	}
	e.Total, e.Spent = PriceWords(b[0].Epsilon, b[0].Delta), PriceWords(b[0].Spent, b[0].SpentDelta)
	e.Left, e.Note, e.SetAt = PriceWords(b[0].Left, b[0].LeftDelta), b[0].Note, declared[e.Dataset]
	if at := approved[[2]string{e.Dataset, e.Job}]; at != "" {
		if e.Approval, err = findApproval(ctx, l, &e, at, names); err != nil {
			return err
		}
	}
	c.Entry = &e
	return nil
}

// findApproval returns the approval of an entry's job, which was given at a time.
func findApproval(ctx context.Context, l *ledger.Ledger, e *Entry, at string, names bool) (*Approval, error) {
	members, err := l.Members(ctx, e.Dataset)
	if err != nil {
		return nil, err
	}
	accounts, err := l.Report(ctx, e.Dataset)
	if err != nil {
		return nil, err
	}
	a := accounts[slices.IndexFunc(accounts, func(a ledger.Account) bool { return a.Job == e.Job })]
	by := &Approval{Price: PriceWords(dp.Epsilon(a.Epsilon), a.Delta), Purpose: a.Purpose, At: at}
	for _, m := range members {
		if m.Key == a.DecidedKey && m.Role != "analyst" {
			by.Role = m.Role
		}
	}
	if names {
		by.Name = a.DecidedBy
	}
	return by, nil
}

// ApplyPolicy adds the record of a policy, by what f knows of the model's training.
func (c *Card) ApplyPolicy(p *policy.Project, f policy.Facts) {
	f.Declares = c.declares
	f.Price, f.Schema, f.Unit = dp.Price{Epsilon: c.privacy.Epsilon, Delta: c.privacy.Delta}, c.SchemaFile, policy.Row
	if c.protectsMore() {
		f.Unit = policy.Person
	}
	if f.Public = slices.Clone(c.Public); c.LabelRole == string(schema.Public) {
		f.Public = append(f.Public, c.Predicts)
	}
	switch c.privacy.Scope {
	case dp.WholeRow, dp.Party:
		f.Public = nil
	case dp.LabelOnly:
		f.Public = append(f.Public, c.Private...)
	}
	if a := c.Audit; a != nil {
		rest, ok := strings.CutPrefix(a.Subject, "learner "+c.Learner)
		ok = ok && (strings.HasPrefix(rest, " on ") || strings.HasPrefix(rest, ", ")) // as an audit names its subject
		of := ok && a.Claim == f.Price.Epsilon.Float() && a.Delta == f.Price.Delta.Float()
		f.Audited = &policy.Shown{Met: of && a.Verdict == notRefuted,
			Words: fmt.Sprintf("%s at epsilon = %g, delta = %g: %s", a.Subject, a.Claim, a.Delta, a.Verdict)}
		if !of {
			f.Audited.Words += fmt.Sprintf("; the model is of learner %s at epsilon = %s, delta = %s", c.Learner, f.Price.Epsilon, f.Price.Delta)
		}
	}
	c.Policy = &Policy{p.Number, p.Digest, keyfile.ID(p.Signer), p.Judge(&f)}
}

// PriceWords formats a price as in Entry.
func PriceWords(eps dp.Epsilon, delta dp.Delta) string {
	if delta == 0 {
		return "epsilon " + eps.String()
	}
	return fmt.Sprintf("epsilon %s and delta %s", eps, delta)
}

// ReadPriceWords parses what PriceWords formats.
func ReadPriceWords(text string) (p dp.Price, err error) {
	eps, delta, both := strings.Cut(strings.TrimPrefix(text, "epsilon "), " and delta ")
	if eps != "0" { // which is no price, but may be what is left
		if p.Epsilon, err = dp.ParseEpsilon(eps); err != nil {
			return p, err
		}
	}
	if both {
		if p.Delta, err = dp.ParseDelta(delta); err != nil {
			return p, err
		}
	}
	if PriceWords(p.Epsilon, p.Delta) != text {
		return p, errors.New("card: a price must be as a card has it")
	}
	return p, nil
}

// AddAudit adds the report of an audit or of an attack, read from a file. Errors do
// not quote other files.
func (c *Card) AddAudit(path string) error {
	refuse := &dp.ParamError{Op: "card", Param: "audit",
		Want: "must be the report of an audit or an attack, in JSON", Got: path}
	text, err := openfile.Read(path)
	if err != nil {
		return fmt.Errorf("card: audit: %w", err)
	}
	if c.AddAuditText(text) != nil {
		return refuse
	}
	return nil
}

// AddAuditText is AddAudit for the content of such a file.
func (c *Card) AddAuditText(text []byte) error {
	refuse := errors.New("card: the audit must be the report of an audit or an attack, in JSON")
	var a struct {
		Subject, Learner, Verdict string
		LowerBound                *float64 `json:"lower_bound"`
		Claim, Epsilon, Delta     float64
		Confidence                float64
		Runs                      int
		Counts                    [2]int
		Counted                   int `json:"counted_runs"`
	}
	if err := json.Unmarshal(text, &a); err != nil || a.LowerBound == nil || a.Verdict == "" {
		return refuse
	}
	attack := a.Subject == ""
	if attack {
		a.Subject, a.Claim = a.Learner, a.Epsilon
	}
	for _, s := range []string{a.Subject, a.Verdict} {
		if len(s) > 200 || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' }) {
			return refuse
		}
	}
	found := &Audit{a.Subject, *a.LowerBound, a.Claim, a.Confidence, a.Runs, a.Verdict, a.Counted, a.Delta}
	if !found.agrees() || !attack && !found.followsFrom(a.Counts) {
		return errors.New("card: the audit must be a report whose numbers agree with each other")
	}
	c.Audit = found
	return nil
}

// The verdicts of audits and attacks.
const (
	notRefuted = "not refuted"
	refuted    = "REFUTED"
)

// agrees reports whether the verdict follows from the bound, and the other numbers are possible.
func (a *Audit) agrees() bool {
	verdict := notRefuted
	if a.LowerBound > a.Claim {
		verdict = refuted
	}
	return a.Verdict == verdict && a.LowerBound >= 0 && a.Claim > 0 && a.Delta >= 0 && a.Delta < 1 &&
		a.Confidence >= 0.5 && a.Confidence < 1 && a.Runs >= 2
}

// followsFrom reports whether an audit that counted its event so often on either side computes this bound. An audit makes
// at least 64 runs and counts in at least half of them, but not in all.
func (a *Audit) followsFrom(counts [2]int) bool {
	n := a.Counted
	if a.Runs < 64 || n < a.Runs-n || n >= a.Runs || min(counts[0], counts[1]) < 0 || max(counts[0], counts[1]) > n {
		return false
	}
	found := false
	for side := range 2 { // the report does not say on which the event was expected
		bound := stats.EpsilonLowerBound(counts[side], n, counts[1-side], n, a.Delta, 1-a.Confidence)
		off := 1e-3 * (1 + bound) // 1 less the confidence is rounded
		found = found || math.Abs(bound-a.LowerBound) <= off
		if bound > a.Claim+off && a.Verdict != refuted {
			return false
		}
	}
	return found
}

// Statement returns the model's statement as train printed it, with its place in the ledger.
func (c *Card) Statement() string {
	return c.privacy.Card() + fmt.Sprintf("  %-14s %s, for label %q of %q\n  %-14s sha256 %s\n", "model", c.Learner,
		c.Predicts, c.Dataset, "file", c.Checksum)
}
