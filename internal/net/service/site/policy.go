// SPDX-License-Identifier: Apache-2.0

package site

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/anchor"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/ground/yamltext"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/ledger/policy"
	"github.com/discreet-dp/discreet/internal/net/federated/sites"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Policy is the permissions of a site's officer, in one signed file.
type Policy struct {
	policy.Clauses `yaml:",inline"`

	Site         string            `yaml:"site"`
	Coordinators []string          `yaml:"coordinators"`
	Sites        map[string]string `yaml:"sites"`         // public keys in hexadecimal digits, by name, including this site's
	MinimumSites int               `yaml:"minimum_sites"` // per training
	Honest       int               `yaml:"honest"`        // number of honest ones among Sites, including this one
	Schema       sites.Digest      `yaml:"schema"`
	// HeldOut is the data set, in the ledger, of the rows for evaluations; "": no evaluations are
	// answered.
	HeldOut string `yaml:"held_out"`
	// ExactEvaluation lets the coordinators have exact numbers about these rows, which are not private.
	ExactEvaluation bool `yaml:"exact_evaluation"`
	// PublicRows says that the number of this site's rows, or persons, is public, as it is under
	// replace-one.
	PublicRows bool `yaml:"public_rows"`
	// OwnNumbers lets the coordinators see this site's own numbers, with noise, in trainings that sites may leave.
	OwnNumbers bool `yaml:"own_numbers"`
	// MayLeave is how many sites at most may leave a training that has begun.
	MayLeave     int `yaml:"may_leave"`
	Measurements int `yaml:"measurements"` // the most of a training
	Numbers      int `yaml:"numbers"`      // the most of a measurement
	// Hours are those in UTC at which calls are answered, as 22:00-06:00; "": at any.
	Hours string `yaml:"hours"`
	// Figures lets refusals tell coordinators the limits of this policy, and what is spent.
	Figures bool `yaml:"figures"`
	// Programs are the permitted versions of the program, as discreet-net version prints them; none:
	// all.
	Programs []string `yaml:"programs"`
	// Votes is nil if the site does not vote. A policy with votes and without Schema allows no trainings.
	Votes *Votes `yaml:"votes"`

	from, to time.Duration // since midnight, if Hours are given
	digest   string        // of the signed text
	officer  string        // the key that signed it, in hexadecimal digits
}

const (
	maxNumbers = 1 << 20
	// maxTrainings is how many trainings a lifetime pays for. The ledger and the anchors keep something of each
	// for good.
	maxTrainings = 10000
)

// The kinds of files that are signed about sites.
const (
	sitePolicy policy.Kind = "site policy"
	siteKit    policy.Kind = "site kit"
)

// ReadPolicy reads a policy that the officer's key has signed. Without a key it need not be signed.
func ReadPolicy(path string, officer ed25519.PublicKey) (*Policy, error) {
	body, err := sitePolicy.ReadSigned(path, officer)
	if err != nil {
		return nil, fmt.Errorf("site: %w", err)
	}
	p, err := parsePolicy(body)
	if err != nil {
		return nil, fmt.Errorf("site: %s: %w", path, err)
	}
	p.officer = hex.EncodeToString(officer)
	return p, nil
}

// anchorOf is the identity under which the newest policy of a site and an officer is remembered.
func (p *Policy) anchorOf() string {
	sum := sha256.Sum256([]byte("discreet site policy anchor " + p.officer + " " + p.Site))
	return hex.EncodeToString(sum[:])
}

// CheckNewest refuses a policy that is older than one that this site has served, and another one with the
// same number. The anchors are outside of the state and of the ledger, whose backups may be restored.
func (p *Policy) CheckNewest(anchors anchor.Folder) error {
	err := anchors.Check("site: the policy", p.anchorOf(), func(h anchor.Head) (bool, error) {
		return h.Seq < p.Number || h.Seq == p.Number && h.Hash == p.digest, nil
	})
	if old, ok := errors.AsType[*anchor.Behind](err); ok {
		return &dp.ParamError{Op: "site", Param: "number", Want: fmt.Sprintf("must be above %d, the number of another policy "+
			"that this site has served", old.Head.Seq), Got: fmt.Sprint(p.Number),
			Hint: "the officer gives each policy the next number and signs it"}
	}
	return err
}

// noteNewest remembers a policy that is served.
func (p *Policy) noteNewest(anchors anchor.Folder) error {
	return anchors.Note(p.anchorOf(), anchor.Head{Seq: p.Number, Hash: p.digest})
}

// SignPolicy reads a policy and writes it with the officer's signature as its last line. It returns the
// policy.
func SignPolicy(path string, officer ed25519.PrivateKey, to io.Writer) (*Policy, error) {
	text, err := openfile.Read(path)
	if err != nil {
		return nil, err
	}
	body, _ := sitePolicy.Open(text, nil)
	p, err := parsePolicy(body)
	if err != nil {
		return nil, fmt.Errorf("site: %s: %w", path, err)
	}
	return p, sitePolicy.Sign(body, officer, to)
}

// parsePolicy parses a policy. Its errors quote nothing, because the file may be another one.
func parsePolicy(body []byte) (*Policy, error) {
	p := Policy{digest: policy.Digest(body)}
	if err := yamltext.Decode("policy", body, &p); err != nil {
		return nil, errors.New("must be a site policy, with its keys and no others (docs/sites.md)")
	}
	if err := p.Clauses.Check(); err != nil {
		return nil, err
	}
	bad := func(key, want string, args ...any) (*Policy, error) { return nil, policy.Bad(key, want, args...) }
	own, ok := p.Sites[p.Site]
	switch trains := p.trains(); {
	case !ok || own == "":
		return bad("site", "be one of sites")
	case p.Honest < 1 || p.Honest > len(p.Sites):
		return bad("honest", "be 1 to the number of sites")
	case !trains && len(p.Sites) > maxVoters:
		return bad("sites", "number at most %d", maxVoters)
	case !trains && (p.Coordinators != nil || p.HeldOut != "" || p.ExactEvaluation || p.PublicRows || p.OwnNumbers || p.MayLeave != 0 ||
		p.MinimumSites != 0 ||
		p.Measurements != 0 || p.Numbers != 0):
		return bad("schema", "be given for what else than votes is allowed")
	case !trains:
	case len(p.Coordinators) == 0:
		return bad("coordinators", "name at least one")
	case len(p.Sites) < 2 || len(p.Sites) > sites.MaxSites:
		return bad("sites", "number 2 to %d", sites.MaxSites)
	case p.MinimumSites < 2 || p.MinimumSites > len(p.Sites):
		return bad("minimum_sites", "be 2 to the number of sites")
	case p.OwnNumbers != (p.MayLeave > 0):
		return bad("own_numbers", "be true if may_leave is above 0, and else false: no mask hides what remains when a site leaves")
	case p.MayLeave < 0 || p.MayLeave > len(p.Sites)-p.MinimumSites:
		return bad("may_leave", "leave minimum_sites of the sites")
	case p.MayLeave > 0 && p.PublicRows:
		return bad("may_leave", "be 0 with public_rows, which are those of all sites")
	case len(p.Schema) != 64:
		return bad("schema", "have 64 hexadecimal digits, as site check prints them")
	case p.Data == p.HeldOut:
		return bad("held_out", "be another data set than data")
	case p.ExactEvaluation && p.HeldOut == "":
		return bad("exact_evaluation", "be false without held_out")
	case p.Measurements < 1:
		return bad("measurements", "be at least 1")
	case p.Numbers < 1 || p.Numbers > maxNumbers:
		return bad("numbers", "be 1 to %d", maxNumbers)
	}
	if err := p.checkVotes(); err != nil {
		return nil, err
	}
	for _, name := range p.Coordinators {
		if (identity.Caller{Role: identity.Combiner, Name: name}).Check() != nil {
			return bad("coordinators", "be names of certificates combiner/NAME")
		}
	}
	seen := map[string]bool{}
	for name, key := range p.Sites {
		if b, err := hex.DecodeString(key); err != nil || len(b) != ed25519.PublicKeySize || seen[key] ||
			(identity.Caller{Role: identity.Party, Name: name}).Check() != nil {
			return bad("sites", "have names of certificates party/NAME, each with a key of 64 hexadecimal digits")
		}
		seen[key] = true
	}
	if p.Hours != "" {
		from, to, _ := strings.Cut(p.Hours, "-")
		a, err := time.Parse("15:04", from)
		b, err2 := time.Parse("15:04", to)
		if err != nil || err2 != nil || a.Equal(b) {
			return bad("hours", "be two times in UTC like 22:00-06:00")
		}
		midnight := a.Truncate(24 * time.Hour)
		p.from, p.to = a.Sub(midnight), b.Sub(midnight)
	}
	return &p, nil
}

// checkHours refuses a call outside of the hours; the caller may try again later.
func (p *Policy) checkHours(now time.Time) error {
	if p.Hours == "" {
		return nil
	}
	now = now.UTC()
	at := now.Sub(now.Truncate(24 * time.Hour)) // Unix time has no leap seconds
	if p.from < p.to && at >= p.from && at < p.to || p.from > p.to && (at >= p.from || at < p.to) {
		return nil
	}
	return problem.New(problem.Overloaded, "this site answers from %s UTC", strings.Replace(p.Hours, "-", " to ", 1))
}

// check refuses a training that the policy does not allow.
func (p *Policy) check(t *sites.Training, caller identity.Caller, now time.Time) error {
	refuse := func(clause, figures string, args ...any) error {
		return problem.New(problem.NotAllowed, "%s", p.clause(clause, figures, args...))
	}
	if err := t.Check(); err != nil {
		return problem.New(problem.Malformed, "%v", err)
	}
	most, err := p.Training.Price()
	if err != nil {
		return err
	}
	all, err := p.Lifetime.Price()
	if err != nil {
		return err
	}
	if !p.trains() {
		return refuse("schema", "none, so that it allows votes alone")
	}
	own := slices.ContainsFunc(t.Sites, func(m sites.Member) bool { return m.Name == p.Site })
	switch {
	case t.Coordinator != caller.Name || !slices.Contains(p.Coordinators, caller.Name):
		return refuse("coordinators", "this asks for coordinator %s", caller.Name)
	case !now.Before(p.End):
		return refuse("until", "%s is the last day", p.Until)
	case t.Schema != p.Schema:
		return refuse("schema", "another schema")
	case t.Evaluation != nil && p.HeldOut == "":
		return refuse("held_out", "no evaluations")
	case !own:
		return refuse("sites", "this site must be one")
	case t.MayLeave > 0 && !p.OwnNumbers:
		return refuse("own_numbers", "not shown, which this asks for, since sites may leave")
	case t.MayLeave > p.MayLeave:
		return refuse("may_leave", "%d at most, this asks for %d", p.MayLeave, t.MayLeave)
	case len(t.Sites)-t.MayLeave < p.MinimumSites:
		return refuse("minimum_sites", "%d at least, this asks for %d", p.MinimumSites, len(t.Sites)-t.MayLeave)
	case t.Honest > p.Honest-(len(p.Sites)-len(t.Sites)): // those who are absent may be the honest ones
		return refuse("honest", "%d of %d, this counts on the noise of %d of %d", p.Honest, len(p.Sites), t.Honest, len(t.Sites))
	case t.Epsilon > most.Epsilon || t.Delta > most.Delta:
		return refuse("training", "at most %s, this asks %s", most, t.Terms().Price)
	case t.Epsilon < all.Epsilon/maxTrainings:
		return refuse("lifetime", "it pays for %d trainings, so none may ask less than epsilon %s", maxTrainings, all.Epsilon/maxTrainings)
	case len(t.Bill)+1 > p.Measurements:
		return refuse("measurements", "at most %d, this asks for %d", p.Measurements, len(t.Bill)+1)
	}
	for _, m := range t.Sites {
		if p.Sites[m.Name] != hex.EncodeToString(m.Key) {
			return refuse("sites", "none is %.80q with the key that this asks for", m.Name)
		}
	}
	return nil
}

// clause names a clause of the policy, with its figures if coordinators may know them.
func (p *Policy) clause(name, figures string, args ...any) string {
	text := p.Site + "'s policy, " + name
	if p.Figures {
		text += ": " + fmt.Sprintf(figures, args...)
	}
	return text
}

// checkSchema refuses a schema of which no site can measure rows.
func checkSchema(op string, s *schema.Schema) error {
	if s.Person != nil && s.Person.Rows > guard.MostOfPerson {
		return dp.Refuse(op, "person", fmt.Sprintf("must have rows of at most %d across sites", guard.MostOfPerson), s.Person.Rows)
	}
	return nil
}

// checkRows refuses a schema whose number of rows the policy does not let out, and a policy that lets out
// what the schema keeps private.
func (p *Policy) checkRows(s *schema.Schema) error {
	if p.PublicRows == (s.Relation == dp.ReplaceOne) {
		return nil
	}
	return dp.Refuse("site", "public_rows",
		"must be true in the policy if the schema's relation is replace-one, by which the number of rows is public, "+
			"and else false", p.PublicRows)
}

// Words are what the policy allows, in sentences.
func (p *Policy) Words(s *schema.Schema) (lines []string, err error) {
	say := func(format string, args ...any) { lines = append(lines, plaintext.Sprintf(format, args...)) }
	say("Policy number %d. A site that has served it takes no other policy with this number or a lower one.", p.Number)
	p.voteWords(say)
	if !p.trains() {
		say("Nothing else leaves site %s. What its ledger counts is about votes alone.", p.Site)
		return lines, nil
	}
	if s == nil {
		return nil, dp.Refuse("site", "schema", "must be given: the policy allows trainings", nil)
	}
	if err := errors.Join(checkSchema("site", s), p.checkRows(s)); err != nil {
		return nil, err
	}
	agreed, err := sites.SchemaDigest(s)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(p.Sites))
	say("Site %s adds up noisy sums with %s.", p.Site, strings.Join(slices.DeleteFunc(names, func(n string) bool { return n == p.Site }), ", "))
	say("Trainings by %s until %s, of at least %d sites.", strings.Join(p.Coordinators, ", "), p.Until, p.MinimumSites)
	say("One training spends at most epsilon %s and delta %s; all together %s and %s, of data set %q.", p.Training.Epsilon,
		orZero(p.Training.Delta), p.Lifetime.Epsilon, orZero(p.Lifetime.Delta), p.Data)
	if p.HeldOut != "" {
		say("An evaluation is charged to data set %q, with the same limits.", p.HeldOut)
	}
	if p.ExactEvaluation {
		say("The coordinators may see EXACT numbers about %q, for any model. With some models these show single rows.", p.HeldOut)
	}
	if p.Hours == "" {
		say("Calls are answered at any hour.")
	} else {
		say("Calls are answered from %s UTC alone.", strings.Replace(p.Hours, "-", " to ", 1))
	}
	if len(p.Programs) > 0 {
		say("This site runs the program in version %s alone. What other sites run, it cannot see.", strings.Join(p.Programs, " or "))
	}
	if p.Figures {
		say("A refusal tells the coordinator the clause of this policy, its limit, and what is spent.")
	} else {
		say("A refusal tells the coordinator the clause of this policy and no figures.")
	}
	say("Each call is logged: the time, the coordinator, the call, and why it was refused. The ledger has each price.")
	say("A training measures at most %d times, %d numbers at a time.", p.Measurements, p.Numbers)
	if p.Honest == 1 {
		say("This site adds all noise that its rows need, whatever other sites do.")
	} else {
		say("The guarantee holds while %d of the %d sites, this one among them, add their noise and keep it to themselves.",
			p.Honest, len(p.Sites))
	}
	if p.OwnNumbers {
		say("If a training says so, up to %d of the sites may leave once it has begun. The coordinator then sees THIS SITE'S OWN sums, not", p.MayLeave)
		say("the total alone. They have all noise that its rows need, whatever other sites do. The next sentence is about other trainings.")
	}
	if p.PublicRows {
		say("The coordinator sees the noisy total of the sites and, as all sites do, the number of this site's %s. It is", unitsOf(s))
		say("public, since relation is replace-one.")
	} else {
		say("The coordinator sees the noisy total of the sites and nothing else. No number of %s leaves, since relation is", unitsOf(s))
		say("add-remove; the time that an answer takes may show roughly how many there are.")
	}
	if s.Person != nil {
		say("A person's rows at this site, told apart by column %q, count for at most %d and are protected together.", s.Person.Column,
			s.Person.Rows)
	}
	one, err := p.Training.Price()
	if err != nil {
		return nil, err
	}
	two := atSites(one, 2)
	say("Who has rows at k sites is protected at k times this epsilon: at two sites one training costs them epsilon %s, delta %s.",
		two.Epsilon, two.Delta)
	say("Schema %q: %d columns, relation %s, digest %s.", s.Name, len(s.Features()), s.Relation, agreed)
	if agreed != p.Schema {
		return lines, fmt.Errorf("site: the policy must name the schema's digest %s", agreed)
	}
	return lines, nil
}

// unitsOf is what is counted.
func unitsOf(s *schema.Schema) string {
	if s.Person != nil {
		return "persons"
	}
	return "rows"
}

// atSites is what rows at k sites cost a person, each of whose sites pays one: steps from neighbour to
// neighbour of the guarantee.
func atSites(one dp.Price, k int) dp.Price {
	e, sum := one.Epsilon.Float(), 0.0
	for j := range k {
		sum += math.Exp(float64(j) * e)
	}
	delta := math.Ceil(float64(one.Delta) * sum)
	return dp.Price{Epsilon: one.Epsilon * dp.Epsilon(k), Delta: dp.Delta(min(delta, float64(dp.Femto)))}
}

func orZero(delta string) string {
	if delta == "" {
		return "0"
	}
	return delta
}

// OpenLedger declares the policy's data sets in a ledger that lacks them, with the lifetime as their
// total, and gives the institution that of the votes. It refuses existing ones that are larger. s is nil if there are
// no trainings.
func (p *Policy) OpenLedger(ctx context.Context, l *ledger.Ledger, s *schema.Schema) error {
	all, err := p.Lifetime.Price()
	if err != nil {
		return err
	}
	unit := ""
	if s != nil {
		unit = s.Unit
	}
	for _, name := range []string{p.Data, p.HeldOut} {
		if name == "" {
			continue
		}
		err = l.Declare(ctx, ledger.Dataset{Name: name, Epsilon: all.Epsilon, Delta: all.Delta, Unit: unit,
			Note: "lifetime of the policy of site " + p.Site})
		if err == nil {
			continue
		}
		if !errors.As(err, new(*ledger.Exists)) {
			return err
		}
		b, err := l.Balances(ctx, name)
		if err != nil {
			return err
		}
		if total := (dp.Price{Epsilon: b[0].Epsilon, Delta: b[0].Delta}); total.Epsilon > all.Epsilon || total.Delta > all.Delta {
			return dp.Refuse("site", "lifetime", "must be at least what the ledger gives, "+total.String(), all)
		}
	}
	if p.Votes != nil {
		return p.boundInstitution(ctx, l)
	}
	return nil
}

// Draft returns a policy's text, for its officer to read and change.
func (p *Policy) Draft() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# What this site allows. Its officer signs it.\nversion: %d\n"+
		"number: %d # raise it for each policy that you sign\nsite: %s\n", policy.Version, p.Number, p.Site)
	if p.trains() {
		fmt.Fprintf(&b, "coordinators: [%s]\n", strings.Join(p.Coordinators, ", "))
	}
	b.WriteString("sites: # and their keys, by hand or telephone, not from the coordinator\n")
	for _, name := range slices.Sorted(maps.Keys(p.Sites)) {
		fmt.Fprintf(&b, "  %s: %q\n", name, p.Sites[name])
	}
	fmt.Fprintf(&b, "honest: %d # sites, this one among them, that add noise and keep it\ndata: %s # in the ledger\n", p.Honest, p.Data)
	if p.trains() {
		fmt.Fprintf(&b, "minimum_sites: %d # of one training\nschema: %q\n", p.MinimumSites, p.Schema)
	}
	if p.HeldOut != "" {
		fmt.Fprintf(&b, "held_out: %s # for evaluations\n", p.HeldOut)
	}
	if p.ExactEvaluation {
		b.WriteString("exact_evaluation: true # NOT PRIVATE: of held_out the coordinators may see exact numbers\n")
	}
	if p.PublicRows {
		b.WriteString("public_rows: true # the coordinators and all sites see how many rows, or persons, this site has\n")
	}
	if p.OwnNumbers {
		fmt.Fprintf(&b, "own_numbers: true # the coordinators may see this site's own sums, with all noise that its rows need\n"+
			"may_leave: %d # sites at most, of a training that has begun\n", p.MayLeave)
	}
	fmt.Fprintf(&b, "training: {epsilon: %q, delta: %q} # at most\nlifetime: {epsilon: %q, delta: %q}\n", p.Training.Epsilon,
		orZero(p.Training.Delta), p.Lifetime.Epsilon, orZero(p.Lifetime.Delta))
	if p.trains() {
		fmt.Fprintf(&b, "measurements: %d # of one training\nnumbers: %d # of one measurement\n", p.Measurements, p.Numbers)
	}
	p.draftVotes(&b)
	fmt.Fprintf(&b, "until: %q\n", p.Until)
	if p.Hours == "" {
		b.WriteString("# hours: \"22:00-06:00\" # in UTC, of answers; without this line they are given at any hour\n")
	} else {
		fmt.Fprintf(&b, "hours: %q # in UTC, of answers\n", p.Hours)
	}
	if p.Figures {
		b.WriteString("figures: true # a refusal tells the coordinator the limit and what is spent, not the clause alone\n")
	}
	if len(p.Programs) == 0 {
		b.WriteString("# programs: [v1.0.0] # versions of the program that may answer; without this line all may\n")
	} else {
		fmt.Fprintf(&b, "programs: [%s]\n", strings.Join(p.Programs, ", "))
	}
	return b.String()
}

// CheckDraft refuses a draft that is not a policy.
func (p *Policy) CheckDraft() error {
	_, err := parsePolicy([]byte(p.Draft()))
	return err
}
