// SPDX-License-Identifier: Apache-2.0

// Package planning answers calls that come before a charge, from names of columns, the text of a
// schema and public choices alone. It has no access to rows: no call has a file, and the package that
// reads files may not be imported here (internal/check/lint).
package planning

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/internal/explorer/draft"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/release/card"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
	"github.com/discreet-dp/discreet/internal/train/forecast"
)

// DraftArgs are names of columns and what is known about them.
type DraftArgs struct {
	Names    []string          `json:"names"`
	Types    map[string]string `json:"types"`    // in the terms of a codebook
	Label    string            `json:"label"`    // the column to predict; "" if not chosen yet
	Codebook string            `json:"codebook"` // CSV
	Accept   bool              `json:"accept"`   // write the proposals for well-known names as declarations
	// Delimiter is the delimiter of cells; "" for a comma.
	Delimiter string `json:"delimiter"`
	// Headless says that the first line of the file holds no names. Count is the number of its columns if
	// Names are not given.
	Headless bool `json:"headless"`
	Count    int  `json:"count"`
}

// Text is the text of a schema file.
type Text struct {
	YAML string `json:"yaml"`
}

// Draft writes the template of a schema.
func Draft(a DraftArgs) (*Text, error) {
	book := schema.Codebook{}
	var err error
	if a.Codebook != "" {
		if book, err = schema.ParseCodebook(strings.NewReader(a.Codebook)); err != nil {
			return nil, err
		}
	}
	d := Dialect(a.Delimiter)
	d.Header = !a.Headless
	var text []byte
	if a.Headless && len(a.Names) == 0 {
		text, err = schema.InitColumns(a.Count, d)
	} else {
		text, err = schema.Draft(a.Names, d, book.AddTypes(a.Types), schema.DraftOptions{AcceptNames: a.Accept})
	}
	if err == nil && a.Label != "" {
		text, err = draft.Edit(text, a.Label, map[string]any{"kind": "label"})
	}
	return &Text{string(text)}, err
}

// Dialect returns the dialect of a CSV file with a header; "" is a comma.
func Dialect(delimiter string) schema.Dialect {
	d := schema.Dialect{Delimiter: ',', Quote: '"', Header: true}
	if runes := []rune(delimiter); len(runes) == 1 {
		d.Delimiter = runes[0]
	}
	return d
}

// Problem is a fault of a schema's text. Missing is a choice that has not been made yet.
type (
	Problem struct {
		Line    int    `json:"line,omitempty"`
		Column  string `json:"column,omitempty"`
		Message string `json:"message"`
	}
	Missing struct {
		Line   int    `json:"line,omitempty"`
		Column string `json:"column,omitempty"`
		What   string `json:"what"`
	}
)

// Inspect returns the facts that an unfinished text declares, its faults, and what is missing.
func Inspect(t Text) map[string]any {
	o := draft.ReadOutline([]byte(t.YAML))
	out := o.Facts
	bad, open, columns := []Problem{}, []Missing{}, o.Columns
	for _, f := range o.Faults {
		if f.Missing {
			open = append(open, Missing{f.Line, f.Column, f.Words})
		} else {
			bad = append(bad, Problem{f.Line, f.Column, f.Words})
		}
	}
	if columns == nil {
		columns = []map[string]any{}
	}
	out["problems"], out["missing"], out["columns"] = bad, open, columns
	for _, c := range columns {
		if c["kind"] == "label" {
			out["label"] = c
		}
	}
	return out
}

// EditArgs change what a text says of some columns.
type EditArgs struct {
	YAML    string         `json:"yaml"`
	Changes []draft.Change `json:"changes"`
}

// Edit changes a schema's text and keeps its comments and order.
func Edit(a EditArgs) (*Text, error) {
	text, err := draft.EditAll([]byte(a.YAML), a.Changes)
	return &Text{string(text)}, err
}

// Choice is what to train, as it was typed, on a table of a schema.
type Choice struct {
	YAML    string            `json:"yaml"`
	Learner string            `json:"learner"`
	Options map[string]string `json:"options"`
	Epsilon string            `json:"epsilon"`
	Delta   string            `json:"delta"`
	Rows    int               `json:"rows"` // 0 if unknown
}

// Asked returns the choice in the form of package train.
func (c *Choice) Asked() train.Choice {
	return train.Choice{Learner: c.Learner, Options: c.Options, Price: train.PriceText{Epsilon: c.Epsilon, Delta: c.Delta}}
}

// last caches the last schema and its text, because a slider causes many calls about the same one.
var last struct {
	sync.Mutex
	text string
	read *schema.Schema
}

func readSchema(text string) (*schema.Schema, error) {
	last.Lock()
	defer last.Unlock()
	if last.read == nil || last.text != text {
		s, err := schema.Parse([]byte(text))
		if err != nil {
			return nil, err
		}
		last.text, last.read = text, s
	}
	return last.read, nil
}

// Read checks the choice and its schema.
func (c *Choice) Read() (*train.Request, *schema.Schema, error) {
	r, err := c.Asked().Request("plan")
	if err != nil {
		return nil, nil, err
	}
	s, err := readSchema(c.YAML)
	return r, s, err
}

// Plan is the cost of a training and facts about it, as the program describes them.
type Plan struct {
	Lines   []string     `json:"lines"` // as discreet plan prints them
	Epsilon string       `json:"epsilon"`
	Delta   string       `json:"delta"`
	Bill    []Line       `json:"bill"`
	Noise   []string     `json:"noise"`
	Advice  []string     `json:"advice"`
	Refused string       `json:"refused,omitempty"` // why no training at this price is allowed
	Odds    Odds         `json:"odds"`
	Others  []Deployment `json:"others"`
	Command string       `json:"command"`
	Python  string       `json:"python"`
}

// Line is one release of a bill.
type Line struct {
	Name    string `json:"name"`
	Epsilon string `json:"epsilon,omitempty"`
	Rho     string `json:"rho,omitempty"`
}

// Odds describe what a reader of the model can learn about a person.
type Odds struct {
	Words string     `json:"words"`
	Scale string     `json:"scale,omitempty"` // the class of the price and its source
	Odds  []Suspects `json:"odds"`
}

// Suspects is the largest certainty of an observer after seeing the model: in words, and for drawing as
// a probability, which is 0 if a δ leaves none.
type Suspects struct {
	Words string  `json:"words"`
	To    float64 `json:"to,omitempty"`
}

// MakePlan plans a training. It reads no data.
func MakePlan(c Choice) (*Plan, error) {
	r, s, err := c.Read()
	if err != nil {
		return nil, err
	}
	pl, err := r.Plan(s, c.Rows)
	if err != nil {
		return nil, err
	}
	q, terms := r.Quote(s, pl, nil), pl.Terms()
	var text strings.Builder
	if err := q.WriteText(&text, StepWords); err != nil {
		return nil, err
	}
	p := &Plan{Lines: strings.Split(strings.TrimRight(text.String(), "\n"), "\n"), Epsilon: q.Epsilon.String(),
		Delta: q.Delta.String(), Noise: []string{}, Advice: []string{}, Bill: []Line{}, Others: deployments}
	for _, e := range terms.Bill {
		l := Line{Name: e.Release}
		if e.Epsilon != dp.Infinite {
			l.Epsilon = e.Epsilon.String()
		}
		if e.Rho > 0 {
			l.Rho = e.Rho.String()
		}
		p.Bill = append(p.Bill, l)
	}
	words := model.Privacy{Scope: terms.Scope, Relation: s.Relation, Unit: s.Unit, Epsilon: q.Epsilon, Delta: q.Delta}
	if s.Person != nil {
		words.Claim = model.PersonClaim
	}
	guarantee, odds := card.DescribeGuarantee(&words)
	p.Odds = Odds{Words: guarantee, Odds: []Suspects{}}
	if words.Scope != dp.Nothing {
		p.Odds.Scale = fmt.Sprintf("This epsilon is called %s. %s", q.Epsilon.Strength(), dp.DescribeScale())
	}
	for i, o := range odds {
		s := Suspects{Words: o}
		if q.Delta == 0 {
			s.To = card.Suspect(q.Epsilon, card.Suspicions[i])
		}
		p.Odds.Odds = append(p.Odds.Odds, s)
	}
	p.describeNoise(q.Facts)
	p.Advice = append(p.Advice, q.Warnings...)
	if q.Excess != nil {
		p.Refused = sayPage(*q.Excess)
	}
	p.writeCode(&c, s)
	return p, nil
}

// sure is the half-width of an interval that contains 95 % of the noise, in standard deviations.
const sure = 2

// describeNoise describes the effect of noise, in rows of the table.
func (p *Plan) describeNoise(facts map[string]any) {
	deviation, ok := facts["noise"].(float64)
	if !ok {
		return
	}
	few := math.Ceil(sure * deviation)
	p.Noise = append(p.Noise, fmt.Sprintf("Noise moves the count of each cell by about %.0f rows.", math.Ceil(deviation)),
		fmt.Sprintf("A cell of fewer than %.0f rows cannot be told from an empty one.", few))
	if rows, ok := facts["rows"].(int); ok && rows > 0 && few*10 > float64(rows) {
		p.Advice = append(p.Advice, fmt.Sprintf("The noise is large for %d rows: leave out columns that cannot help, or pay more.", rows))
	}
}

// writeCode writes the equivalent command and Python code.
func (p *Plan) writeCode(c *Choice, s *schema.Schema) {
	learner, price, options := c.Learner, "epsilon="+p.Epsilon, ""
	p.Command = "discreet plan"
	give := func(flag, value string) { p.Command += " --" + flag + " " + value }
	give("schema", "table.yaml")
	give("epsilon", p.Epsilon)
	if c.Delta != "" && c.Delta != "0" {
		give("delta", c.Delta)
		price += ", delta=" + c.Delta
	}
	if learner != "" && learner != train.DefaultLearner {
		give("learner", learner)
		price += fmt.Sprintf(", learner=%q", learner)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Options)) {
		give(name, c.Options[name])
		options += fmt.Sprintf(", %q: %q", name, c.Options[name])
	}
	if options != "" {
		price += ", options={" + options[2:] + "}"
	}
	if c.Rows > 0 {
		count := "rows"
		if s.Person != nil {
			count = "persons"
		}
		give(count, strconv.Itoa(c.Rows))
	}
	p.Python = fmt.Sprintf("from discreet import DiscreetClassifier\n\nmodel = DiscreetClassifier(schema=\"table.yaml\", %s)", price)
}

// Deployment is the published guarantee of another deployment.
type Deployment struct {
	Who     string `json:"who"`
	Epsilon string `json:"epsilon"`
	Unit    string `json:"unit"`
}

// deployments are selected from D. Desfontaines' "A list of real-world uses of differential privacy".
// The unit of privacy matters as much as ε.
var deployments = []Deployment{
	{"Apple, health types in use (noise on the device)", "2", "one day of one user"},
	{"Google, Community Mobility Reports", "2.64", "one day of one user"},
	{"Apple, QuickType suggestions (noise on the device)", "16", "one day of one user"},
	{"US Census Bureau, 2020 redistricting", "19.61", "one person"},
}

// ForecastArgs are a choice, its prices and properties of the tables to invent.
type ForecastArgs struct {
	Choice
	Epsilons  []any   `json:"epsilons"` // numbers, or texts as typed
	Positives float64 `json:"positives"`
	Strength  float64 `json:"strength"` // 0 for DefaultStrength
}

// DefaultStrength is the default AUC of a perfect model on the invented tables.
const DefaultStrength = 0.85

// defaultRows is the size of invented tables if the number of rows is not given.
const defaultRows = 10_000

// Forecast computes a curve of AUC against ε on invented tables. done receives each point.
func Forecast(ctx context.Context, a ForecastArgs, done func(forecast.Point)) (map[string]any, error) {
	s, err := schema.Parse([]byte(a.YAML))
	if err != nil {
		return nil, err
	}
	o := forecast.CurveOptions{Rows: a.Rows, Positives: a.Positives, Strength: a.Strength, Done: done}
	if o.Rows == 0 {
		o.Rows = defaultRows
	}
	if o.Strength == 0 {
		o.Strength = DefaultStrength
	}
	for _, eps := range a.Epsilons {
		o.Epsilons = append(o.Epsilons, fmt.Sprint(eps))
	}
	points, err := forecast.Curve(ctx, a.Asked(), s, o)
	return map[string]any{"points": points, "strength": o.Strength, "rows": o.Rows}, err
}
