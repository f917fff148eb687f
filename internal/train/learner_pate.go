// SPDX-License-Identifier: Apache-2.0

package train

import (
	"errors"

	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/pate"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func pateLearner() *Learner {
	p := pate.Defaults()
	return &Learner{
		Name:    "pate",
		Private: true,
		draws:   true, Approximate: true,
		Options: []Option{
			{"form", "form of PATE: repaired, or printed to reproduce figures (not private)", word[pate.Form]{&p.Form}},
			{"noise", "noise on the votes: laplace, or gaussian with --delta", word[pate.Noise]{&p.Noise}},
			{"teachers", "number of parts of the rows, 0 for one part per row", integer{&p.Teachers}},
			{"encoding", "encoding of categories: onehot or ordinal", word[feature.Encoding]{&p.Encoding}},
			{"vote-epsilon", "cost of a vote in the printed form", loss{&p.VoteEpsilon}},
		},
		plan: func(pr Price, s *schema.Schema, rows int) (learn.Plan, error) {
			p.Epsilon, p.Delta, p.NotPrivate = pr.Epsilon, pr.Delta, pr.NotPrivate
			return asPlan(p.Plan(s, rows))
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
