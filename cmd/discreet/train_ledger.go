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

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/ledger"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// checkCounting refuses flags that contradict each other or the request.
func (t *train) checkCounting(c *cobra.Command, req *request) error {
	if err := t.together(c, "dataset", "job"); err != nil {
		return err
	}
	switch {
	case t.ledger.address == "":
	case req.price.notPrivate:
		return &cli.BudgetError{Err: errors.New("train: training without privacy exceeds every budget; leave out --ledger to train without one")}
	case req.price.epsilon == 0:
		return &cli.UsageError{Err: &dp.ParamError{Op: c.Name(), Param: "ledger", Want: fmt.Sprintf("must be left out: learner %s has no price", req.name), Got: t.ledger.address}}
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
	id := t.job
	if id == "" {
		id = rand.Text()
	}
	asked := ledger.Request{Dataset: t.dataset, ID: id, Config: spelt, Terms: terms(s), Output: output, Worker: worker()}
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
	t.Say("charging data set %q as job %s", t.dataset, id)
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

// again publishes what an earlier run of the same job stored.
func (t *train) again(ctx context.Context, j *ledger.Job) (*model.Model, error) {
	m, err := model.Unmarshal(j.Stored())
	if err != nil {
		return nil, err
	}
	t.Say("this job has a result already: nothing is read, drawn or charged")
	return m, j.Publish(ctx, t.model)
}
