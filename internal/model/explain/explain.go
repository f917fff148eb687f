// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Explanation lists the terms that a model adds up, in nats of the log-odds of the positive class, or
// of each of several classes.
type Explanation struct {
	Dataset  string `json:"data_set"`
	Unit     string `json:"one_row_is"`
	Checksum string `json:"model_sha256,omitempty"` // of the model's file, if the caller has it
	// Date is the date of the page, if the page shall have one.
	Date     string `json:"page_date,omitempty"`
	Learner  string `json:"learner"`
	Label    string `json:"label"`
	Positive string `json:"positive,omitempty"` // "" if Classes is set
	// Intercept is the starting value of every row; 0 if Classes is set.
	Intercept float64 `json:"intercept"`
	// Shapes are the step functions of an additive model, the most important first.
	Shapes []Shape `json:"shapes,omitempty"`
	// Pairs are the additional terms of pairs of columns, the most important first.
	Pairs []Pair `json:"pairs,omitempty"`
	// Coefficients are the coefficients of a logistic model, in the order of its features.
	Coefficients []Coefficient `json:"coefficients,omitempty"`
	// Classes are the functions of a model that has one per class, in the schema's order. Link
	// converts their values to probabilities.
	Classes []ClassFunction `json:"levels,omitempty"`
	Link    model.Link      `json:"link,omitempty"`
	// Starts and ClassShapes describe an additive model of more than two classes. Starts are in the
	// schema's order of the classes, ClassShapes from the most important.
	Starts      []Start      `json:"starts,omitempty"`
	ClassShapes []ClassShape `json:"level_shapes,omitempty"`
	// Uses, TableCount and Tables describe a model of grids: its columns and its strongest tables, the
	// most important first.
	Uses       []Use   `json:"uses,omitempty"`
	TableCount int     `json:"table_count,omitempty"`
	Tables     []Table `json:"tables,omitempty"`
	Privacy    Privacy `json:"privacy"`
	// Questions ask whether the schema fits the table, if what was released raises them.
	Questions []string `json:"questions,omitempty"`

	privacy model.Privacy
	columns []schema.Column // by shape
}

// Privacy is the model's privacy statement.
type Privacy struct {
	Scope   dp.Scope `json:"scope"`
	Epsilon float64  `json:"epsilon"`
	Words   string   `json:"words"`
}

// Origin is the column of a shape.
type Origin struct {
	Column string      `json:"column"`
	Kind   schema.Kind `json:"kind"`
	Role   schema.Role `json:"role"`
	// Derived and Sources state how a column that is not in the file is derived.
	Derived schema.Derivation `json:"derived,omitempty"`
	Sources []string          `json:"sources,omitempty"`
	// Protected reports whether the model's guarantee covers the column.
	Protected bool `json:"protected"`
}

func originOf(m *model.Model, c *schema.Column) Origin {
	return Origin{c.Name, c.Kind, c.Role, c.Derived, m.Schema.Sources(c), protectsRole(m.Privacy.Scope, c.Role)}
}

// Shape is the step function of one column.
type Shape struct {
	Origin
	// Importance is how far the steps lie from their mean: a mean over rows, as far as the model says how
	// many lie in each bin.
	Importance float64 `json:"importance"`
	// Noise is the importance that a column without an effect reaches in one half of all trainings, and
	// Noise95 that which it reaches in one of twenty. Both are 0 if they are not known.
	Noise   float64 `json:"importance_of_noise,omitempty"`
	Noise95 float64 `json:"importance_of_noise_95,omitempty"`
	Bins    []Bin   `json:"bins"`
}

// Bin is one step.
type Bin struct {
	Cut
	LogOdds float64 `json:"log_odds"`
	// Deviation is the posterior standard deviation of LogOdds; 0 if the
	// model states none.
	Deviation float64 `json:"posterior_sd"`
}

// Coefficient is the contribution of one feature of a linear function at the value 1.
type Coefficient struct {
	Feature string  `json:"feature"`
	LogOdds float64 `json:"log_odds"`
}

// ClassFunction is the linear function of one class.
type ClassFunction struct {
	Class        string        `json:"level"`
	Intercept    float64       `json:"intercept"`
	Coefficients []Coefficient `json:"coefficients"`
}

// Of explains an additive, a logistic or a linear model. It refuses other models, and inconsistent
// ones.
func Of(m *model.Model) (*Explanation, error) {
	e, err := of(m)
	if err != nil {
		return nil, err
	}
	if a, ok := m.Classifier.(*model.Additive); ok {
		e.addLines(m, a)
	}
	e.Questions = e.ask(m)
	return e, nil
}

// of is Of without what takes long.
func of(m *model.Model) (*Explanation, error) {
	norm := 0.0
	switch c := m.Classifier.(type) {
	case *model.Additive, *model.MulticlassAdditive, *model.Grids:
	case *model.Logistic:
		norm = c.Norm
	case *model.Linear:
		norm = c.Norm
	default:
		return nil, explainError("explain", m)
	}
	if norm > 0 {
		return nil, &dp.ParamError{Op: "explain", Param: "model",
			Want: "must not shorten rows: then what a cell adds depends on the row's other cells", Got: "one by " + m.Learner,
			Hint: "train with norm 1"}
	}
	if _, err := m.Bind(m.Schema); err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	e := &Explanation{
		Dataset: m.Schema.Name, Unit: m.Privacy.Unit,
		Learner: m.Learner, Label: m.Schema.Label.Name,
		Privacy: Privacy{Scope: m.Privacy.Scope, Epsilon: m.Privacy.Epsilon.Float(), Words: m.Privacy.Words()},
		privacy: m.Privacy,
	}
	if at := m.Schema.Label.Positive; at >= 0 {
		e.Positive = m.Schema.Label.Levels[at].Value
	}
	var err error
	switch c := m.Classifier.(type) {
	case *model.Grids:
		e.addGrids(m, c)
	case *model.Additive:
		e.addAdditive(m, c)
	case *model.MulticlassAdditive:
		e.addMulticlass(m, c)
	case *model.Logistic:
		e.Intercept = c.Bias
		e.Coefficients, err = nameCoefficients(m, c.Space, c.Coef)
	case *model.Linear:
		e.Positive = "" // two classes have a function each too
		err = e.addLinear(m, c)
	}
	return e, err
}

// explainError is the error for a model that cannot be explained, and lists those that can.
func explainError(op string, m *model.Model) error {
	want := "must be additive, grids, logistic or linear"
	if op != "explain" {
		want = "must be additive"
	}
	why := ""
	if _, ok := m.Classifier.(*model.Grids); ok {
		why = ", which grids are not: what a column adds depends on others of the row"
	}
	return &dp.ParamError{Op: op, Param: "model", Want: want,
		Got:  fmt.Sprintf("%s by %s", m.Classifier.Describe(), m.Learner),
		Hint: "train with learner additive: its models are sums of one function per column" + why}
}

func (e *Explanation) addAdditive(m *model.Model, a *model.Additive) {
	e.Intercept = a.Intercept
	for i := range a.Shapes {
		sh := &a.Shapes[i]
		c := &m.Schema.Columns[m.Schema.Find(sh.Column)]
		out := Shape{Origin: originOf(m, c), Importance: importanceOf(m.Schema, sh)}
		for b, x := range sh.LogOdds {
			out.Bins = append(out.Bins, Bin{cutOf(c, sh.Edges, b), x, sh.Noise[b]})
		}
		e.Shapes = append(e.Shapes, out)
	}
	slices.SortStableFunc(e.Shapes, func(a, b Shape) int {
		return cmp.Or(cmp.Compare(b.Importance, a.Importance), cmp.Compare(m.Schema.Find(a.Column), m.Schema.Find(b.Column)))
	})
	for i := range e.Shapes {
		e.columns = append(e.columns, m.Schema.Columns[m.Schema.Find(e.Shapes[i].Column)])
	}
	e.addPairs(m, a)
}

// meanSize is the mean absolute value of the steps.
func meanSize(steps []float64) (mean float64) {
	for _, x := range steps {
		mean += math.Abs(x) / float64(len(steps))
	}
	return mean
}

func (e *Explanation) addLinear(m *model.Model, l *model.Linear) error {
	e.Link = l.Link
	for k, class := range m.Schema.Label.Levels {
		named, err := nameCoefficients(m, l.Space, l.Coef[k])
		if err != nil {
			return err
		}
		e.Classes = append(e.Classes, ClassFunction{class.Value, l.Bias[k], named})
	}
	return nil
}

// nameCoefficients names the features of a space of m.
func nameCoefficients(m *model.Model, space int, coef []float64) (out []Coefficient, err error) {
	spec := m.Spaces[space]
	var cols []int
	for _, name := range spec.Columns {
		cols = append(cols, m.Schema.Find(name))
	}
	sp, err := feature.NewSpace(m.Schema, spec.Encoding, cols)
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	for i, name := range sp.Names {
		out = append(out, Coefficient{name, coef[i]})
	}
	return out, nil
}

// protectsRole reports whether a scope covers the columns of a role.
func protectsRole(s dp.Scope, r schema.Role) bool {
	return s == dp.WholeRow || r == schema.Private && (s == dp.PrivateFeatures || s == dp.FeaturesAndLabel)
}
