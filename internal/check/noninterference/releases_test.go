// SPDX-License-Identifier: Apache-2.0

package noninterference

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn/additive"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/sites"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
	"github.com/discreet-dp/discreet/internal/train/evaluation"
)

// judged keeps the models that are evaluated: by schema, and by which of two it is.
var judged sync.Map

// modelFor returns a model of a schema, which depends on no table of a search.
func modelFor(s *schema.Schema, which int) (*model.Model, error) {
	text, err := s.YAML()
	if err != nil {
		return nil, err
	}
	key := fmt.Sprint(which, string(text))
	if m, ok := judged.Load(key); ok {
		return m.(*model.Model), nil
	}
	src := rand.New(rand.NewPCG(uint64(which), 30))
	c := choices{byte(readable)}
	r := fit(mode{learner: "additive"}, s, readTable(&c, setting{classes: s.Classes()}, 60), func(_ int, p mechtest.Passage) []float64 {
		return noisy.answers(p, src)
	})
	if r.err != "" {
		return nil, fmt.Errorf("%s", r.err)
	}
	m, err := model.Unmarshal(r.file)
	judged.Store(key, m)
	return m, err
}

// evaluation returns the parameters of a mode that evaluates.
func (m mode) evaluation(s *schema.Schema) (p evaluation.Params, err error) {
	p = evaluation.Params{Epsilon: 2 * dp.Nano, Threshold: 0.4}
	if m.delta != "" {
		if p.Delta, err = dp.ParseDelta(m.delta); err != nil {
			return p, err
		}
	}
	for which := range m.judges {
		of, err := modelFor(s, which)
		if err != nil {
			return p, err
		}
		p.Models = append(p.Models, of)
	}
	return p, nil
}

// evaluate notes what an evaluation releases, and of one as people start it all but the noisy numbers.
func (r *run) evaluate(m mode, s *schema.Schema, tab *dataset.Table, exit *mech.Exit) error {
	p, err := m.evaluation(s)
	if err != nil {
		return errNoPlan
	}
	mem, err := memory.New(tab)
	if err != nil {
		return err
	}
	pl, err := p.Plan(s, guard.PublicUnits(mem))
	if err != nil {
		return errNoPlan
	}
	r.plan(pl)
	var words strings.Builder
	whole := &train.Evaluation{Params: p, Training: train.Training{Op: "evaluate", Schema: s,
		Read: func(context.Context) (*dataset.Table, error) { return tab, nil },
		Say:  func(format string, args ...any) { fmt.Fprintf(&words, format+"\n", args...) }}}
	out, err := whole.Run(context.Background())
	if out != nil {
		for k := range out.Cells {
			fmt.Fprintln(&words, len(out.Cells[k]), "cells")
		}
		out.Cells = nil
		fmt.Fprintf(&words, "%+v\n", *out)
	}
	r.facts += fmt.Sprint(words.String(), err)
	cut, err := pl.Cut(tab)
	if err != nil {
		return err
	}
	if mem, err = memory.New(cut); err != nil {
		return err
	}
	measured, err := guard.Train(context.Background(), pl, mem, guard.Uncounted{}, exit)
	if err != nil {
		return err
	}
	return r.note(measured)
}

// note writes down a release, and what people are told of it.
func (r *run) note(of *evaluation.Release) (err error) {
	if r.file, err = of.Marshal(); err != nil {
		return err
	}
	report, err := of.Report(evaluation.Choice{})
	if err != nil {
		return err
	}
	var words strings.Builder
	err = report.WriteText(&words)
	r.facts += words.String()
	return err
}

// places is the number of sites.
const places = 3

// atSites deals a table's rows to sites, all rows of a person to one.
func (t table) atSites() (out [places]table) {
	for _, r := range t {
		n, _ := strconv.Atoi(r[whose])
		out[n%places] = append(out[n%places], r)
	}
	return out
}

// fitAcross trains or evaluates on rows at sites, which answer as they do in a service. What the
// coordinator asks, and what it is refused, are noted.
func (r *run) fitAcross(m mode, s *schema.Schema, t table, exit *mech.Exit) error {
	r.sites = places
	parts := t.atSites()
	var tabs [places]*dataset.Table
	units := 0
	for i := range parts {
		if s.Relation == dp.ReplaceOne && len(parts[i]) == 0 {
			return errNoPlan // a site without rows takes no part
		}
		tab, err := read(s, parts[i])
		if err != nil {
			return err
		}
		mem, err := memory.New(tab)
		if err != nil {
			return err
		}
		tabs[i], units = tab, units+guard.PublicUnits(mem)
	}
	if m.judges == 0 {
		p := additive.Params{Epsilon: 2 * dp.Nano, Rows: max(units, 1), TakeAll: true}
		if m.delta != "" {
			var err error
			if p.Delta, err = dp.ParseDelta(m.delta); err != nil {
				return err
			}
		}
		pl, err := p.Plan(s, 0)
		if err != nil {
			return errNoPlan
		}
		most := 1
		if s.Person != nil {
			most = s.Person.Rows
		}
		fitted, err := across(r, pl, s, tabs, units, most, exit)
		if err != nil {
			return err
		}
		r.file, err = model.Marshal(fitted)
		return err
	}
	p, err := m.evaluation(s)
	if err != nil {
		return errNoPlan
	}
	pl, err := p.Plan(s, 0)
	if err != nil {
		return errNoPlan
	}
	for i, tab := range tabs {
		if tabs[i], err = pl.Cut(tab); err != nil {
			return err
		}
	}
	of, err := across(r, pl, tabs[0].Schema, tabs, units, 1, exit)
	if err != nil {
		return err
	}
	return r.note(of)
}

// across runs a plan over the tables of sites, each behind a guard of its own. A person counts for most rows.
func across[M interface{ Stated() dp.Statement }](r *run, pl guard.Plan[M], s *schema.Schema, tabs [places]*dataset.Table,
	units, most int, exit *mech.Exit) (none M, err error) {
	terms := pl.Terms()
	if guard.CheckAcross(terms) != nil {
		return none, errNoPlan
	}
	r.plan(pl)
	about := &sites.Training{Scope: terms.Scope, Epsilon: terms.Price.Epsilon, Delta: terms.Price.Delta, Bill: terms.Bill,
		Honest: places - 1, Sites: make([]sites.Member, places)}
	var answer [places]*sites.Responder
	for i, tab := range tabs {
		mem, err := memory.New(tab)
		if err != nil {
			return none, err
		}
		g, err := guard.Open(context.Background(), about.Terms(), mem, guard.Uncounted{}, exit)
		if err != nil {
			return none, err
		}
		if s.Person != nil {
			if err := g.WeighPersons(most); err != nil {
				return none, err
			}
		}
		answer[i] = &sites.Responder{Guard: g, Honest: about.Honest, Values: 1 << 20}
	}
	remote := sites.NewRemote(about, "", func(text []byte, _ guard.Answers) (sums []mech.Whole, from int, err error) {
		r.facts += string(text)
		var ask sites.Ask
		if err := sites.Decode(text, &ask); err != nil {
			return nil, 0, err
		}
		for i := range answer {
			own, err := answer[i].Contribute(context.Background(), &ask)
			if err != nil {
				return nil, 0, err
			}
			if sums, err = sites.AddUp(sums, sites.Encode(own)); err != nil {
				return nil, 0, err
			}
		}
		return sums, len(answer), nil
	})
	return guard.TrainAcross(context.Background(), pl, remote.Table(s, units), remote)
}
