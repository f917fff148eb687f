// SPDX-License-Identifier: Apache-2.0

package hamm

import (
	"context"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/examples"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/sample"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

// peopleBudgets reach further: three dozen people are few.
var peopleBudgets = []dp.Epsilon{dp.Nano, 3 * dp.Nano, 10 * dp.Nano, 30 * dp.Nano, 100 * dp.Nano}

const strangers = 8 // people whose rows are auxiliary or test

// newPeople is WISDM with its users as parties.
func newPeople() *frame.Figure {
	t := &task{name: "people", title: "activity recognition, people as parties", encoding: feature.Ordinal}
	var points []frame.Point
	for _, line := range exact {
		points = append(points, frame.Point{Series: line})
	}
	for _, eps := range peopleBudgets {
		for _, line := range private {
			points = append(points, frame.Point{Series: line, Epsilon: eps})
		}
	}
	var places []place
	for _, eps := range peopleBudgets {
		places = append(places, place{eps.Float(), "ε = " + eps.String(), eps, func(line string) string { return line }})
	}
	return &frame.Figure{
		Name: "hamm/people", Paper: paper, Data: "wisdm", Repeats: 10,
		Title: "Accuracy on activity recognition with people as parties, against ε", Claim: claim + ".",
		Protocol: fmt.Sprintf("WISDM v1.1, transformed (a stand-in for UCI HAR), 43 features, ordinal encoding. The users "+
			"that the file names are the parties; in each repeat %d of them are strangers, whose rows are shuffled: half to "+
			"test, half auxiliary without labels. "+
			"A party's classifier is logistic regression, one activity against the rest; votes are labels. Far outside of "+
			"the theorem's regime: 28 parties against 220 coefficients.", strangers),
		Points: points,
		Open: func(ctx context.Context, w *frame.World) (frame.Setup, error) {
			byUser, err := readUsers(ctx, w)
			if err != nil {
				return nil, err
			}
			return func(ctx context.Context, r frame.Repeat) (frame.Measure, error) {
				order := slices.Clone(byUser)
				src := r.Stream("deal")
				rng.Shuffle(src, len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
				outside := concatTables(order[:strangers])
				every := make([]int, outside.Rows)
				for i := range every {
					every[i] = i
				}
				aux, test := sample.HoldOut(every, 0.5, src)
				tr := &trial{task: t, repeat: r, test: outside.Subset(test), aux: outside.Subset(aux), tables: order[strangers:]}
				fit := fitRidge(t.encoding)
				return tr.measureLine, tr.collectVotes(ctx, func(int) fitter { return fit })
			}, nil
		},
		Draw: func(s *frame.Summary) *plot.Lines {
			return drawPrivate(s, "WISDM's people against ε", "privacy loss ε of a whole person", places, drawn)
		},
		Judge: func(s *frame.Summary) []frame.Check { return judgeLines(s, places) },
		Notes: func(s *frame.Summary) []string { return listNotes(s, places) },
	}
}

// readUsers reads WISDM by person.
func readUsers(ctx context.Context, w *frame.World) ([]*dataset.Table, error) {
	text, err := examples.Schema("wisdm.yaml")
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	s, err := schema.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	s.Person = nil // the figure has its own way with persons
	file, err := w.File("wisdm/WISDM_ar_v1.1_transformed.arff.gz")
	if err != nil {
		return nil, err
	}
	with := *s
	with.Columns = slices.Clone(s.Columns)
	at := slices.IndexFunc(with.Columns, func(c schema.Column) bool { return c.Name == "user" })
	c := &with.Columns[at]
	c.Role, c.Kind, c.Lower, c.Upper = schema.Public, schema.Number, 0, 1000
	t, err := dataset.Read(ctx, &with, dataset.Options{}, file)
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	w.PermuteLabels(t.Labels)
	rows := make([][]int, len(t.Cols[at].Values))
	for i := range t.Rows {
		code := t.Cols[at].Codes.At(i)
		rows[code] = append(rows[code], i)
	}
	t.Schema, t.Cols[at] = s, column.Column{}
	var out []*dataset.Table
	for _, r := range rows {
		out = append(out, t.Subset(r))
	}
	return out, nil
}
