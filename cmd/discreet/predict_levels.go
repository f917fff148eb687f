// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/model"
	explanations "github.com/discreet-dp/discreet/internal/model/explain"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// checkLevel refuses a level that there is nothing to say about.
func (p *predict) checkLevel(m *model.Model) error {
	bad := func(want string) error {
		return &dp.ParamError{Op: "predict", Param: "level", Want: want, Got: strconv.Quote(p.level)}
	}
	switch {
	case p.level == "":
		return nil
	case !p.explain:
		return bad("must be left out without --explain")
	case m.AdditiveLevels == nil:
		return bad("must be left out where the label has two levels: what speaks for one speaks against the other")
	case levelOf(m, p.level) < 0:
		var names []string
		for _, l := range m.Schema.Label.Levels {
			names = append(names, l.Value)
		}
		return bad("must be one of " + strings.Join(names, ", "))
	}
	return nil
}

func levelOf(m *model.Model, name string) int {
	return slices.IndexFunc(m.Schema.Label.Levels, func(l schema.Level) bool { return l.Value == name })
}

// levelContributions are columns of what each column adds for the asked level, or
// for each row's predicted one.
func (p *predict) levelContributions(m *model.Model, cols []column.Column, labels []uint8) ([]dataset.Added, error) {
	parts, err := explanations.LevelContributions(m, cols)
	if err != nil {
		return nil, err
	}
	level := func(row int) uint8 { return labels[row] }
	if p.level != "" {
		asked := uint8(levelOf(m, p.level))
		level = func(int) uint8 { return asked }
	}
	var added []dataset.Added
	for i := range parts {
		added = append(added, dataset.Added{Name: parts[i].Column + "_log_share", Number: func(row int) float64 { return parts[i].At(row, level(row)) }})
	}
	return added, nil
}
