// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/heldout"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// configured reads NAME[:OPTION=VALUE]... into a learner with those options, and
// its name in words. param is the flag that op read it from.
func configured(op, param, spec string) (l *learner, name string, err error) {
	parts := strings.Split(spec, ":")
	all := learners() // a table of its own: options belong to one contestant
	at := slices.IndexFunc(all, func(l *learner) bool { return l.name == parts[0] })
	if at < 0 {
		return nil, "", &dp.ParamError{Op: op, Param: param, Want: "must be among " + strings.Join(learnerNames(), ", "), Got: strconv.Quote(parts[0])}
	}
	l = all[at]
	name = l.name
	for _, part := range parts[1:] {
		key, text, _ := strings.Cut(part, "=")
		o := l.option(key)
		if o == nil {
			var have []string
			for _, o := range l.options {
				have = append(have, o.name)
			}
			return nil, "", &dp.ParamError{Op: l.name, Param: "option", Want: "must be one of " + strings.Join(have, ", "), Got: strconv.Quote(key)}
		}
		if err := o.value.Set(text); err != nil {
			return nil, "", &dp.ParamError{Op: l.name, Param: key, Want: err.Error(), Got: strconv.Quote(text)}
		}
		name += ", " + key + " " + text
	}
	return l, name, nil
}

// contestant is a configured learner that takes part in a comparison.
func contestant(spec string) (heldout.Learner, error) {
	l, name, err := configured("compare", "learners", spec)
	if err != nil {
		return heldout.Learner{}, err
	}
	return heldout.Learner{
		Name: name, Private: l.private,
		Plan: func(eps dp.Epsilon, s *schema.Schema, rows int) (learn.Plan, error) {
			return l.plan(price{epsilon: eps, notPrivate: !l.private}, s, rows)
		},
	}, nil
}
