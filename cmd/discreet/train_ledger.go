// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/model"
	"github.com/discreet-dp/discreet/schema"
)

// counting is the flags of train that name the budget to charge.
type counting struct {
	ledger       ledgerFlag
	dataset, job string
}

func (f *counting) add(c *cobra.Command) {
	f.ledger.add(c)
	c.Flags().StringVar(&f.dataset, "dataset", "", "the `name` of the data set in the ledger")
	c.Flags().StringVar(&f.job, "job", "", "the training's own `ID` in the ledger: with the same ID the same model is returned, never drawn again (default a random one)")
}

// check refuses flags that contradict each other or the request.
func (f *counting) check(c *cobra.Command, req *request) error {
	bad := func(param, want string, got any) error {
		return &usageError{&dp.ParamError{Op: c.Name(), Param: param, Want: want, Got: got}}
	}
	for _, name := range []string{"dataset", "job"} {
		if f.ledger.address == "" && c.Flags().Changed(name) {
			return bad("ledger", "must be given together with --"+name, nil)
		}
	}
	switch {
	case f.ledger.address == "":
	case f.dataset == "":
		return bad("dataset", "must be given together with --ledger", nil)
	case req.price.notPrivate:
		return &budgetError{errors.New("train: training without privacy exceeds every budget; leave out --ledger to train without one")}
	case req.price.epsilon == 0:
		return bad("ledger", fmt.Sprintf("must be left out: learner %s has no price", req.name), f.ledger.address)
	}
	return nil
}

// configuration is what makes two trainings the same: every public choice, as
// it was typed.
type configuration struct {
	Learner string            `json:"learner"`
	Epsilon dp.Epsilon        `json:"epsilon_nano"`
	Delta   dp.Delta          `json:"delta_femto,omitempty"`
	Part    string            `json:"part,omitempty"`
	Options map[string]string `json:"options"`
	Exceed  bool              `json:"exceed_max_epsilon"`
	Schema  string            `json:"schema_sha256"`
	Data    []string          `json:"data"`
}

// open looks the training up in l.
func (t *train) open(ctx context.Context, l *ledger.Ledger, req *request, s *schema.Schema) (*ledger.Job, error) {
	text, err := os.ReadFile(t.schema)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	config := configuration{Learner: req.name, Epsilon: req.price.epsilon, Delta: req.price.delta, Part: t.part, Options: map[string]string{}, Exceed: t.exceed, Schema: hex.EncodeToString(sum[:]), Data: t.data}
	for name, r := range t.choice.given {
		if r.set {
			config.Options[name] = r.text
		}
	}
	spelt, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	output, err := filepath.Abs(t.model)
	if err != nil {
		return nil, err
	}
	id := t.counting.job
	if id == "" {
		id = rand.Text()
	}
	asked := ledger.Request{Dataset: t.counting.dataset, ID: id, Config: spelt, Terms: terms(s), Output: output, Worker: worker()}
	if t.part != "" {
		p, err := partsOf(s)
		if err != nil {
			return nil, err
		}
		asked.Part, asked.PartsBy, asked.Definition = t.part, p.By, p.Definition
	}
	j, err := l.Job(ctx, asked)
	if err != nil {
		return nil, refused(err)
	}
	t.say("charging data set %q as job %s", t.counting.dataset, id)
	return j, nil
}

// terms are what the prices of a data set are about. What is derived from cells
// is protected with them, and is no more to protect.
func terms(s *schema.Schema) ledger.Terms {
	m := ledger.Terms{Unit: s.Unit, Relation: s.Relation}
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

// keep makes the model the job's one result and gives it its file.
func (t *train) keep(j *ledger.Job, m *model.Model) error {
	b, err := model.Marshal(m)
	if err != nil {
		return errors.Join(err, j.Abandon("the model could not be written"))
	}
	if err := j.Commit(b); err != nil {
		return err
	}
	return j.Publish(t.model)
}

// again publishes what an earlier run of the same job stored.
func (t *train) again(j *ledger.Job) (*model.Model, error) {
	m, err := model.Unmarshal(j.Stored())
	if err != nil {
		return nil, err
	}
	t.say("this job has a result already: nothing is read, drawn or charged")
	return m, j.Publish(t.model)
}
