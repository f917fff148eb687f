// SPDX-License-Identifier: Apache-2.0

package sites

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/question"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Remote is the coordinator's end of measurements: a guard.Remote.
type Remote struct {
	training Digest
	honest   int
	send     Send
	last     json.RawMessage
	number   int
}

// Send sends an ask to sites. It returns the sum of their answers, and how many answered.
type Send func(ask []byte, like guard.Answers) (sums []mech.Whole, from int, err error)

// NewRemote returns a Remote that uses send to ask sites.
func NewRemote(t *Training, training Digest, send Send) *Remote {
	return &Remote{training: training, honest: t.Honest, send: send}
}

// Table returns the table that a learner queries. Its answers are zeros, which are not used; units is
// the number of rows or persons of all sites if that is public, otherwise 0.
func (r *Remote) Table(s *schema.Schema, units int) *question.Table {
	t := question.NewTable(s, units, r)
	if s.Person == nil {
		return t
	}
	p := &persons{units: units}
	p.table = t.WithPersons(p)
	return p.table
}

// persons are those of the sites. Each site weighs its own rows behind its guard, by the schema.
// Nothing else can be asked about them: learners that draw rows are refused.
type persons struct {
	engine.Persons
	units int
	table *question.Table
}

// Count implements engine.Persons.
func (p *persons) Count() int { return p.units }

// Weigh implements engine.Persons.
func (p *persons) Weigh(int) engine.Table { return p.table }

// Ask stores the question. It implements question.Asker.
func (r *Remote) Ask(_ context.Context, q *question.Question) (*question.Sums, error) {
	text, err := question.Encode(q)
	r.last = text
	return nil, err
}

// Asked returns the last question.
func (r *Remote) Asked() any { return r.last }

// Honest returns the number of sites whose noise is sufficient.
func (r *Remote) Honest() int { return r.honest }

// Add sends a measurement to the sites.
func (r *Remote) Add(label string, share guard.Share, forms []guard.Form, like guard.Answers) ([]mech.Whole, int, error) {
	r.number++
	a := Ask{Training: r.training, Number: r.number, Label: label, Epsilon: share.Epsilon, Rho: share.Rho}
	known := map[string]int{}
	for _, f := range forms {
		q, ok := f.Asked.(json.RawMessage)
		if !ok {
			return nil, 0, fmt.Errorf("sites: %s must follow from questions", label)
		}
		at, seen := known[string(q)]
		if !seen {
			at = len(a.Questions)
			known[string(q)], a.Questions = at, append(a.Questions, q)
		}
		a.Forms = append(a.Forms, AskedForm{at, f.View, f.Part, f.Runs})
	}
	text, err := json.Marshal(a)
	if err != nil {
		return nil, 0, err
	}
	return r.send(text, like)
}
