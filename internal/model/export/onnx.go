// SPDX-License-Identifier: Apache-2.0

package export

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/export/onnx"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// MissingText marks a missing cell in an ONNX input of a category, unless the schema gives that
// spelling another meaning.
const MissingText = "(missing)"

// ONNX writes the model as a file in the Open Neural Network Exchange format.
//
// It has one input of shape [rows, 1] for each column that the model reads from a file, under the
// column's name: doubles for a number, in which NaN is missing, the days since 1970-01-01 for a date, and trimmed strings for a category, in
// which MissingText is missing. Outputs are "label", strings of shape [rows]; "score", doubles of
// shape [rows, 1] for a label of two classes and [rows, classes] otherwise; and for an additive model
// the contribution of each column, as in predict --explain, in the shape of the scores. A row with a
// cell that a public column cannot hold has the label "" and the scores NaN.
func ONNX(m *model.Model) ([]byte, error) {
	p, err := takeApart(m)
	if err != nil {
		return nil, err
	}
	w := &onnxWriter{program: p, g: onnx.Graph{Name: m.Schema.Name, Producer: "discreet", Doc: m.Privacy.Card()}}
	for w.g.Prefix = "/"; slices.ContainsFunc(m.Schema.Columns, w.isPrefixed); {
		w.g.Prefix += "/"
	}
	w.nameMetadata()
	w.writeInputs()
	var sums string
	switch {
	case p.sum != nil:
		sums = w.writeTables(p.sum)
		if width := len(p.sum.start); width == 1 {
			sums = w.op("Sigmoid", sums)
		} else {
			sums = w.opAxis("Softmax", sums)
		}
	case p.linear != nil:
		l := p.linear
		sums = w.writeFunctions(l.space, l.coef, l.bias, l.norm)
		if l.link == "" {
			sums = w.op("Sigmoid", sums)
		} else {
			sums = w.writeLink(l.link, sums)
		}
	case p.votes != nil:
		sums = w.writeVotes(p.votes)
	default:
		sums = w.writeLink(p.ballots.Link, w.writeBallots(p.ballots))
	}
	w.writeOutputs(sums)
	return w.g.Marshal(), nil
}

type onnxWriter struct {
	*program
	g      onnx.Graph
	values []string // by column: the number or the code, of shape [rows, 1]
	marks  []string // by column: the mark of a missing or special number if there are any, else 0
	bad    []string // rows with a cell that cannot be coded
	taken  []string // names of outputs
}

func (w *onnxWriter) isPrefixed(c schema.Column) bool { return strings.HasPrefix(c.Name, w.g.Prefix) }

func (w *onnxWriter) op(op string, inputs ...string) string { return w.g.Op(op, inputs) }

// opAxis adds an operation along the columns.
func (w *onnxWriter) opAxis(op string, inputs ...string) string {
	return w.g.Op(op, inputs, onnx.Attr{Name: "axis", Value: int64(1)})
}

func (w *onnxWriter) double(x float64) string {
	return w.g.Const(onnx.Tensor{Shape: []int{1}, Doubles: []float64{x}})
}

// row adds a constant that is added to or compared with every row.
func (w *onnxWriter) row(x ...float64) string {
	return w.g.Const(onnx.Tensor{Shape: []int{1, len(x)}, Doubles: x})
}

// matrix adds a constant with one row per cell or code.
func (w *onnxWriter) matrix(rows [][]float64) string {
	return w.g.Const(onnx.Tensor{Shape: []int{len(rows), len(rows[0])}, Doubles: slices.Concat(rows...)})
}

func (w *onnxWriter) nameMetadata() {
	w.g.AddMetadata("discreet_learner", w.m.Learner)
	w.g.AddMetadata("discreet_label", w.m.Schema.Label.Name)
	w.g.AddMetadata("discreet_classes", strings.Join(classNames(w.m), "\n"))
	w.g.AddMetadata("discreet_privacy", w.m.Privacy.Words())
}

func classNames(m *model.Model) []string { return schema.Values(m.Schema.Label.Levels) }

func (w *onnxWriter) writeInputs() {
	w.values, w.marks = make([]string, len(w.columns)), make([]string, len(w.columns))
	for j, c := range w.columns {
		switch {
		case c == nil:
		case c.coder == nil:
			w.values[j] = w.derive(c.Column)
		case c.Kind == schema.Category:
			w.g.AddInput(c.Name, onnx.String, 1)
			w.values[j] = w.encodeCategory(c)
		default:
			w.g.AddInput(c.Name, onnx.Double, 1)
			w.values[j], w.marks[j] = w.clampNumber(c)
		}
	}
}

func (w *onnxWriter) encodeCategory(c *inColumn) string {
	var codes []int64
	texts, of := c.coder.Spellings()
	for _, code := range of {
		codes = append(codes, int64(code))
	}
	if !slices.Contains(texts, MissingText) {
		missing := c.MissingCode()
		texts, codes = append(texts, MissingText), append(codes, int64(missing))
	}
	encode := func(other int) string {
		return w.g.Op("LabelEncoder", []string{c.Name},
			onnx.Attr{Name: "keys_strings", Value: texts}, onnx.Attr{Name: "values_int64s", Value: codes},
			onnx.Attr{Name: "default_int64", Value: int64(other)})
	}
	prefixes, of := c.coder.Prefixes()
	if prefixes == nil {
		return encode(c.OtherCode())
	}
	begins := w.g.Const(onnx.Ints(int64(c.OtherCode())))
	for k, text := range slices.Backward(prefixes) {
		is := w.g.Op("RegexFullMatch", []string{c.Name}, onnx.Attr{Name: "pattern", Value: prefixPattern(text)})
		begins = w.op("Where", is, w.g.Const(onnx.Ints(int64(of[k]))), begins)
	}
	listed := encode(-1)
	return w.op("Where", w.op("GreaterOrEqual", listed, w.g.Const(onnx.Ints(0))), listed, begins)
}

// clampNumber replaces cells that are not numbers by the declared default, and clamps all cells to the
// bounds. mark identifies missing and special cells if the column can have any.
func (w *onnxWriter) clampNumber(c *inColumn) (number, mark string) {
	cell := c.Name
	if c.Date != "" {
		cell = w.op("Sub", w.op("Floor", cell), w.double(float64(c.Since)))
	}
	bad := w.op("Or", w.op("IsNaN", cell), w.op("IsInf", cell))
	for _, x := range c.coder.MissingNumbers() {
		bad = w.op("Or", bad, w.op("Equal", cell, w.double(x)))
	}
	standIn, ok := c.coder.StandIn()
	if !ok {
		w.bad = append(w.bad, bad)
		standIn = c.Lower
	}
	number = w.op("Where", bad, w.double(standIn), cell)
	if c.Marks() > 0 {
		mark = w.g.Const(onnx.Ints(0))
		for k, x := range c.Special {
			is := w.op("Equal", cell, w.double(x))
			number = w.op("Where", is, w.double(standIn), number)
			mark = w.op("Where", is, w.g.Const(onnx.Ints(int64(k+1))), mark)
		}
		missing := int64(0)
		if c.Missing {
			missing = int64(len(c.Special) + 1)
		}
		mark = w.op("Where", bad, w.g.Const(onnx.Ints(missing)), mark)
	}
	return w.clamp(c.Column, number), mark
}

func (w *onnxWriter) clamp(c *schema.Column, x string) string {
	return w.op("Max", w.double(c.Lower), w.op("Min", x, w.double(c.Upper)))
}

func (w *onnxWriter) derive(c *schema.Column) string {
	var from []string
	for _, j := range c.From {
		from = append(from, w.values[j])
	}
	switch c.Derived {
	case schema.Year, schema.Month, schema.Weekday:
		return w.clamp(c, w.partOfDate(c.Derived, w.op("Floor", from[0]), w.m.Schema.Columns[c.From[0]].Since))
	case schema.Largest:
		return w.clamp(c, w.op("Max", from...))
	case schema.Smallest:
		return w.clamp(c, w.op("Min", from...))
	}
	return w.clamp(c, w.op("Div", w.op("Sum", from...), w.double(float64(len(from)))))
}

// partOfDate computes what schema.DatePart does, for whole days after since. It counts years from March on, so that the day
// that not all have is the last, and in cycles of 400, which have 146,097 days each.
func (w *onnxWriter) partOfDate(part schema.Derivation, days string, since int) string {
	op := func(op string) func(x string, by float64) string {
		return func(x string, by float64) string { return w.op(op, x, w.double(by)) }
	}
	plus, times, over := op("Add"), op("Mul"), op("Div")
	whole := func(x string, by float64) string { return w.op("Floor", over(x, by)) }
	rest := func(x string, by float64) string { return w.op("Sub", x, times(whole(x, by), by)) }
	if part == schema.Weekday { // 1970-01-01 was a Thursday
		return plus(rest(plus(days, float64(since+3)), 7), 1)
	}
	const untilMarch = 719468 // days from 0000-03-01 to 1970-01-01
	sinceMarch := plus(days, float64(since+untilMarch))
	inCycle := rest(sinceMarch, 146097)
	leapDays := w.op("Sub", w.op("Sub", whole(inCycle, 1460), whole(inCycle, 36524)), w.op("Neg", whole(inCycle, 146096)))
	year := whole(w.op("Sub", inCycle, leapDays), 365)
	inYear := w.op("Sub", inCycle, w.op("Sub", w.op("Add", times(year, 365), whole(year, 4)), whole(year, 100)))
	month := whole(plus(times(inYear, 5), 2), 153) // 0 is March
	turned := w.op("GreaterOrEqual", month, w.double(10))
	if part == schema.Month {
		return w.op("Where", turned, plus(month, -9), plus(month, 3))
	}
	year = w.op("Add", year, times(whole(sinceMarch, 146097), 400))
	return w.op("Where", turned, plus(year, 1), year)
}

// flat reshapes a value of shape [rows, 1] to [rows].
func (w *onnxWriter) flat(x string) string { return w.op("Reshape", x, w.g.Const(onnx.Ints(-1))) }

// part computes each row's part of an axis, of shape [rows, 1].
func (w *onnxWriter) part(a *axis) string {
	x := w.values[a.column]
	switch {
	case w.columns[a.column].Kind == schema.Category && a.parts == nil:
		return x
	case w.columns[a.column].Kind == schema.Category:
		var parts []int64
		for _, p := range a.parts {
			parts = append(parts, int64(p))
		}
		return w.op("Gather", w.g.Const(onnx.Ints(parts...)), x)
	}
	edges := a.edges
	if len(edges) == 0 {
		edges = []float64{math.Inf(1)} // one bin
	}
	above := w.g.Op("Cast", []string{w.op("GreaterOrEqual", x, w.row(edges...))},
		onnx.Attr{Name: "to", Value: int64(onnx.Int64)})
	bin := w.op("ReduceSum", above, w.g.Const(onnx.Ints(1)))
	if !a.marked {
		return bin
	}
	mark := w.marks[a.column]
	is := w.op("GreaterOrEqual", mark, w.g.Const(onnx.Ints(1)))
	return w.op("Where", is, w.op("Add", mark, w.g.Const(onnx.Ints(int64(len(a.edges))))), bin)
}

// writeTables adds up the tables, of shape [rows, scores].
func (w *onnxWriter) writeTables(s *tableSum) string {
	terms := []string{w.row(s.start...)}
	for k := range s.tables {
		t := &s.tables[k]
		cell := ""
		for i := range t.axes {
			part := w.part(&t.axes[i])
			if stride := t.axes[i].stride; stride != 1 {
				part = w.op("Mul", part, w.g.Const(onnx.Ints(int64(stride))))
			}
			if cell == "" {
				cell = part
			} else {
				cell = w.op("Add", cell, part)
			}
		}
		cell = w.flat(cell)
		terms = append(terms, w.op("Gather", w.matrix(t.steps), cell))
		if t.name == "" {
			continue
		}
		told := t.steps
		if len(s.start) > 1 {
			told = centreRows(told)
		}
		w.writeValue(t.name, onnx.Double, len(s.start), w.op("Gather", w.matrix(told), cell))
	}
	return w.op("Sum", terms...)
}

// centreRows subtracts the mean over classes, which does not change a softmax.
func centreRows(rows [][]float64) (out [][]float64) {
	for _, row := range rows {
		mean := 0.0
		for _, x := range row {
			mean += x / float64(len(row))
		}
		centred := make([]float64, len(row))
		for k, x := range row {
			centred[k] = x - mean
		}
		out = append(out, centred)
	}
	return out
}

// writeValue makes a value an output. Its name is that of the column that predict would add, made
// different from all names of columns.
func (w *onnxWriter) writeValue(name string, t onnx.Type, columns int, value string) {
	free := name
	for n := 2; slices.Contains(w.taken, free) || w.columnOf(free) >= 0; n++ {
		free = fmt.Sprintf("%s_%d", name, n)
	}
	w.taken = append(w.taken, free)
	w.g.OpTo("Identity", []string{value}, []string{free})
	w.g.AddOutput(free, t, columns)
}

// number computes the feature of a number, as feature.Space.Number does.
func (w *onnxWriter) number(c *schema.Column, x string) string {
	lower, upper := c.Lower, c.Upper
	if c.Transform == schema.Log1p {
		x, lower, upper = w.log1p(x), math.Log1p(lower), math.Log1p(upper)
	}
	twice := w.op("Mul", w.double(2), w.op("Sub", x, w.double(lower)))
	return w.op("Sub", w.op("Div", twice, w.double(upper-lower)), w.double(1))
}

// log1p computes log(1+x) accurately to a few units in the last place for small x, as x·log(u)/(u-1)
// with u = 1+x rounded (Kahan).
func (w *onnxWriter) log1p(x string) string {
	one := w.double(1)
	u := w.op("Add", x, one)
	exact := w.op("Div", w.op("Mul", x, w.op("Log", u)), w.op("Sub", u, one))
	return w.op("Where", w.op("Equal", u, one), x, exact)
}

// writeFunctions evaluates linear functions of the features of a space, of shape [rows, functions]. It
// adds terms in the same order as the model.
func (w *onnxWriter) writeFunctions(space int, coef [][]float64, bias []float64, norm float64) string {
	sp := w.spaces[space]
	terms, squares := []string{w.row(bias...)}, []string(nil)
	for k, j := range sp.Columns {
		if c := w.columns[j]; c.Kind == schema.Number {
			at, _ := sp.Block(k)
			var by []float64
			for f := range coef {
				by = append(by, coef[f][at])
			}
			v := w.number(c.Column, w.values[j])
			terms = append(terms, w.op("Mul", w.row(by...), v))
			if norm != 0 {
				squares = append(squares, w.op("Mul", v, v))
			}
			continue
		}
		var by, square [][]float64
		for code := range w.columns[j].Codes() {
			at, v := sp.Code(k, code)
			row := make([]float64, len(coef))
			for f := range coef {
				row[f] = coef[f][at] * v
			}
			by, square = append(by, row), append(square, []float64{v * v})
		}
		code := w.flat(w.values[j])
		terms = append(terms, w.op("Gather", w.matrix(by), code))
		if norm != 0 {
			squares = append(squares, w.op("Gather", w.matrix(square), code))
		}
	}
	sum := w.op("Sum", terms...)
	if norm == 0 {
		return sum
	}
	length := w.op("Sqrt", w.op("Sum", append(squares, w.double(1))...))
	return w.op("Mul", sum, w.op("Min", w.double(1), w.op("Div", w.double(norm), length)))
}

// writeThresholds evaluates threshold classifiers of one space, of shape [rows, thresholds].
func (w *onnxWriter) writeThresholds(space int, of []feature.Threshold) string {
	sp := w.spaces[space]
	one := float64(sp.Fixed(1, 1)) // steps of the grid that make 1
	var bias []float64
	for _, t := range of {
		bias = append(bias, float64(sp.Fixed(t.Bias, 1)))
	}
	terms := []string{w.row(bias...)}
	for k, j := range sp.Columns {
		if c := w.columns[j]; c.Kind == schema.Number {
			at, _ := sp.Block(k)
			var by []float64
			for _, t := range of {
				by = append(by, t.Coef[at])
			}
			product := w.op("Mul", w.row(by...), w.number(c.Column, w.values[j]))
			terms = append(terms, w.op("Round", w.op("Mul", product, w.double(one))))
			continue
		}
		var by [][]float64
		for code := range w.columns[j].Codes() {
			at, v := sp.Code(k, code)
			var row []float64
			for _, t := range of {
				row = append(row, float64(sp.Fixed(t.Coef[at], v)))
			}
			by = append(by, row)
		}
		terms = append(terms, w.op("Gather", w.matrix(by), w.flat(w.values[j])))
	}
	return w.op("GreaterOrEqual", w.op("Sum", terms...), w.double(0))
}

// thresholds evaluates the threshold classifiers of all spaces together. Adding one returns its
// position among the answers.
type thresholds struct {
	held [][]feature.Threshold // by space
	at   [][2]int              // by threshold: its space and its position there
}

func (t *thresholds) add(space int, one feature.Threshold) {
	for len(t.held) <= space {
		t.held = append(t.held, nil)
	}
	t.at = append(t.at, [2]int{space, len(t.held[space])})
	t.held[space] = append(t.held[space], one)
}

// write returns the answers, each of shape [rows, 1].
func (t *thresholds) write(w *onnxWriter) (answers []string) {
	all := make([]string, len(t.held))
	for space, held := range t.held {
		if len(held) > 0 {
			all[space] = w.writeThresholds(space, held)
		}
	}
	for _, at := range t.at {
		answers = append(answers, w.opAxis("Gather", all[at[0]], w.g.Const(onnx.Ints(int64(at[1])))))
	}
	return answers
}

func (w *onnxWriter) writeVotes(v *model.Votes) string {
	var answers thresholds
	all := 0.0
	for i := range v.Members {
		answers.add(v.Members[i].Space, v.Members[i].Threshold)
		all += math.Abs(v.Members[i].Vote)
	}
	var votes []string
	for i, answer := range answers.write(w) {
		vote := v.Members[i].Vote
		votes = append(votes, w.op("Where", answer, w.double(vote), w.double(-vote)))
	}
	sum := w.op("Sum", votes...)
	half := w.double(0.5)
	if all == 0 {
		return w.op("Add", w.op("Mul", sum, w.double(0)), half)
	}
	score := w.op("Div", w.op("Add", w.op("Div", sum, w.double(all)), w.double(1)), w.double(2))
	rounded := w.op("And", w.op("Less", sum, w.double(0)), w.op("GreaterOrEqual", score, half))
	return w.op("Where", rounded, w.double(math.Nextafter(0.5, 0)), score)
}

// writeBallots adds up the ballots in the order of the members, of shape [rows, classes].
func (w *onnxWriter) writeBallots(b *model.Ballots) string {
	var answers thresholds
	for i := range b.Members {
		if m := &b.Members[i]; m.Stump != nil {
			answers.add(m.Space, m.Stump.Threshold)
		}
	}
	answered := answers.write(w)
	var ballots []string
	for i := range b.Members {
		m := &b.Members[i]
		if m.Stump != nil {
			ballots = append(ballots, w.op("Where", answered[0], w.row(weigh(m.Weight, m.Stump.Yes)...),
				w.row(weigh(m.Weight, m.Stump.No)...)))
			answered = answered[1:]
			continue
		}
		sums := w.writeFunctions(m.Space, m.Argmax.Coef, m.Argmax.Bias, 0)
		places := onnx.Tensor{Shape: []int{1, len(m.Argmax.Bias)}}
		for k := range m.Argmax.Bias {
			places.Ints = append(places.Ints, int64(k))
		}
		first := w.op("Equal", w.opAxis("ArgMax", sums), w.g.Const(places))
		ballots = append(ballots, w.op("Where", first, w.double(m.Weight), w.double(0)))
	}
	return w.op("Sum", ballots...)
}

func weigh(weight float64, leaf []float64) (out []float64) {
	for _, x := range leaf {
		out = append(out, weight*x)
	}
	return out
}

// writeLink converts one sum per class to scores.
func (w *onnxWriter) writeLink(l model.Link, z string) string {
	switch l {
	case model.OneVersusRest: // the logarithms of logistic functions
		z = w.op("Sub", w.op("Min", z, w.double(0)),
			w.op("Log", w.op("Add", w.double(1), w.op("Exp", w.op("Neg", w.op("Abs", z))))))
		z = w.opAxis("Softmax", z)
	case model.Softmax:
		z = w.opAxis("Softmax", z)
	default:
		all := w.op("ReduceSum", z, w.g.Const(onnx.Ints(1)))
		z = w.op("Where", w.op("Equal", all, w.double(0)), w.double(1/float64(w.m.Schema.Classes())), w.op("Div", z, all))
	}
	if w.m.Width() == 1 {
		z = w.opAxis("Gather", z, w.g.Const(onnx.Ints(int64(w.m.Schema.Label.Positive))))
	}
	return z
}

// writeOutputs writes labels and scores.
func (w *onnxWriter) writeOutputs(scores string) {
	names := classNames(w.m)
	var code string // of shape [rows, 1]
	if w.m.Width() == 1 {
		positive := int64(w.m.Schema.Label.Positive)
		code = w.op("Where", w.op("GreaterOrEqual", scores, w.double(w.m.Threshold())), w.g.Const(onnx.Ints(positive)),
			w.g.Const(onnx.Ints(1-positive)))
	} else {
		code = w.opAxis("ArgMax", scores)
	}
	if len(w.bad) > 0 {
		bad := w.bad[0]
		for _, b := range w.bad[1:] {
			bad = w.op("Or", bad, b)
		}
		scores = w.op("Where", bad, w.double(math.NaN()), scores)
		code = w.op("Where", bad, w.g.Const(onnx.Ints(int64(len(names)))), code)
		names = append(names, "")
	}
	w.writeValue("label", onnx.String, 0, w.op("Gather", w.g.Const(onnx.Strings(names...)), w.flat(code)))
	w.writeValue("score", onnx.Double, w.m.Width(), scores)
}
