// SPDX-License-Identifier: Apache-2.0

package learners

import (
	"errors"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
	"github.com/discreet-dp/discreet/lab/internal/learn/pate"
)

func pateLearner() *train.Learner {
	p := pate.Defaults()
	return &train.Learner{
		Name:    "pate",
		Private: true,
		Draws:   true, Approximate: true,
		Options: []train.Option{
			{Name: "form", Usage: "form of PATE: repaired, or printed to reproduce figures (not private)", Value: train.Word(&p.Form)},
			{Name: "noise", Usage: "noise on the votes: laplace, or gaussian with --delta", Value: train.Word(&p.Noise)},
			{Name: "teachers", Usage: "number of parts of the rows, 0 for one part per row", Value: train.Int(&p.Teachers)},
			{Name: "encoding", Usage: "encoding of categories: onehot or ordinal", Value: train.Word(&p.Encoding)},
			{Name: "vote-epsilon", Usage: "cost of a vote in the printed form", Value: loss{&p.VoteEpsilon}},
		},
		Make: func(pr train.Price, s *schema.Schema, rows int) (learn.Plan, error) {
			p.Epsilon, p.Delta, p.NotPrivate = pr.Epsilon, pr.Delta, pr.NotPrivate
			return train.AsPlan(p.Plan(s, rows))
		},
	}
}

// loss is a privacy loss that no account is charged for.
type loss struct{ p *dp.Epsilon }

func (v loss) String() string { return v.p.String() }
func (v loss) Type() string   { return "number" }

func (v loss) Set(s string) error {
	e, err := dp.ParseEpsilon(s)
	if err != nil {
		return errors.New("must be a decimal number > 0")
	}
	*v.p = e
	return nil
}
