// SPDX-License-Identifier: Apache-2.0

package train

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Job names the budget to which a training is charged.
type Job struct {
	Ledger  *ledger.Ledger
	Dataset string
	ID      string // the same ID means the same training; "" for a random one
	// Key is the key of the analyst whose allotment is charged, nil if the data set has no owner.
	Key ed25519.PrivateKey
	// Purpose, if it is not empty, files the training as a request, for another key to approve, instead
	// of running it.
	Purpose string
}

// configuration identifies a training: every public choice, as it was typed. Its spelling is part of a
// job's identity in existing ledgers.
type configuration struct {
	Learner string            `json:"learner"`
	Epsilon dp.Epsilon        `json:"epsilon_nano"`
	Delta   dp.Delta          `json:"delta_femto,omitempty"`
	Part    string            `json:"part,omitempty"`
	Cohorts []string          `json:"cohorts,omitempty"`
	Options map[string]string `json:"options"`
	Exceed  bool              `json:"exceed_max_epsilon"`
	Schema  string            `json:"schema_sha256"`
	Data    []string          `json:"data"`
	Policy  string            `json:"policy_sha256,omitempty"`
}

// openJob looks the training up in its ledger.
func (t *Training) openJob(ctx context.Context) (*ledger.Job, error) {
	if err := t.findCohorts(ctx); err != nil {
		return nil, err
	}
	if err := t.askPolicy(ctx); err != nil {
		return nil, err
	}
	asked, err := t.describeJob()
	if err != nil {
		return nil, err
	}
	j, err := t.Job.Ledger.Job(ctx, asked)
	return j, asUsage(err)
}

// findCohorts finds the column that defines the data set's cohorts in the ledger, and refuses cohorts
// that the schema does not have in that column.
func (t *Training) findCohorts(ctx context.Context) error {
	if len(t.Cohorts) == 0 {
		return nil
	}
	b, err := t.Job.Ledger.Balances(ctx, t.Job.Dataset)
	if err != nil {
		return err
	}
	if t.cohortBy = b[0].CohortBy; t.cohortBy == "" {
		return &RequestError{&dp.ParamError{Op: t.Op, Param: "cohorts", Want: fmt.Sprintf("must not be given: data set %q was "+
			"declared without cohorts", t.Job.Dataset), Got: quoteNames(t.Cohorts)}}
	}
	return CheckCohorts(t.Op, t.Cohorts, t.cohortBy, t.Schema)
}

// describeJob describes the training to its ledger.
func (t *Training) describeJob() (ledger.Request, error) {
	config := configuration{Learner: t.Request.Name, Epsilon: t.Request.Price.Epsilon, Delta: t.Request.Price.Delta,
		Part: t.Part, Cohorts: t.Cohorts, Options: t.Request.given, Exceed: t.Exceed,
		Schema: fmt.Sprintf("%x", sha256.Sum256(t.SchemaText)), Data: t.Data}
	if t.Policy != nil {
		config.Policy = t.Policy.Digest
	}
	if config.Options == nil {
		config.Options = map[string]string{}
	}
	spelt, err := json.Marshal(config)
	if err != nil {
		return ledger.Request{}, err
	}
	asked := ledger.Request{Dataset: t.Job.Dataset, ID: cmp.Or(t.Job.ID, rand.Text()), Config: spelt, Terms: Terms(t.Schema),
		Worker: Worker(), By: t.Job.Key, Part: t.Part, Cohorts: t.Cohorts}
	switch {
	case t.Part != "":
		p, err := PartsOf(t.Schema)
		if err != nil {
			return asked, err
		}
		asked.PartsBy, asked.Definition = p.By, p.Definition
	case len(t.Cohorts) > 0:
		asked.PartsBy = t.cohortBy
		if asked.Definition, err = defineCohorts(t.Schema, t.cohortBy); err != nil {
			return asked, err
		}
	}
	if t.Output.Path != "" {
		asked.Output, err = filepath.Abs(t.Output.Path)
	}
	return asked, err
}

// Terms are what the prices of a data set refer to. Derived columns are protected together with their
// sources, and are not listed.
func Terms(s *schema.Schema) ledger.Terms {
	m := ledger.Terms{Unit: s.Unit, Relation: s.Relation}
	if s.Person != nil {
		m.Person = s.Person.Column
	}
	for _, c := range s.FileColumns() {
		if c.Role == schema.Private {
			m.Protected = append(m.Protected, c.Name)
		}
	}
	if s.Label.Role == schema.Private {
		m.Protected = append(m.Protected, s.Label.Name)
	}
	slices.Sort(m.Protected)
	return m
}
