// SPDX-License-Identifier: Apache-2.0

package train

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/atomicfile"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/model"
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
}

// openJob looks the training up in its ledger.
func (t *Training) openJob(ctx context.Context) (*ledger.Job, error) {
	req := t.Request
	return t.Job.openJob(ctx, jobRequest{
		config: configuration{Learner: req.Name, Epsilon: req.Price.Epsilon, Delta: req.Price.Delta, Part: t.Part,
			Cohorts: t.Cohorts, Options: req.given, Exceed: t.Exceed, Data: t.Data}, cohortBy: t.cohortBy,
		schema: t.Schema, text: t.SchemaText, output: t.Output.Path, say: t.sayLine,
	})
}

// jobRequest describes the subject of a job; open completes its configuration.
type jobRequest struct {
	config   configuration
	cohortBy string // the column of config.Cohorts
	schema   *schema.Schema
	text     []byte
	output   string
	say      func(format string, args ...any)
}

// openJob looks a job up in its ledger.
func (j *Job) openJob(ctx context.Context, r jobRequest) (*ledger.Job, error) {
	r.config.Schema = fmt.Sprintf("%x", sha256.Sum256(r.text))
	if r.config.Options == nil {
		r.config.Options = map[string]string{}
	}
	spelt, err := json.Marshal(r.config)
	if err != nil {
		return nil, err
	}
	id := j.ID
	if id == "" {
		id = rand.Text()
	}
	asked := ledger.Request{Dataset: j.Dataset, ID: id, Config: spelt, Terms: Terms(r.schema), Worker: Worker(),
		By: j.Key}
	if r.output != "" {
		if asked.Output, err = filepath.Abs(r.output); err != nil {
			return nil, err
		}
	}
	if part := r.config.Part; part != "" {
		p, err := PartsOf(r.schema)
		if err != nil {
			return nil, err
		}
		asked.Part, asked.PartsBy, asked.Definition = part, p.By, p.Definition
	}
	if asked.Cohorts = r.config.Cohorts; len(asked.Cohorts) > 0 {
		asked.PartsBy = r.cohortBy
		if asked.Definition, err = defineCohorts(r.schema, r.cohortBy); err != nil {
			return nil, err
		}
	}
	opened, err := j.Ledger.Job(ctx, asked)
	if err != nil {
		return nil, asUsage(err)
	}
	r.say("charging data set %q as job %s", j.Dataset, id)
	return opened, nil
}

// asUsage turns a refused parameter into a refused request.
func asUsage(err error) error {
	if _, ok := errors.AsType[*dp.ParamError](err); ok {
		return &RequestError{err}
	}
	return err
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

// Output is the file to which a model is written.
type Output struct {
	Path string // "" for none
	// Force allows replacing a schema, a key or a paid model.
	Force bool
}

// Check refuses to overwrite a file of value, before anything is paid.
func (o Output) Check() error { return o.check(nil) }

// check is Check where the file may hold stored, a result that is there already.
func (o Output) check(stored []byte) error {
	if o.Path == "" || o.Force {
		return nil
	}
	if err := atomicfile.CheckSpared(o.Path, stored); err != nil {
		return &RequestError{fmt.Errorf("model %w; only --force replaces it", err)}
	}
	return nil
}

// publish writes a result to its file.
func (o Output) publish(ctx context.Context, j *ledger.Job) error {
	if o.Path == "" {
		return nil
	}
	if err := cmp.Or(o.check(j.Stored()), atomicfile.Check(o.Path)); err != nil {
		return err
	}
	return j.Publish(ctx, o.Path)
}

// fitUncounted lets fit make a model that is not stored in a ledger, and writes it.
func (o Output) fitUncounted(fit func() (*model.Model, error)) (*model.Model, error) {
	if err := o.check(nil); err != nil {
		return nil, err
	}
	m, err := fit()
	if err != nil {
		return nil, err
	}
	return m, o.SaveUncounted(m)
}

// SaveUncounted writes a model that is not stored in a ledger. The file may hold that very model.
func (o Output) SaveUncounted(m *model.Model) error {
	b, err := model.Marshal(m)
	if err != nil {
		return err
	}
	if err := o.check(b); err != nil || o.Path == "" {
		return err
	}
	return m.Save(o.Path)
}

// Keep stores the model as the job's only result, and writes it to its file.
func Keep(ctx context.Context, j *ledger.Job, m *model.Model, to Output) error {
	b, err := model.Marshal(m)
	if err != nil {
		return errors.Join(err, j.Abandon(ctx, "the model could not be written"))
	}
	if err := j.Commit(ctx, b); err != nil {
		return err
	}
	return to.publish(ctx, j)
}

// Fetch returns the model that an earlier run of the same job stored, and writes it to the output file
// if there is one. It returns nil if there is no such model.
func Fetch(ctx context.Context, j *ledger.Job, to Output) (*model.Model, error) {
	if j.Stored() == nil {
		return nil, nil
	}
	m, err := model.Unmarshal(j.Stored())
	if err != nil {
		return m, err
	}
	return m, to.publish(ctx, j)
}
