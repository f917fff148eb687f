// SPDX-License-Identifier: Apache-2.0

package dossier

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/ledger/policy"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/export"
	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/internal/release/card"
)

// predicate is the attestation's information about the files.
type predicate struct {
	Program string `json:"program"` // the program that made the release
	Made    string `json:"made"`    // RFC 3339, UTC
	// Trained is the time at which the ledger stored the model, RFC 3339; "" if the release has no
	// ledger.
	Trained string     `json:"trained,omitempty"`
	Card    *card.Card `json:"card"`
}

// Params are the contents of a release in addition to the model.
type Params struct {
	Program string         // describes the program
	Now     time.Time      // when the release is made
	Ledger  *ledger.Ledger // that holds the model; nil for none
	Audit   []byte         // output of audit --json; nil for none
	Attack  []byte         // output of attack --json; nil for none
	Exports []string       // formats
	Names   bool           // the card names who approved the training
	Policy  []byte         // a project's signed policy; nil for none
	// Evaluation is the output of evaluate --epsilon --json; nil for none.
	Evaluation []byte
}

// Make makes a signed release of a model file.
func (p *Params) Make(ctx context.Context, file []byte, private ed25519.PrivateKey) ([]byte, error) {
	m, err := model.Unmarshal(file)
	if err != nil {
		return nil, err
	}
	if m.Privacy.Seeded {
		return nil, dp.Refuse("release", "model", "must not be seeded: anyone with the seed can remove its noise", nil)
	}
	c := card.Of(m, file, p.Program, p.Now)
	if err := addReports(c, p.Audit, p.Attack, p.Evaluation); err != nil {
		return nil, err
	}
	said := predicate{Program: p.Program, Made: p.Now.UTC().Format(time.RFC3339), Card: c}
	var entries []byte
	if p.Ledger != nil {
		if err := c.AddLedger(ctx, p.Ledger, p.Names); err != nil {
			return nil, err
		}
		if entries, err = readEntries(ctx, p.Ledger, c.Entry); err != nil {
			return nil, err
		}
		said.Trained = c.Entry.At
	}
	if err := p.applyPolicy(ctx, c); err != nil {
		return nil, err
	}
	files, err := write(m, c, p.Exports)
	if err != nil {
		return nil, err
	}
	files = append(files, release.File{Name: release.ModelName, Data: file})
	for _, f := range []release.File{{Name: release.LedgerName, Data: entries}, {Name: release.AuditName, Data: p.Audit},
		{Name: release.AttackName, Data: p.Attack}, {Name: release.PolicyName, Data: p.Policy},
		{Name: release.EvaluationName, Data: p.Evaluation}} {
		if f.Data != nil {
			files = append(files, f)
		}
	}
	if p.Attack != nil {
		sacro, err := writeSacro(c, p.Attack)
		if err != nil {
			return nil, err
		}
		files = append(files, release.File{Name: release.SacroName, Data: sacro})
	}
	archive, err := release.Write(files, said, private)
	if err != nil {
		return nil, err
	}
	// What is handed out passes the check that its readers make.
	r, err := release.Open(archive, []ed25519.PublicKey{private.Public().(ed25519.PublicKey)})
	if err == nil {
		_, err = Judge(r, p.Program)
	}
	return archive, err
}

// shownLater is what a policy may ask of a training without a release being able to show it.
const shownLater = "check"

// shownByLedger is what a policy may ask of a training and only a ledger can show.
var shownByLedger = []string{"check", "approve"}

// applyPolicy refuses a model that the policy does not allow to be released, and records the criteria on the card.
func (p *Params) applyPolicy(ctx context.Context, c *card.Card) error {
	if p.Policy == nil {
		return nil
	}
	allowed, err := policy.ParseProject(p.Policy)
	switch {
	case err != nil:
		return fmt.Errorf("release: policy: %w", err)
	case p.Ledger == nil:
		return dp.Refuse("release", "ledger", "must be given: the policy has a total", nil)
	}
	f := policy.Facts{Day: p.Now}
	if err := allowed.FindLedger(ctx, p.Ledger, c.Entry.Dataset, c.Entry.Job, &f); err != nil {
		return err
	}
	c.ApplyPolicy(allowed, f)
	return allowed.Refuse("release", c.Policy.Criteria, shownLater)
}

// addReports adds the result of an audit to the card or, if there is none, the result of an attack; and that of a private
// evaluation.
func addReports(c *card.Card, auditText, attackText, evaluationText []byte) error {
	if evaluationText != nil {
		if err := c.AddEvaluationText(evaluationText); err != nil {
			return dp.Refuse("release", "evaluation", strings.TrimPrefix(err.Error(), "card: the evaluation "), nil)
		}
	}
	for _, text := range [][]byte{attackText, auditText} {
		if text == nil {
			continue
		}
		if err := c.AddAuditText(text); err != nil {
			return dp.Refuse("release", "audit or attack",
				"must be a report of that kind, in JSON, whose numbers agree with each other", nil)
		}
	}
	return nil
}

// write makes the files that depend only on the model and its card.
func write(m *model.Model, c *card.Card, formats []string) ([]release.File, error) {
	files := []release.File{{Name: release.StatementName, Data: []byte(c.Statement())}}
	s, err := m.Schema.MarshalJSON()
	if err != nil {
		return nil, err
	}
	files = append(files, release.File{Name: release.SchemaName, Data: append(s, '\n')})
	add := func(name string, write func(io.Writer) error) error {
		var b bytes.Buffer
		err := write(&b)
		files = append(files, release.File{Name: name, Data: b.Bytes()})
		return err
	}
	if err := add(release.CardName, c.WriteHTML); err != nil {
		return nil, err
	}
	given := map[string]bool{}
	for _, format := range formats {
		if given[format] {
			return nil, dp.Refuse("release", "export", "must name each format once", format)
		}
		given[format] = true
		err := add(release.ExportName(format), func(w io.Writer) error { return export.Write(w, m, format) })
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// notFitting is the error for a release whose files contradict each other.
func notFitting(format string, args ...any) error {
	return fmt.Errorf("verify: "+format, args...)
}
