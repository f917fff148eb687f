// SPDX-License-Identifier: Apache-2.0

package export

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// PMML writes the model as a document of version 4.4: derived fields code the cells, and a regression
// model of these fields gives the scores. A missing cell is a missing value. The outputs are label and
// score or, for more than two classes, label, score_1, score_2, ... in the order of the schema. A row
// with a cell that a public column cannot hold has no outputs.
func PMML(m *model.Model) ([]byte, error) {
	p, err := takeApart(m)
	if err != nil {
		return nil, err
	}
	if err := p.refuseDates(); err != nil {
		return nil, err
	}
	w := &pmmlWriter{program: p}
	for w.prefix = "/"; slices.ContainsFunc(m.Schema.Columns, w.isPrefixed); {
		w.prefix += "/"
	}
	if err := w.writeCells(); err != nil {
		return nil, err
	}
	switch {
	case p.sum != nil:
		w.writeTables(p.sum)
	case p.linear != nil:
		w.writeFunctions(p.linear)
	case p.votes != nil:
		w.writeVotes(p.votes)
	default:
		w.writeBallots(p.ballots)
	}
	return w.writeDocument(), nil
}

// pmmlWriter collects the derived fields, and the sums from which scores are computed.
type pmmlWriter struct {
	*program
	prefix  string // of the names of derived fields: no column's name begins with it
	named   int
	derived bytes.Buffer
	marks   map[int]string // by column: the field of its mark
	method  string         // converts sums to scores: logit, softmax or none
	sums    []pmmlSum      // by class; with method logit only the positive class
}

// pmmlSum is a constant plus fields, each multiplied by a number.
type pmmlSum struct {
	constant float64
	terms    []pmmlTerm
}

type pmmlTerm struct {
	field string
	times float64
}

func (w *pmmlWriter) isPrefixed(c schema.Column) bool { return strings.HasPrefix(c.Name, w.prefix) }

// xmlText escapes s for a text or the value of an attribute.
func xmlText(s string) string {
	var b bytes.Buffer
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.String()
}

func pmmlNumber(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func constant(x float64) string {
	return `<Constant dataType="double">` + pmmlNumber(x) + `</Constant>`
}

const noValue = `<Constant missing="true"/>`

func whole(n int) string { return fmt.Sprintf(`<Constant dataType="integer">%d</Constant>`, n) }

func reference(field string) string { return `<FieldRef field="` + xmlText(field) + `"/>` }

// apply writes a call of a function with the given expressions.
func apply(function string, of ...string) string {
	return `<Apply function="` + function + `">` + strings.Join(of, "") + `</Apply>`
}

// plus adds up terms. Unlike PMML's sum, it is missing if one of the terms is.
func plus(terms []string) string {
	if len(terms) == 1 {
		return terms[0]
	}
	half := len(terms) / 2
	return apply("+", plus(terms[:half]), plus(terms[half:]))
}

// define gives an expression a name.
func (w *pmmlWriter) define(kind, expression string) string {
	w.named++
	name := w.prefix + strconv.Itoa(w.named)
	w.defineAs(name, kind, expression)
	return name
}

func (w *pmmlWriter) defineAs(name, kind, expression string) {
	fmt.Fprintf(&w.derived, "<DerivedField name=\"%s\" optype=\"continuous\" dataType=\"%s\">%s</DerivedField>\n",
		xmlText(name), kind, expression)
}

// table maps texts or whole numbers to numbers; more holds further attributes.
func (w *pmmlWriter) table(kind, field string, from, to []string, more string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<MapValues outputColumn="to" dataType="%s"%s><FieldColumnPair field="%s" column="from"/>`, kind, more,
		xmlText(field))
	b.WriteString("<InlineTable>")
	for i := range from {
		b.WriteString("<row><from>" + xmlText(from[i]) + "</from><to>" + to[i] + "</to></row>")
	}
	return w.define(kind, b.String()+"</InlineTable></MapValues>")
}

// pick selects the element of a list whose index, from 0, a field holds.
func (w *pmmlWriter) pick(field string, list []float64) string {
	var from, to []string
	for i, x := range list {
		from, to = append(from, strconv.Itoa(i)), append(to, pmmlNumber(x))
	}
	return w.table("double", field, from, to, "")
}

func (w *pmmlWriter) coded(j int) string { return w.prefix + "coded_" + strconv.Itoa(j) }

// writeCells codes the cells: coded(j) is a number within its bounds, or a code.
func (w *pmmlWriter) writeCells() error {
	w.marks = map[int]string{}
	for j, c := range w.columns {
		var of string
		kind := "double"
		switch {
		case c == nil:
			continue
		case c.coder == nil:
			of = w.derive(c.Column)
		case c.Kind == schema.Category:
			kind = "integer"
			var err error
			if of, err = w.codeCategory(c); err != nil {
				return err
			}
		default:
			of = w.codeNumber(c, j)
		}
		w.defineAs(w.coded(j), kind, of)
	}
	return nil
}

func (w *pmmlWriter) codeCategory(c *inColumn) (string, error) {
	missing := uint32(c.MissingCode())
	texts, codes := c.coder.Spellings()
	var from, to []string
	for i, text := range texts {
		switch {
		case text != "":
			from, to = append(from, text), append(to, strconv.Itoa(int(codes[i])))
		case codes[i] != missing:
			return "", fmt.Errorf("export: column %q: an empty text that is a value has no form in PMML", c.Name)
		}
	}
	prefixes, of := c.coder.Prefixes()
	if prefixes == nil {
		return reference(w.table("integer", c.Name, from, to,
			fmt.Sprintf(` defaultValue="%d" mapMissingTo="%d"`, c.OtherCode(), missing))), nil
	}
	listed := reference(w.table("integer", c.Name, from, to, fmt.Sprintf(` defaultValue="-1" mapMissingTo="%d"`, missing)))
	begins := whole(c.OtherCode())
	for i, text := range slices.Backward(prefixes) {
		pattern := `<Constant dataType="string">` + xmlText(prefixPattern(text)) + `</Constant>`
		begins = apply("if", apply("matches", reference(c.Name), pattern), whole(int(of[i])), begins)
	}
	return apply("if", apply("lessThan", listed, whole(0)), begins, listed), nil
}

func (w *pmmlWriter) codeNumber(c *inColumn, j int) string {
	cell := reference(c.Name)
	standIn := noValue
	if x, ok := c.coder.StandIn(); ok {
		standIn = constant(x)
	}
	bad := []string{apply("isMissing", cell), apply("greaterThan", cell, constant(math.MaxFloat64)),
		apply("lessThan", cell, constant(-math.MaxFloat64))}
	for _, x := range c.coder.MissingNumbers() {
		bad = append(bad, apply("equal", cell, constant(x)))
	}
	// One condition after the other: a missing cell is not compared.
	number, mark := clampPMML(c.Column, cell), whole(0)
	for k, x := range slices.Backward(c.Special) {
		is := apply("equal", cell, constant(x))
		number, mark = apply("if", is, standIn, number), apply("if", is, whole(k+1), mark)
	}
	missing := 0
	if c.Missing {
		missing = len(c.Special) + 1
	}
	for _, is := range slices.Backward(bad) {
		number, mark = apply("if", is, standIn, number), apply("if", is, whole(missing), mark)
	}
	if c.Marks() > 0 {
		w.marks[j] = w.define("integer", mark)
	}
	return number
}

func clampPMML(c *schema.Column, x string) string {
	return apply("max", constant(c.Lower), apply("min", x, constant(c.Upper)))
}

func (w *pmmlWriter) derive(c *schema.Column) string {
	var from []string
	for _, j := range c.From {
		from = append(from, reference(w.coded(j)))
	}
	all := plus(from)
	x := apply("/", all, constant(float64(len(from))))
	switch c.Derived {
	case schema.Largest:
		x = apply("max", from...)
	case schema.Smallest:
		x = apply("min", from...)
	}
	return apply("if", apply("isMissing", all), noValue, clampPMML(c, x))
}

// part computes a row's part of an axis.
func (w *pmmlWriter) part(a *axis) string {
	x := w.coded(a.column)
	if w.columns[a.column].Kind == schema.Category {
		if a.parts == nil {
			return x
		}
		var from, to []string
		for code, part := range a.parts {
			from, to = append(from, strconv.Itoa(code)), append(to, strconv.Itoa(part))
		}
		return w.table("integer", x, from, to, "")
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<Discretize field="%s" dataType="integer">`, xmlText(x))
	for k := range len(a.edges) + 1 {
		closure, margins := "openOpen", ""
		if k > 0 {
			closure, margins = "closedOpen", fmt.Sprintf(` leftMargin="%s"`, pmmlNumber(a.edges[k-1]))
		} else {
			margins = fmt.Sprintf(` leftMargin="%s"`, pmmlNumber(-math.MaxFloat64))
		}
		if k < len(a.edges) {
			margins += fmt.Sprintf(` rightMargin="%s"`, pmmlNumber(a.edges[k]))
		}
		fmt.Fprintf(&b, `<DiscretizeBin binValue="%d"><Interval closure="%s"%s/></DiscretizeBin>`, k, closure, margins)
	}
	part := w.define("integer", b.String()+"</Discretize>")
	if !a.marked {
		return part
	}
	mark := reference(w.marks[a.column])
	return w.define("integer", apply("if", apply("greaterThan", mark, whole(0)),
		apply("+", mark, whole(len(a.edges))), reference(part)))
}

// writeTables adds up the tables.
func (w *pmmlWriter) writeTables(s *tableSum) {
	w.method = "softmax"
	if len(s.start) == 1 {
		w.method = "logit"
	}
	for _, start := range s.start {
		w.sums = append(w.sums, pmmlSum{constant: start})
	}
	for k := range s.tables {
		var parts []string
		for i := range s.tables[k].axes {
			a := &s.tables[k].axes[i]
			parts = append(parts, apply("*", whole(a.stride), reference(w.part(a))))
		}
		place := w.define("integer", plus(parts))
		for class := range s.start {
			var steps []float64
			for _, row := range s.tables[k].steps {
				steps = append(steps, row[class])
			}
			w.sums[class].terms = append(w.sums[class].terms, pmmlTerm{w.pick(place, steps), 1})
		}
	}
}

// writeNumbers defines the features of the numbers of all spaces, as nameNumbers returns them.
func (w *pmmlWriter) writeNumbers() (features [][]string) {
	return w.nameNumbers(func(c *inColumn, j int) string {
		x, lower, upper := reference(w.coded(j)), c.Lower, c.Upper
		if c.Transform == schema.Log1p {
			x, lower, upper = apply("ln1p", x), math.Log1p(lower), math.Log1p(upper)
		}
		return w.define("double", apply("-", apply("/", apply("*", constant(2), apply("-", x, constant(lower))),
			constant(upper-lower)), constant(1)))
	})
}

// function makes a linear function of the features of a space.
func (w *pmmlWriter) function(features [][]string, space int, coef []float64, bias float64) pmmlSum {
	sp := w.spaces[space]
	sum := pmmlSum{constant: bias}
	for k, j := range sp.Columns {
		if name := features[space][k]; name != "" {
			at, _ := sp.Block(k)
			sum.terms = append(sum.terms, pmmlTerm{name, coef[at]})
			continue
		}
		by := w.byCode(space, k, func(at int, v float64) float64 { return coef[at] * v })
		sum.terms = append(sum.terms, pmmlTerm{w.pick(w.coded(j), by), 1})
	}
	return sum
}

// expression writes the sum as one expression.
func (s *pmmlSum) expression() string {
	terms := []string{constant(s.constant)}
	for _, t := range s.terms {
		terms = append(terms, apply("*", constant(t.times), reference(t.field)))
	}
	return plus(terms)
}

func (w *pmmlWriter) writeFunctions(l *linear) {
	features := w.writeNumbers()
	for k := range l.coef {
		w.sums = append(w.sums, w.function(features, l.space, l.coef[k], l.bias[k]))
	}
	if l.norm != 0 {
		factor := w.define("double", apply("min", constant(1),
			apply("/", constant(l.norm), apply("sqrt", w.length(features, l.space)))))
		for k := range w.sums {
			w.setSum(k, apply("*", w.sums[k].expression(), reference(factor)))
		}
	}
	if w.method = "logit"; l.link != "" {
		w.writeLink(l.link)
	}
}

// length computes the squared length of a row (features, 1).
func (w *pmmlWriter) length(features [][]string, space int) string {
	sp := w.spaces[space]
	terms := []string{constant(1)}
	for k, j := range sp.Columns {
		if name := features[space][k]; name != "" {
			terms = append(terms, apply("*", reference(name), reference(name)))
			continue
		}
		by := w.byCode(space, k, func(_ int, v float64) float64 { return v * v })
		terms = append(terms, reference(w.pick(w.coded(j), by)))
	}
	return plus(terms)
}

// setSum makes an expression the sum of class k.
func (w *pmmlWriter) setSum(k int, expression string) {
	w.sums[k] = pmmlSum{terms: []pmmlTerm{{w.define("double", expression), 1}}}
}

// threshold computes whether a threshold classifier answers positive; rint rounds halves to even.
func (w *pmmlWriter) threshold(features [][]string, space int, t *feature.Threshold) string {
	sp := w.spaces[space]
	one := constant(float64(sp.Fixed(1, 1)))
	terms := []string{constant(float64(sp.Fixed(t.Bias, 1)))}
	for k, j := range sp.Columns {
		if name := features[space][k]; name != "" {
			if at, _ := sp.Block(k); t.Coef[at] != 0 {
				product := apply("*", apply("*", constant(t.Coef[at]), reference(name)), one)
				terms = append(terms, apply("rint", product))
			}
			continue
		}
		if by := w.fixedTerms(space, k, t.Coef); by != nil {
			terms = append(terms, reference(w.pick(w.coded(j), by)))
		}
	}
	return apply("greaterOrEqual", plus(terms), constant(0))
}

func (w *pmmlWriter) writeVotes(v *model.Votes) {
	features := w.writeNumbers()
	var votes []string
	all := 0.0
	for i := range v.Members {
		m := &v.Members[i]
		all += math.Abs(m.Vote)
		votes = append(votes, reference(w.define("double",
			apply("if", w.threshold(features, m.Space, &m.Threshold), constant(m.Vote), constant(-m.Vote)))))
	}
	score := constant(0.5)
	if all != 0 {
		sum := reference(w.define("double", plus(votes)))
		share := apply("/", apply("+", apply("/", sum, constant(all)), constant(1)), constant(2))
		score = apply("if", apply("lessThan", sum, constant(0)),
			apply("min", share, constant(math.Nextafter(0.5, 0))), share)
	}
	w.method, w.sums = "none", make([]pmmlSum, 2)
	positive := w.m.Schema.Label.Positive
	w.setSum(positive, score)
	w.setSum(1-positive, apply("-", constant(1), reference(w.sums[positive].terms[0].field)))
}

func (w *pmmlWriter) writeBallots(b *model.Ballots) {
	features := w.writeNumbers()
	classes := w.m.Schema.Classes()
	sums := make([][]string, classes)
	for i := range b.Members {
		m := &b.Members[i]
		var ballot func(k int) string
		if m.Stump != nil {
			answer := reference(w.define("double", apply("if", w.threshold(features, m.Space, &m.Stump.Threshold),
				constant(1), constant(0))))
			ballot = func(k int) string {
				return apply("if", apply("equal", answer, constant(1)), constant(m.Weight*m.Stump.Yes[k]),
					constant(m.Weight*m.Stump.No[k]))
			}
		} else {
			var values []string
			for k := range m.Argmax.Bias {
				sum := w.function(features, m.Space, m.Argmax.Coef[k], m.Argmax.Bias[k])
				values = append(values, reference(w.define("double", sum.expression())))
			}
			first := reference(w.define("double", firstPMML(values, func(k int) string { return constant(float64(k)) })))
			ballot = func(k int) string {
				return apply("if", apply("equal", first, constant(float64(k))), constant(m.Weight), constant(0))
			}
		}
		for k := range sums {
			sums[k] = append(sums[k], ballot(k))
		}
	}
	w.sums = make([]pmmlSum, classes)
	for k := range sums {
		w.setSum(k, plus(sums[k]))
	}
	w.writeLink(b.Link)
}

// firstPMML returns is(k) for the first k with the largest value.
func firstPMML(values []string, is func(k int) string) string {
	out := is(len(values) - 1)
	for k := len(values) - 2; k >= 0; k-- {
		out = apply("if", apply("equal", values[k], apply("max", values...)), is(k), out)
	}
	return out
}

// writeLink declares how the sums are converted to scores.
func (w *pmmlWriter) writeLink(l model.Link) {
	w.method = "softmax"
	switch l {
	case model.OneVersusRest: // the logarithms of logistic functions
		for k := range w.sums {
			z := reference(w.define("double", w.sums[k].expression()))
			w.setSum(k, apply("-", apply("min", z, constant(0)),
				apply("ln1p", apply("exp", apply("-", constant(0), apply("abs", z))))))
		}
	case model.Share:
		w.method = "none"
		var all []string
		for k := range w.sums {
			all = append(all, reference(w.define("double", w.sums[k].expression())))
		}
		total := reference(w.define("double", plus(all)))
		for k := range w.sums {
			w.setSum(k, apply("if", apply("equal", total, constant(0)), constant(1/float64(len(all))),
				apply("/", all[k], total)))
		}
	}
}

// writeDocument puts the parts together.
func (w *pmmlWriter) writeDocument() []byte {
	var b bytes.Buffer
	label, names := &w.m.Schema.Label, classNames(w.m)
	b.WriteString(xml.Header + `<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4">` + "\n")
	fmt.Fprintf(&b, "<Header description=\"%s\"><Application name=\"discreet\"/></Header>\n<DataDictionary>\n",
		xmlText(strings.TrimSpace(w.m.Privacy.Card())))
	var fields strings.Builder
	for _, c := range w.columns {
		if c == nil || c.coder == nil {
			continue
		}
		kind, empty := `"continuous" dataType="double"`, ""
		if c.Kind == schema.Category {
			kind = `"categorical" dataType="string"`
			if texts, _ := c.coder.Spellings(); slices.Contains(texts, "") {
				empty = `<Value value="" property="missing"/>`
			}
		}
		fmt.Fprintf(&b, "<DataField name=\"%s\" optype=%s>%s</DataField>\n", xmlText(c.Name), kind, empty)
		fmt.Fprintf(&fields, "<MiningField name=\"%s\" invalidValueTreatment=\"asIs\"/>\n", xmlText(c.Name))
	}
	target := xmlText(label.Name)
	fmt.Fprintf(&b, "<DataField name=\"%s\" optype=\"categorical\" dataType=\"string\">", target)
	for _, name := range names {
		fmt.Fprintf(&b, "<Value value=\"%s\"/>", xmlText(name))
	}
	fmt.Fprintf(&b, "</DataField>\n</DataDictionary>\n<TransformationDictionary>\n")
	readable := w.writeReadable()
	b.Write(w.derived.Bytes())
	fmt.Fprintf(&b, "</TransformationDictionary>\n<RegressionModel functionName=\"classification\" "+
		"normalizationMethod=\"%s\">\n<MiningSchema>\n%s<MiningField name=\"%s\" usageType=\"target\"/>\n</MiningSchema>\n",
		w.method, fields.String(), target)
	w.writeScores(&b, names)
	order := []int{}
	for k := range names {
		order = append(order, k)
	}
	sums := w.sums
	if w.method == "logit" { // the first table is the one that counts
		order = []int{label.Positive, 1 - label.Positive}
		sums = make([]pmmlSum, 2)
		sums[label.Positive] = w.sums[0]
	}
	for _, k := range order {
		fmt.Fprintf(&b, "<RegressionTable intercept=\"%s\" targetCategory=\"%s\">\n", pmmlNumber(sums[k].constant),
			xmlText(names[k]))
		for _, t := range append(slices.Clone(sums[k].terms), readable...) {
			fmt.Fprintf(&b, "<NumericPredictor name=\"%s\" coefficient=\"%s\"/>\n", xmlText(t.field), pmmlNumber(t.times))
		}
		b.WriteString("</RegressionTable>\n")
	}
	b.WriteString("</RegressionModel>\n</PMML>\n")
	return b.Bytes()
}

// writeReadable returns a term of 0, which is missing for a row with an unreadable cell.
func (w *pmmlWriter) writeReadable() []pmmlTerm {
	var zeros []string
	for j, c := range w.columns {
		if c == nil || c.coder == nil || c.Kind != schema.Number {
			continue
		}
		if _, ok := c.coder.StandIn(); !ok {
			zeros = append(zeros, apply("*", constant(0), reference(w.coded(j))))
		}
	}
	if zeros == nil {
		return nil
	}
	return []pmmlTerm{{w.define("double", plus(zeros)), 1}}
}

// writeScores names the outputs.
func (w *pmmlWriter) writeScores(b *bytes.Buffer, names []string) {
	free := func(name string) string {
		out := name
		for n := 2; w.columnOf(out) >= 0 || out == w.m.Schema.Label.Name; n++ {
			out = fmt.Sprintf("%s_%d", name, n)
		}
		return out
	}
	var scores []string
	b.WriteString("<Output>\n")
	for k := range names {
		name := "score_" + strconv.Itoa(k+1)
		if w.m.Width() == 1 {
			if k != w.m.Schema.Label.Positive {
				continue
			}
			name = "score"
		}
		scores = append(scores, reference(free(name)))
		fmt.Fprintf(b, "<OutputField name=\"%s\" optype=\"continuous\" dataType=\"double\" feature=\"probability\" "+
			"value=\"%s\"/>\n", xmlText(free(name)), xmlText(names[k]))
	}
	text := func(k int) string { return `<Constant dataType="string">` + xmlText(names[k]) + `</Constant>` }
	var label string
	if len(scores) == 1 {
		positive := w.m.Schema.Label.Positive
		label = apply("if", apply("greaterOrEqual", scores[0], constant(w.m.Threshold())), text(positive), text(1-positive))
	} else {
		label = firstPMML(scores, text)
	}
	fmt.Fprintf(b, "<OutputField name=\"%s\" optype=\"categorical\" dataType=\"string\" feature=\"transformedValue\">%s"+
		"</OutputField>\n</Output>\n", xmlText(free("label")), apply("if", apply("isMissing", scores[0]), noValue, label))
}
