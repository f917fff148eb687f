// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/explain"
	"github.com/discreet-dp/discreet/internal/model/export"
	"github.com/discreet-dp/discreet/internal/release/card"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/read/rows"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train/evaluation"
	"github.com/discreet-dp/discreet/internal/train/heldout"
)

func splitLines(text string) []string { return strings.Split(strings.TrimRight(text, "\n"), "\n") }

// asMap converts a value to a JSON object, so that fields can be added.
func asMap(v any) (out map[string]any, err error) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	return out, err
}

// placeGroups adds to each group of a calibration the score at which to draw it, and removes empty
// groups.
func placeGroups(report map[string]any) {
	groups, _ := report["calibration"].([]any)
	var drawn []any
	for _, g := range groups {
		group := g.(map[string]any)
		if rows, counted := group["rows"].(float64); counted && rows == 0 || group["share"] == nil {
			continue
		}
		if mean, ok := group["mean_score"]; ok {
			group["score"] = mean
		} else if from, ok := group["from"].(float64); ok {
			group["score"] = (from + group["to"].(float64)) / 2
		}
		drawn = append(drawn, group)
	}
	if groups != nil {
		report["calibration"] = drawn
	}
}

type modelArgs struct {
	Model string `json:"model"`
}

// Explained lists the terms that a model adds up, for drawing.
type Explained struct {
	Name       string    `json:"name"`
	Banner     string    `json:"banner,omitempty"` // a warning for readers
	NotPrivate bool      `json:"notPrivate"`
	Label      string    `json:"label"`
	Positive   string    `json:"positive,omitempty"`
	Intercept  float64   `json:"intercept"`
	Features   []Feature `json:"features"`
	Inputs     []Input   `json:"inputs"`
	Statement  []string  `json:"statement"`
}

// Feature is the contribution of a column, the most important first. With more than two classes, each
// class has its own.
type Feature struct {
	Name       string  `json:"name"`
	Public     bool    `json:"public"`
	Importance float64 `json:"importance"`
	Noise      float64 `json:"noise"`   // explain.Shape.Noise
	Noise95    float64 `json:"noise95"` // explain.Shape.Noise95
	Kind       string  `json:"kind"`
	Steps      []Step  `json:"steps"`
}

// Step is the contribution of a column in one bin, with a 95 % interval by the standard deviation that
// the model states.
type Step struct {
	From  *float64 `json:"from,omitempty"`
	To    *float64 `json:"to,omitempty"`
	Label string   `json:"label,omitempty"`
	Value float64  `json:"value"`
	Low   float64  `json:"low"`
	High  float64  `json:"high"`
}

// Input is a column of the rows to score.
type Input struct {
	Name   string   `json:"name"`
	Kind   string   `json:"kind"`
	Lower  float64  `json:"lower"`
	Upper  float64  `json:"upper"`
	Levels []string `json:"levels,omitempty"`
	Start  string   `json:"start"` // the cell of an invented row, before somebody changes it
}

// startOf returns a cell for the beginning: the schema's default, or without one the middle, or the first level.
func startOf(c *schema.Column) string {
	if len(c.Levels) > 0 {
		return c.Levels[0].Value
	}
	x := (c.Lower + c.Upper) / 2
	if c.Default != nil {
		x = *c.Default
	}
	switch {
	case c.Date != "":
		return schema.FormatDate(c.Date, c.Since+int(x))
	case c.Integer:
		x = math.Round(x)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// deviations is the half-width of a two-sided 95 % interval of a normal variable, in standard
// deviations.
const deviations = 1.959964

func newStep(from, to *float64, label string, value, deviation float64) Step {
	return Step{from, to, label, value, value - deviations*deviation, value + deviations*deviation}
}

func explainModel(a modelArgs) (*Explained, error) {
	m, err := model.Unmarshal([]byte(a.Model))
	if err != nil {
		return nil, err
	}
	out := &Explained{Name: m.Schema.Name, Label: m.Schema.Label.Name, NotPrivate: m.Privacy.Scope == dp.Nothing, Banner: strings.Join(m.Privacy.Flags(), ". "),
		Features: []Feature{}, Statement: splitLines(m.Privacy.Card())}
	if out.Inputs, err = inputsOf(m); err != nil {
		return nil, err
	}
	x, err := explain.Of(m)
	if err != nil {
		return nil, err
	}
	out.Positive, out.Intercept = x.Positive, x.Intercept
	for _, sh := range x.Shapes {
		f := Feature{Name: sh.Column, Public: !sh.Protected, Importance: sh.Importance, Noise: sh.Noise,
			Noise95: sh.Noise95, Kind: string(sh.Kind)}
		for _, b := range sh.Bins {
			f.Steps = append(f.Steps, newStep(b.From, b.To, b.Level, b.LogOdds, b.Deviation))
		}
		out.Features = append(out.Features, f)
	}
	for _, p := range x.Pairs {
		f := Feature{Name: p.Columns[0] + " × " + p.Columns[1], Public: !p.Protected, Importance: p.Importance, Kind: "pair"}
		for i, row := range p.Cells {
			for j, c := range row {
				f.Steps = append(f.Steps, newStep(nil, nil, p.Bins[0][i].String()+" × "+p.Bins[1][j].String(), c.LogOdds, c.Deviation))
			}
		}
		out.Features = append(out.Features, f)
	}
	for _, sh := range x.ClassShapes {
		for k, class := range x.Starts {
			f := Feature{Name: sh.Column + ": " + class.Class, Public: !sh.Protected, Importance: sh.Importance, Kind: string(sh.Kind)}
			for _, b := range sh.Bins {
				deviation := 0.0
				if len(b.Deviations) > 0 {
					deviation = b.Deviations[k]
				}
				f.Steps = append(f.Steps, newStep(b.From, b.To, b.Level, b.LogShares[k], deviation))
			}
			out.Features = append(out.Features, f)
		}
	}
	add := func(class string, coefficients []explain.Coefficient) {
		for _, c := range coefficients {
			out.Features = append(out.Features, Feature{Name: strings.TrimPrefix(class+": "+c.Feature, ": "), Importance: math.Abs(c.LogOdds),
				Kind: "coefficient", Steps: []Step{newStep(nil, nil, "at 1", c.LogOdds, 0)}})
		}
	}
	add("", x.Coefficients)
	for _, c := range x.Classes {
		add(c.Class, c.Coefficients)
	}
	for _, u := range x.Uses {
		out.Features = append(out.Features, Feature{Name: u.Column, Public: !u.Protected, Importance: u.Importance, Kind: "tables", Steps: []Step{}})
	}
	return out, nil
}

// inputsOf returns the columns of a file that a model reads.
func inputsOf(m *model.Model) ([]Input, error) {
	coder, err := coding.NewRowCoder(m.Schema)
	if err != nil {
		return nil, err
	}
	in := []Input{}
	for _, name := range coder.Names() {
		c := &m.Schema.Columns[m.Schema.Find(name)]
		in = append(in, Input{Name: name, Kind: string(c.Kind), Lower: c.Lower, Upper: c.Upper, Levels: schema.Values(c.Levels), Start: startOf(c)})
	}
	return in, nil
}

// scoreRow scores an invented row. A column that is not given is missing.
func scoreRow(a struct {
	modelArgs
	Row map[string]any `json:"row"`
}) (any, error) {
	m, err := model.Unmarshal([]byte(a.Model))
	if err != nil {
		return nil, err
	}
	coder, err := coding.NewRowCoder(m.Schema)
	if err != nil {
		return nil, err
	}
	scorer, err := m.RowPredictor()
	if err != nil {
		return nil, err
	}
	names := coder.Names()
	row, fates := make([]column.Cell, len(m.Schema.Columns)), make([]coding.Counts, len(names))
	for i, name := range names {
		cell, _ := rows.CellOf(a.Row[name])
		fate, err := coder.Code(i, cell, row)
		if err != nil {
			return nil, err
		}
		fates[i][fate]++
	}
	coder.Derive(row)
	scores := make([]float64, scorer.Width())
	if err := scorer.Scores(row, scores); err != nil {
		return nil, err
	}
	class := m.Label(scores)
	remarks := map[string]string{} // by column, on cells that are not as declared
	for _, u := range coder.CountUndeclared(fates) {
		remarks[u.Column] = u.Remark(m.Schema)
	}
	out := map[string]any{"class": m.Schema.Label.Levels[class].Value, "remarks": remarks}
	if len(scores) == 1 {
		out["probability"] = scores[0]
	} else {
		all := map[string]float64{}
		for k, l := range m.Schema.Label.Levels {
			all[l.Value] = scores[k]
		}
		out["probabilities"] = all
	}
	type contribution struct {
		Feature string  `json:"feature"`
		Value   any     `json:"value,omitempty"`
		Points  float64 `json:"points"`
	}
	parts := []contribution{}
	if terms, err := explain.Terms(m); err == nil { // of other models, a column alone adds nothing
		for k := range terms {
			parts = append(parts, contribution{terms[k].Column, a.Row[terms[k].Column], terms[k].Of(row, class)})
		}
	}
	out["contributions"] = parts
	return out, nil
}

func (e *Engine) writeCard(a struct {
	modelArgs
	About map[string]string `json:"about"`
}) (any, error) {
	m, err := model.Unmarshal([]byte(a.Model))
	if err != nil {
		return nil, err
	}
	about, err := card.About(a.About).Parse(nil)
	if err != nil {
		return nil, err
	}
	c := card.Of(m, []byte(a.Model), e.Program, time.Now())
	if len(about) > 0 {
		c.About = about
	}
	var html, yaml bytes.Buffer
	if err := c.WriteHTML(&html); err != nil {
		return nil, err
	}
	if err := c.WriteYAML(&yaml); err != nil {
		return nil, err
	}
	return map[string]string{"html": html.String(), "yaml": yaml.String()}, nil
}

func exportModel(a struct {
	modelArgs
	Format string `json:"format"`
}) (*Download, error) {
	m, err := model.Unmarshal([]byte(a.Model))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := export.Write(&b, m, a.Format); err != nil {
		return nil, err
	}
	return &Download{"model." + a.Format, b.Bytes()}, nil
}

// describeRelease is a private evaluation, with its ROC curve and the text that was released.
func describeRelease(released []byte, choice evaluation.Choice) (map[string]any, error) {
	release, err := evaluation.Unmarshal(released)
	if err != nil {
		return nil, err
	}
	r, err := release.Report(choice)
	if err != nil {
		return nil, err
	}
	out, err := asMap(r)
	if err != nil {
		return nil, err
	}
	out["released"] = string(released)
	placeGroups(out)
	positive, ok := r.Find("positive_rate")
	if !ok || !positive.Known || !(positive.Value > 0 && positive.Value < 1) {
		return out, nil
	}
	roc := []heldout.Rates{}
	for _, p := range r.Points {
		var recall, predicted evaluation.Estimate
		for _, n := range p.Numbers {
			switch n.Name {
			case "recall":
				recall = n.Estimate
			case "predicted_rate":
				predicted = n.Estimate
			}
		}
		if recall.Known && predicted.Known {
			wrong := (predicted.Value - recall.Value*positive.Value) / (1 - positive.Value)
			roc = append(roc, heldout.Rates{FalsePositives: min(max(wrong, 0), 1), TruePositives: recall.Value})
		}
	}
	out["roc"] = roc
	return out, nil
}
