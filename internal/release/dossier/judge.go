// SPDX-License-Identifier: Apache-2.0

package dossier

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/keyfile"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/ledger/policy"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/internal/release/card"
)

// Verdict lists what was checked in a release whose files are consistent.
type Verdict struct {
	Verified  bool         `json:"verified"` // always true: an inconsistent release has no verdict
	Signer    string       `json:"signed_by"`
	Program   string       `json:"made_by"`
	Made      string       `json:"made_at"`
	Trained   string       `json:"trained_at,omitempty"`
	Learner   string       `json:"learner"`
	Predicts  string       `json:"predicts"`
	Dataset   string       `json:"data_set"`
	Epsilon   json.Number  `json:"epsilon"`
	Delta     json.Number  `json:"delta"`
	Protected string       `json:"protected"`
	Checksum  string       `json:"model_sha256"`
	Schema    string       `json:"schema_file_sha256,omitempty"` // of the schema's file as it was given to the training
	Ledger    *card.Entry  `json:"ledger,omitempty"`
	Policy    *card.Policy `json:"policy,omitempty"`
	Approved  bool         `json:"schema_is_the_one_given,omitempty"`
	Agreed    bool         `json:"policy_is_the_one_given,omitempty"`
	Rewritten bool         `json:"texts_rewritten"` // this program made the same texts and exports again
	Files     []string     `json:"files"`

	m *model.Model
}

// Judge refuses a release whose files contradict each other. It makes everything that follows from the
// model, the ledger's entries and the reports again, and compares. Texts and exports depend on the
// version of the program: if another version wrote them, only their numbers are compared. program
// describes this one.
func Judge(r *release.Release, program string) (*Verdict, error) {
	var said predicate
	if err := r.DecodePredicate(&said); err != nil {
		return nil, err
	}
	file := r.File(release.ModelName)
	if file == nil || said.Card == nil {
		return nil, notFitting("the release must have a model and a card")
	}
	m, err := model.Unmarshal(file)
	if err != nil {
		return nil, err
	}
	made, err := time.Parse(time.RFC3339, said.Made)
	if err != nil || said.Made != made.UTC().Format(time.RFC3339) {
		return nil, notFitting("the attestation must say when the release was made")
	}
	if !plaintext.Is(said.Program) {
		return nil, notFitting("the attestation must name the program in plain text on one line")
	}
	if m.Privacy.Seeded {
		return nil, notFitting("the model must not be seeded: anyone with the seed can remove the noise")
	}
	c := card.Of(m, file, said.Program, made)
	if err := addReports(c, r.File(release.AuditName), r.File(release.AttackName), r.File(release.EvaluationName)); err != nil {
		return nil, err
	}
	if entries := r.File(release.LedgerName); entries != nil {
		c.Entry = said.Card.Entry
		if err := checkEntries(entries, m, file, c); err != nil {
			return nil, err
		}
		if said.Trained != c.Entry.At {
			return nil, notFitting("the time of training must be that of the ledger's entry")
		}
	} else if said.Card.Entry != nil || said.Trained != "" {
		return nil, notFitting("the card must not name a ledger whose entries are not in the release")
	}
	if err := checkPolicy(r.File(release.PolicyName), c, said.Card, made); err != nil {
		return nil, err
	}
	v := &Verdict{Verified: true, Program: said.Program, Made: said.Made, Trained: said.Trained, Learner: c.Learner,
		Predicts: c.Predicts, Dataset: c.Dataset, Epsilon: c.Epsilon, Delta: c.Delta, Protected: c.Protected,
		Checksum: c.Checksum, Schema: c.SchemaFile, Ledger: c.Entry, Policy: c.Policy, Rewritten: sameVersion(said.Program, program), m: m}
	if r.Signer != nil {
		v.Signer = keyfile.ID(r.Signer)
	}
	for _, f := range r.Files {
		v.Files = append(v.Files, f.Name)
	}
	if err := checkFacts(c, said.Card, v.Rewritten); err != nil {
		return nil, err
	}
	return v, checkTexts(r, m, c, v.Rewritten)
}

// CompareSchema refuses a schema's file that is not the one with which the model was trained.
func (v *Verdict) CompareSchema(file []byte) error {
	switch sum := fmt.Sprintf("%x", sha256.Sum256(file)); {
	case v.Schema == "":
		return notFitting("the model must name its schema's file to compare: it names none")
	case v.Schema != sum:
		return notFitting("the schema's file must be the one that the training was given, of SHA-256 %s: this one has %s", v.Schema, sum)
	}
	v.Approved = true
	return nil
}

// checkPolicy applies the release's policy again, to what the release shows. Who approved, and that the table was
// checked, only the ledger shows, so that the card is taken by its word on these, and on no other criterion.
func checkPolicy(text []byte, c, said *card.Card, made time.Time) error {
	switch {
	case text == nil && said.Policy == nil:
		return nil
	case text == nil || said.Policy == nil || c.Entry == nil:
		return notFitting("a policy must be in the release and on its card, with the ledger's entries")
	}
	allowed, err := policy.ParseProject(text)
	if err != nil {
		return notFitting("the policy %v", err)
	}
	total, err := card.ReadPriceWords(c.Entry.Total)
	if err != nil {
		return err
	}
	c.ApplyPolicy(allowed, policy.Facts{Day: made, Data: &c.Entry.Dataset, Total: &total})
	for i, k := range c.Policy.Criteria {
		if j := said.Policy.Criteria; i < len(j) && k.Outcome == policy.NotShown && slices.Contains(shownByLedger, k.Clause) && j[i].Clause == k.Clause &&
			plaintext.Is(j[i].Found) {
			c.Policy.Criteria[i].Found, c.Policy.Criteria[i].Outcome = j[i].Found, j[i].Outcome
		}
	}
	if allowed.Refuse("verify", c.Policy.Criteria, shownLater) != nil {
		return notFitting("the model must be one that the release's policy allows")
	}
	return nil
}

// ComparePolicy refuses a policy that is not the one that the release cites.
func (v *Verdict) ComparePolicy(p *policy.Project) error {
	switch {
	case v.Policy == nil:
		return notFitting("the release must cite a policy to compare: it cites none")
	case v.Policy.Signer != keyfile.ID(p.Signer):
		return notFitting("the policy must be signed by the key that signed the one that the release cites, %s: %s signed this one",
			v.Policy.Signer, keyfile.ID(p.Signer))
	case v.Policy.Digest != p.Digest:
		return notFitting("the policy must be the one that the release cites, number %d of SHA-256 %s without its last line", v.Policy.Number, v.Policy.Digest)
	}
	v.Agreed = true
	return nil
}

// sameVersion reports whether two descriptions are of the same version of the program, on any machine.
func sameVersion(a, b string) bool {
	x, _, _ := strings.Cut(a, ",")
	y, _, _ := strings.Cut(b, ",")
	return x == y
}

// checkFacts refuses a card whose facts differ from want, which is made from the model.
func checkFacts(want, said *card.Card, words bool) error {
	a, b := *want, *said
	if !words {
		for _, c := range []*card.Card{&a, &b} {
			c.Guarantee, c.Odds, c.Neighbours, c.Protected, c.Warnings, c.Limit = "", nil, "", "", nil, ""
			if c.Policy != nil {
				p := *c.Policy
				c.Policy, p.Criteria = &p, slices.Clone(p.Criteria)
				for i := range p.Criteria {
					p.Criteria[i].Asks, p.Criteria[i].Found = "", ""
				}
			}
		}
	}
	switch {
	case a.Checksum != b.Checksum:
		return notFitting("the card must be of this model: it is of another")
	case a.Epsilon != b.Epsilon || a.Delta != b.Delta:
		return notFitting("the card must say what the model says it cost, epsilon = %s and delta = %s: it says another price",
			a.Epsilon, a.Delta)
	}
	x, err := json.Marshal(&a)
	if err != nil {
		return err
	}
	y, err := json.Marshal(&b)
	if err != nil {
		return err
	}
	if !bytes.Equal(x, y) {
		return notFitting("the facts of the card must be those of the model, the ledger's entries and the reports")
	}
	return nil
}

// checkTexts refuses texts and exports that are not of the model. If the same version of the program
// wrote them, every byte is compared, otherwise the numbers.
func checkTexts(r *release.Release, m *model.Model, c *card.Card, words bool) error {
	var formats []string
	for _, format := range release.ExportFormats() {
		if r.File(release.ExportName(format)) != nil {
			formats = append(formats, format)
		}
	}
	made, err := write(m, c, formats)
	if err != nil {
		return err
	}
	if attack := r.File(release.AttackName); attack != nil {
		sacro, err := writeSacro(c, attack)
		if err != nil {
			return err
		}
		made = append(made, release.File{Name: release.SacroName, Data: sacro})
	} else if r.File(release.SacroName) != nil {
		return notFitting("%s must have the report that it is made of", release.SacroName)
	}
	for _, f := range made {
		got := r.File(f.Name)
		switch {
		case got == nil:
			return notFitting("%s must be in the release", f.Name)
		case bytes.Equal(got, f.Data):
		case words || f.Name == release.SchemaName:
			return notFitting("%s must be the one that this program makes of the model: it is another", f.Name)
		case (f.Name == release.CardName || f.Name == release.StatementName) && !saysNumbers(string(got), c):
			return notFitting("%s must name this model and what it cost, epsilon = %s and delta = %s", f.Name, c.Epsilon,
				c.Delta)
		}
	}
	return nil
}

// firstPrice finds the price at the beginning of a card or a statement.
var firstPrice = regexp.MustCompile(`epsilon = ([0-9.]*[0-9])`)

// saysNumbers reports whether a text of another version contains the model's digest and its price.
func saysNumbers(text string, c *card.Card) bool {
	found := firstPrice.FindStringSubmatch(text)
	return strings.Contains(text, c.Checksum) && (c.Epsilon == "0" || found != nil && found[1] == string(c.Epsilon))
}
