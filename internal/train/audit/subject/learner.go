// SPDX-License-Identifier: Apache-2.0

package subject

import (
	"context"
	"maps"
	"slices"

	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/brc"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
	"github.com/discreet-dp/discreet/internal/train/audit"
)

// Learner makes the subject that trains a choice on tables of a schema. rows is 0 for 1000 (brc) or
// 100. A learner without privacy is also audited against the claim; see Private.
func Learner(ctx context.Context, c train.Choice, s *schema.Schema, rows int,
	src rng.Source) (sub audit.Subject, err error) {
	if c.Learner == "brc" { // few rounds and a large loss a round show most
		c.Options = maps.Clone(c.Options)
		for option, text := range map[string]string{"rounds": "2", "c1": "2", "c2": "2"} {
			if _, given := c.Options[option]; !given {
				c.Options[option] = text
			}
		}
	}
	if !Private(c.Learner) {
		c.Price = train.PriceText{NotPrivate: true}
	}
	req, err := c.Request("audit")
	if err != nil {
		return sub, err
	}
	if rows == 0 {
		rows = 100
		if req.Name == "brc" && s.Person == nil {
			rows = 1000
		}
	}
	pl, err := req.Plan(s, rows)
	if err != nil {
		return sub, err
	}
	for {
		wrapped, is := pl.(interface{ Unwrap() learn.Plan })
		if !is {
			break
		}
		pl = wrapped.Unwrap()
	}
	if b, ok := pl.(*brc.Plan); ok && s.Person == nil {
		return audit.BRC(ctx, b, s, rows, src)
	}
	return audit.Learner(ctx, req.Name, pl, s, rows, src)
}

// Private reports whether the named learner adds noise.
func Private(learner string) bool {
	return !slices.ContainsFunc(train.Learners(), func(l *train.Learner) bool { return l.Name == learner && !l.Private })
}
