// SPDX-License-Identifier: Apache-2.0

package question

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// message is a question between processes, in JSON. Numbers keep every bit.
type message struct {
	Version    int                 `json:"version"`
	Kind       Kind                `json:"kind"`
	Against    int                 `json:"against"`
	Space      *spaceMessage       `json:"space,omitempty"`
	Thresholds []feature.Threshold `json:"thresholds,omitempty"`
	Columns    []int               `json:"columns,omitempty"`
	Of         string              `json:"of,omitempty"` // the kind of the statistic
	Statistic  json.RawMessage     `json:"statistic,omitempty"`
	Bins       []feature.BinsSpec  `json:"bins,omitempty"`
	Classes    *scoreMessage       `json:"classes,omitempty"`
	Shape      *shapeMessage       `json:"shape,omitempty"`
	Most       float64             `json:"most,omitempty"`
	Grid       *scoreMessage       `json:"grid,omitempty"`
	Limit      *engine.SlopeLimit  `json:"limit,omitempty"`
	Grids      []gridMessage       `json:"grids,omitempty"`
	Losses     *lossMessage        `json:"losses,omitempty"`
}

type spaceMessage struct {
	Encoding feature.Encoding `json:"encoding"`
	Columns  []int            `json:"columns"`
}

type shapeMessage struct {
	Bins  feature.BinsSpec `json:"bins"`
	Steps [][]float64      `json:"steps"`
}

// scoreMessage is a score of classes, whose terms have bins and units, or of grids.
type scoreMessage struct {
	Start []int64       `json:"start"`
	Terms []termMessage `json:"terms,omitempty"`
}

type termMessage struct {
	Axes  gridMessage `json:"axes"`
	Units [][]int64   `json:"units"`
}

type gridMessage []feature.BinsSpec

// Encode writes q.
func Encode(q *Question) ([]byte, error) {
	m := message{Version: Version, Kind: q.Kind, Against: q.Against, Thresholds: q.Thresholds, Columns: q.Columns,
		Most: q.Most}
	if q.Statistic != nil {
		text, err := json.Marshal(q.Statistic.Message())
		if err != nil {
			return nil, err
		}
		m.Of, m.Statistic = q.Statistic.Kind(), text
	}
	if q.Space != nil {
		m.Space = &spaceMessage{q.Space.Encoding, q.Space.Columns}
	}
	for k := range q.Bins {
		m.Bins = append(m.Bins, q.Bins[k].Spec())
	}
	if q.Classes != nil {
		m.Classes = &scoreMessage{Start: q.Classes.Start}
		for k := range q.Classes.Terms {
			t := &q.Classes.Terms[k]
			m.Classes.Terms = append(m.Classes.Terms, termMessage{gridMessage{t.Bins.Spec()}, t.Units})
		}
	}
	if q.Shape != nil {
		m.Shape = &shapeMessage{q.Shape.Bins.Spec(), q.Shape.Steps}
	}
	if q.Grid != nil {
		m.Grid = &scoreMessage{Start: q.Grid.Start}
		for k := range q.Grid.Terms {
			t := &q.Grid.Terms[k]
			m.Grid.Terms = append(m.Grid.Terms, termMessage{axesOf(&t.Grid), [][]int64{t.Units}})
		}
		m.Limit = &q.Limit
	}
	for g := range q.Grids {
		m.Grids = append(m.Grids, axesOf(&q.Grids[g]))
	}
	if q.Losses != nil {
		m.Losses = encodeLosses(q)
	}
	return json.Marshal(m)
}

func axesOf(g *feature.Grid) (axes gridMessage) {
	for k := range g.Axes {
		axes = append(axes, g.Axes[k].Spec())
	}
	return axes
}

// Decode reads a question about a table of schema s. What no table of s can answer is refused.
func Decode(s *schema.Schema, text []byte) (*Question, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	var m message
	if err := d.Decode(&m); err != nil {
		return nil, fmt.Errorf("question: malformed question: %w", err)
	}
	if m.Version != Version {
		return nil, fmt.Errorf("question: question of version %d, this is version %d", m.Version, Version)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("question: a question must end after its message")
	}
	if m.Against < engine.WholeLabel || m.Against >= s.Classes() {
		return nil, fmt.Errorf("question: there is no class %d among %d", m.Against, s.Classes())
	}
	q := &Question{Kind: m.Kind, Against: m.Against, Thresholds: m.Thresholds, Columns: m.Columns, Most: m.Most}
	steps := []func(*Question, *schema.Schema) error{m.readSpace, m.readBins, m.readClasses, m.readGrids,
		m.readLosses}
	for _, read := range steps {
		if err := read(q, s); err != nil {
			return nil, err
		}
	}
	return q, q.checkParts()
}

// checkParts refuses a question that lacks what its kind needs.
func (q *Question) checkParts() error {
	ok := false
	switch q.Kind {
	case Mistakes:
		ok = q.Space != nil && len(q.Thresholds) > 0
	case Groups:
		ok = true
	case Sum:
		ok = q.Statistic != nil
	case ClassSlope:
		ok = q.Classes != nil && q.Shape != nil && q.Most > 0
	case ClassResiduals:
		ok = q.Classes != nil && len(q.Bins) == 1 && q.Bins[0].OfColumn()
	case GridSlopes:
		ok = q.Grid != nil && len(q.Grids) > 0 && q.Limit.Most > 0 && q.Limit.Most <= 1
	case Losses:
		ok = q.Losses != nil
	case Right:
		ok = q.Losses != nil && q.Cuts.Count > 0
	}
	if !ok {
		return fmt.Errorf("question: a question of kind %q must have its parts", q.Kind)
	}
	return nil
}

func (m *message) readSpace(q *Question, s *schema.Schema) (err error) {
	columns := m.Columns
	if m.Space != nil {
		columns = append(columns[:len(columns):len(columns)], m.Space.Columns...)
	}
	for _, j := range columns {
		if j < 0 || j >= len(s.Columns) || s.Columns[j].Role == schema.Ignored {
			return fmt.Errorf("question: column %d must be among the %d of the schema, and read", j, len(s.Columns))
		}
	}
	if m.Space == nil {
		return nil
	}
	if q.Space, err = feature.NewSpace(s, m.Space.Encoding, m.Space.Columns); err != nil {
		return err
	}
	for _, h := range m.Thresholds {
		ok := len(h.Coef) == q.Space.Width() && h.Bias >= -1 && h.Bias <= 1
		for _, c := range h.Coef {
			ok = ok && c >= -1 && c <= 1
		}
		if !ok {
			return fmt.Errorf("question: a classifier must have %d coefficients in [-1, 1]", q.Space.Width())
		}
	}
	return nil
}

func (m *message) readBins(q *Question, s *schema.Schema) (err error) {
	if m.Of != "" {
		if q.Statistic, err = statistic.Decode(s, m.Of, m.Statistic); err != nil {
			return err
		}
	}
	for k := range m.Bins {
		b, err := m.Bins[k].Bins(s)
		if err != nil {
			return err
		}
		q.Bins = append(q.Bins, b)
	}
	return nil
}

func (m *message) readClasses(q *Question, s *schema.Schema) error {
	if m.Shape != nil {
		b, err := m.Shape.Bins.Bins(s)
		if err != nil {
			return err
		}
		ok := b.OfColumn() && len(m.Shape.Steps) == s.Classes()
		for _, steps := range m.Shape.Steps {
			ok = ok && len(steps) == b.Len()
		}
		if !ok {
			return fmt.Errorf("question: a shape must be of one column and have a step for each class and bin")
		}
		q.Shape = &feature.LevelShape{Bins: b, Steps: m.Shape.Steps}
	}
	if m.Classes == nil {
		return nil
	}
	q.Classes = &engine.ClassScore{Start: m.Classes.Start}
	ok := len(m.Classes.Start) == s.Classes()
	for k := range m.Classes.Terms {
		t := &m.Classes.Terms[k]
		ok = ok && len(t.Axes) == 1 && len(t.Units) == s.Classes()
		if !ok {
			break
		}
		b, err := t.Axes[0].Bins(s)
		if err != nil {
			return err
		}
		for _, units := range t.Units {
			ok = ok && len(units) == b.Len()
		}
		ok = ok && b.OfColumn()
		q.Classes.Terms = append(q.Classes.Terms, engine.ClassTerm{Bins: b, Units: t.Units})
	}
	if !ok {
		return fmt.Errorf("question: a score must have a step for each class and bin")
	}
	return nil
}

func (m *message) readGrids(q *Question, s *schema.Schema) error {
	for _, axes := range m.Grids {
		g, err := axes.grid(s)
		if err != nil {
			return err
		}
		q.Grids = append(q.Grids, g)
	}
	if m.Limit != nil {
		q.Limit = *m.Limit
	}
	if m.Grid == nil {
		return nil
	}
	scores := s.Classes()
	if scores == 2 {
		scores = 1
	}
	q.Grid = &engine.GridScore{Start: m.Grid.Start}
	ok := len(m.Grid.Start) == scores
	for _, t := range m.Grid.Terms {
		g, err := t.Axes.grid(s)
		if err != nil {
			return err
		}
		if ok = ok && len(t.Units) == 1 && len(t.Units[0]) == scores*g.Cells(); !ok {
			break
		}
		q.Grid.Terms = append(q.Grid.Terms, engine.GridTerm{Grid: g, Units: t.Units[0]})
	}
	if !ok {
		return fmt.Errorf("question: a score of grids must have %d steps for each cell", scores)
	}
	return nil
}

// grid is a grid of columns of s.
func (axes gridMessage) grid(s *schema.Schema) (g feature.Grid, err error) {
	cells, ok := 1, len(axes) > 0
	for k := range axes {
		b, err := axes[k].Bins(s)
		if err != nil {
			return g, err
		}
		if ok = ok && b.OfColumn() && cells <= feature.MaxCells/b.Len(); !ok {
			break
		}
		cells *= b.Len()
		g.Axes = append(g.Axes, b)
	}
	if !ok {
		return g, fmt.Errorf("question: a grid must have axes of columns, and at most %d cells", feature.MaxCells)
	}
	return g, nil
}
