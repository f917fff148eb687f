// SPDX-License-Identifier: Apache-2.0

package export

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// maxSQL is the largest length of a query in bytes: database systems need minutes to plan longer ones.
const maxSQL = 8 << 20

// SQL writes the model as one SELECT for PostgreSQL and DuckDB. It scores the rows of a table called
// input, which has a column id and the model's columns: numbers of any numeric type, and texts. NULL
// is missing. The columns of the result are id, label, and score or, for more than two classes,
// score_1, score_2, ... in the order of the schema. A row with a cell that a public column cannot hold
// has NULL for both.
//
// Each step is a subquery with OFFSET 0, which prevents PostgreSQL from inlining the expressions of
// one step into the next, since their number would multiply.
func SQL(m *model.Model) ([]byte, error) {
	p, err := takeApart(m)
	if err != nil {
		return nil, err
	}
	if err := p.refuseDates(); err != nil {
		return nil, err
	}
	w := &sqlWriter{program: p}
	w.writeCells()
	switch {
	case p.sum != nil:
		w.writeTables(p.sum)
	case p.linear != nil:
		w.writeFunctions(p.linear)
	case p.votes != nil:
		w.writeVotes(p.votes)
	default:
		if err := w.writeBallots(p.ballots); err != nil {
			return nil, err
		}
	}
	file := w.writeQuery()
	if len(file) > maxSQL {
		return nil, &dp.ParamError{Op: "export", Param: "format",
			Want: fmt.Sprintf("must be another one for this model, whose query would have more than %d bytes", maxSQL),
			Got:  "sql"}
	}
	return file, nil
}

// sqlWriter writes steps. Each step is a list of named expressions, which use the names of the steps
// before.
type sqlWriter struct {
	*program
	steps [][]string
	named int
}

// begin begins a step.
func (w *sqlWriter) begin() { w.steps = append(w.steps, nil) }

// set adds a named expression to the current step.
func (w *sqlWriter) set(name, expression string) string {
	at := len(w.steps) - 1
	w.steps[at] = append(w.steps[at], expression+" AS "+name)
	return name
}

// newName returns a name that no step uses.
func (w *sqlWriter) newName(what string) string {
	w.named++
	return what + strconv.Itoa(w.named)
}

// sqlNumber formats a number so that both systems read it exactly. DuckDB reads it as a double, not a
// decimal fraction, because it has an exponent.
func sqlNumber(x float64) string {
	text := strconv.FormatFloat(x, 'e', -1, 64)
	if x < 0 {
		return "(" + text + ")"
	}
	return text
}

func sqlDouble(expression string) string { return "CAST(" + expression + " AS DOUBLE PRECISION)" }

func sqlText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func sqlName(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// pick selects the element of a list at an index from 0.
func pick(list []float64, index string) string {
	var b strings.Builder
	b.WriteString("(ARRAY[" + sqlDouble(sqlNumber(list[0])))
	for _, x := range list[1:] {
		b.WriteString(", " + sqlNumber(x))
	}
	b.WriteString("])[1 + " + index + "]")
	return b.String()
}

func cellName(j int) string { return "cell_" + strconv.Itoa(j) }
func markName(j int) string { return "mark_" + strconv.Itoa(j) }
func coded(j int) string    { return "coded_" + strconv.Itoa(j) }

// writeCells codes the cells: cell_J is a number within its bounds, or a code.
func (w *sqlWriter) writeCells() {
	w.begin()
	w.set("id", "id")
	for j, c := range w.columns {
		if c != nil && c.coder != nil {
			name := sqlName(c.Name)
			if c.Kind == schema.Number {
				name = sqlDouble(name)
			} else {
				name = "CAST(" + name + " AS VARCHAR)"
			}
			w.set(cellName(j), name)
		}
	}
	w.begin()
	for j, c := range w.columns {
		switch {
		case c == nil || c.coder == nil:
		case c.Kind == schema.Category:
			w.set(coded(j), w.codeCategory(c, cellName(j)))
		default:
			w.codeNumber(c, j)
		}
	}
	w.begin()
	for j, c := range w.columns {
		if c != nil && c.coder == nil {
			w.set(coded(j), w.derive(c.Column))
		}
	}
}

func (w *sqlWriter) codeCategory(c *inColumn, cell string) string {
	var b strings.Builder
	missing := c.MissingCode()
	fmt.Fprintf(&b, "CASE WHEN %s IS NULL THEN %d", cell, missing)
	texts, codes := c.coder.Spellings()
	for k, text := range texts {
		fmt.Fprintf(&b, " WHEN %s = %s THEN %d", cell, sqlText(text), codes[k])
	}
	texts, codes = c.coder.Prefixes()
	for k, text := range texts {
		fmt.Fprintf(&b, " WHEN STARTS_WITH(%s, %s) THEN %d", cell, sqlText(text), codes[k])
	}
	fmt.Fprintf(&b, " ELSE %d END", c.OtherCode())
	return b.String()
}

func (w *sqlWriter) codeNumber(c *inColumn, j int) {
	cell := cellName(j)
	bad := cell + " IS NULL"
	for _, x := range []string{"NaN", "Infinity", "-Infinity"} {
		bad += " OR " + cell + " = " + sqlDouble("'"+x+"'")
	}
	for _, x := range c.coder.MissingNumbers() {
		bad += " OR " + cell + " = " + sqlNumber(x)
	}
	standIn := "NULL"
	if x, ok := c.coder.StandIn(); ok {
		standIn = sqlNumber(x)
	}
	special := ""
	marks := ""
	for k, x := range c.Special {
		special += fmt.Sprintf(" WHEN %s = %s THEN %s", cell, sqlNumber(x), standIn)
		marks += fmt.Sprintf(" WHEN %s = %s THEN %d", cell, sqlNumber(x), k+1)
	}
	w.set(coded(j), sqlDouble("CASE WHEN "+bad+" THEN "+standIn+special+" ELSE "+clampSQL(c.Column, cell)+" END"))
	if c.Marks() > 0 {
		missing := 0
		if c.Missing {
			missing = len(c.Special) + 1
		}
		w.set(markName(j), fmt.Sprintf("CASE WHEN %s THEN %d%s ELSE 0 END", bad, missing, marks))
	}
}

func clampSQL(c *schema.Column, x string) string {
	return "GREATEST(" + sqlNumber(c.Lower) + ", LEAST(" + x + ", " + sqlNumber(c.Upper) + "))"
}

func (w *sqlWriter) derive(c *schema.Column) string {
	var from, bad []string
	for _, j := range c.From {
		from, bad = append(from, coded(j)), append(bad, coded(j)+" IS NULL")
	}
	x := ""
	switch c.Derived {
	case schema.Largest:
		x = "GREATEST(" + strings.Join(from, ", ") + ")"
	case schema.Smallest:
		x = "LEAST(" + strings.Join(from, ", ") + ")"
	default:
		x = "(" + strings.Join(from, " + ") + ") / " + sqlNumber(float64(len(from)))
	}
	return sqlDouble("CASE WHEN " + strings.Join(bad, " OR ") + " THEN NULL ELSE " + clampSQL(c, x) + " END")
}

// part computes a row's part of an axis.
func (w *sqlWriter) part(a *axis) string {
	x := coded(a.column)
	if w.columns[a.column].Kind == schema.Category {
		if a.parts == nil {
			return x
		}
		var b strings.Builder
		b.WriteString("CASE " + x)
		for code, part := range a.parts {
			fmt.Fprintf(&b, " WHEN %d THEN %d", code, part)
		}
		return b.String() + " END"
	}
	var b strings.Builder
	b.WriteString("CASE WHEN " + x + " IS NULL THEN NULL")
	if a.marked {
		fmt.Fprintf(&b, " WHEN %s > 0 THEN %d + %s", markName(a.column), len(a.edges), markName(a.column))
	}
	for k, e := range a.edges {
		fmt.Fprintf(&b, " WHEN %s < %s THEN %d", x, sqlNumber(e), k)
	}
	fmt.Fprintf(&b, " ELSE %d END", len(a.edges))
	return b.String()
}

// writeTables adds up the tables.
func (w *sqlWriter) writeTables(s *tableSum) {
	w.begin()
	var places []string
	for k := range s.tables {
		var parts []string
		for i := range s.tables[k].axes {
			a := &s.tables[k].axes[i]
			parts = append(parts, fmt.Sprintf("%d * %s", a.stride, w.part(a)))
		}
		places = append(places, w.set(w.newName("place_"), strings.Join(parts, " + ")))
	}
	w.begin()
	var sums []string
	for class, start := range s.start {
		terms := []string{sqlDouble(sqlNumber(start))}
		for k := range s.tables {
			var steps []float64
			for _, row := range s.tables[k].steps {
				steps = append(steps, row[class])
			}
			terms = append(terms, pick(steps, places[k]))
		}
		sums = append(sums, w.set(w.newName("sum_"), strings.Join(terms, " + ")))
	}
	if len(sums) == 1 {
		w.writeScores(sigmoid(sums[0]))
		return
	}
	w.writeLink(model.Softmax, sums)
}

// sigmoid computes the logistic function. It keeps the argument of EXP within the range in which
// PostgreSQL does not fail.
func sigmoid(z string) string { return "1e0 / (1e0 + EXP(LEAST(-(" + z + "), 7e2)))" }

// writeNumbers defines the features of the numbers of all spaces, as nameNumbers returns them.
func (w *sqlWriter) writeNumbers() (features [][]string) {
	w.begin()
	return w.nameNumbers(func(c *inColumn, j int) string {
		x, lower, upper := coded(j), c.Lower, c.Upper
		if c.Transform == schema.Log1p {
			lower, upper = math.Log1p(lower), math.Log1p(upper)
			u := "(1e0 + " + x + ")"
			x = fmt.Sprintf("(CASE WHEN %s = 1e0 THEN %s ELSE %s * LN(%s) / (%s - 1e0) END)", u, x, x, u, u)
		}
		return w.set(w.newName("feature_"), fmt.Sprintf("2e0 * (%s - %s) / %s - 1e0", x, sqlNumber(lower),
			sqlDouble(sqlNumber(upper-lower))))
	})
}

// function makes a linear function of the features of a space. It adds terms in the same order as the
// model.
func (w *sqlWriter) function(features [][]string, space int, coef []float64, bias float64) string {
	sp := w.spaces[space]
	terms := []string{sqlDouble(sqlNumber(bias))}
	for k, j := range sp.Columns {
		if name := features[space][k]; name != "" {
			at, _ := sp.Block(k)
			terms = append(terms, sqlNumber(coef[at])+" * "+name)
			continue
		}
		by := w.byCode(space, k, func(at int, v float64) float64 { return coef[at] * v })
		terms = append(terms, pick(by, coded(j)))
	}
	return strings.Join(terms, " + ")
}

func (w *sqlWriter) writeFunctions(l *linear) {
	features := w.writeNumbers()
	w.begin()
	factor := ""
	if l.norm != 0 {
		factor = w.set("factor", "LEAST(1e0, "+sqlNumber(l.norm)+" / SQRT("+w.length(features, l.space)+"))")
	}
	var sums []string
	for k := range l.coef {
		sums = append(sums, w.set(w.newName("sum_"), w.function(features, l.space, l.coef[k], l.bias[k])))
	}
	if factor != "" {
		w.begin()
		for k, z := range sums {
			sums[k] = w.set(w.newName("sum_"), z+" * "+factor)
		}
	}
	if l.link == "" {
		w.writeScores(sigmoid(sums[0]))
		return
	}
	w.writeLink(l.link, sums)
}

// length computes the squared length of a row (features, 1).
func (w *sqlWriter) length(features [][]string, space int) string {
	sp := w.spaces[space]
	terms := []string{"1e0"}
	for k, j := range sp.Columns {
		if name := features[space][k]; name != "" {
			terms = append(terms, name+" * "+name)
			continue
		}
		by := w.byCode(space, k, func(_ int, v float64) float64 { return v * v })
		terms = append(terms, pick(by, coded(j)))
	}
	return strings.Join(terms, " + ")
}

// threshold computes whether a threshold classifier answers positive. Adding and subtracting a large
// number rounds to a whole number, halves to even.
func (w *sqlWriter) threshold(features [][]string, space int, t *feature.Threshold) string {
	sp := w.spaces[space]
	one, round := sqlNumber(float64(sp.Fixed(1, 1))), sqlNumber(3<<51)
	terms := []string{sqlDouble(sqlNumber(float64(sp.Fixed(t.Bias, 1))))}
	for k, j := range sp.Columns {
		if name := features[space][k]; name != "" {
			if at, _ := sp.Block(k); t.Coef[at] != 0 {
				terms = append(terms, fmt.Sprintf("(%s * %s * %s + %s - %s)", sqlNumber(t.Coef[at]), name, one, round, round))
			}
			continue
		}
		if by := w.fixedTerms(space, k, t.Coef); by != nil {
			terms = append(terms, pick(by, coded(j)))
		}
	}
	return strings.Join(terms, " + ") + " >= 0"
}

func (w *sqlWriter) writeVotes(v *model.Votes) {
	features := w.writeNumbers()
	w.begin()
	var votes []string
	all := 0.0
	for i := range v.Members {
		m := &v.Members[i]
		all += math.Abs(m.Vote)
		votes = append(votes, w.set(w.newName("vote_"), fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END",
			w.threshold(features, m.Space, &m.Threshold), sqlDouble(sqlNumber(m.Vote)), sqlNumber(-m.Vote))))
	}
	if all == 0 {
		w.writeScores(sqlDouble("5e-1"))
		return
	}
	w.begin()
	sum := w.set("sum_", strings.Join(votes, " + "))
	share := "(1e0 + " + sum + " / " + sqlNumber(all) + ") / 2e0"
	w.writeScores(fmt.Sprintf("CASE WHEN %s < 0e0 AND %s >= 5e-1 THEN %s ELSE %s END", sum, share,
		sqlNumber(math.Nextafter(0.5, 0)), share))
}

func (w *sqlWriter) writeBallots(b *model.Ballots) error {
	features := w.writeNumbers()
	w.begin()
	answers, sums := make([]string, len(b.Members)), make([][]string, len(b.Members))
	size := 0
	for i := range b.Members {
		m := &b.Members[i]
		if m.Stump != nil {
			answers[i] = w.set(w.newName("answer_"), w.threshold(features, m.Space, &m.Stump.Threshold))
			continue
		}
		for k := range m.Argmax.Bias {
			text := w.function(features, m.Space, m.Argmax.Coef[k], m.Argmax.Bias[k])
			if size += len(text); size > maxSQL {
				return &dp.ParamError{Op: "export", Param: "format",
					Want: "must be another one for this model, whose query would be too long", Got: "sql"}
			}
			sums[i] = append(sums[i], w.set(w.newName("function_"), text))
		}
	}
	w.begin()
	for i := range b.Members {
		if sums[i] != nil {
			answers[i] = w.set(w.newName("answer_"), first(sums[i], func(k int) string { return strconv.Itoa(k) }))
		}
	}
	w.begin()
	var out []string
	for k := range w.m.Schema.Classes() {
		var terms []string
		for i := range b.Members {
			m := &b.Members[i]
			test, yes, no := fmt.Sprintf("%s = %d", answers[i], k), m.Weight, 0.0
			if m.Stump != nil {
				test, yes, no = answers[i], m.Weight*m.Stump.Yes[k], m.Weight*m.Stump.No[k]
			}
			terms = append(terms, fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", test, sqlDouble(sqlNumber(yes)),
				sqlNumber(no)))
		}
		out = append(out, w.set(w.newName("sum_"), strings.Join(terms, " + ")))
	}
	w.writeLink(b.Link, out)
	return nil
}

// first returns is(k) for the first k with the largest value.
func first(values []string, is func(k int) string) string {
	if len(values) == 1 {
		return is(0)
	}
	var b strings.Builder
	b.WriteString("CASE GREATEST(" + strings.Join(values, ", ") + ")")
	for k, v := range values {
		b.WriteString(" WHEN " + v + " THEN " + is(k))
	}
	return b.String() + " END"
}

// writeLink converts one sum per class to scores.
func (w *sqlWriter) writeLink(l model.Link, sums []string) {
	if l == model.OneVersusRest {
		w.begin()
		for k, z := range sums {
			sums[k] = w.set(w.newName("sum_"),
				fmt.Sprintf("LEAST(%s, 0e0) - LN(1e0 + EXP(GREATEST(-ABS(%s), (-7e2))))", z, z))
		}
	}
	if l != model.Share {
		w.begin()
		most := w.set("most", "GREATEST("+strings.Join(sums, ", ")+")")
		w.begin()
		for k, z := range sums {
			sums[k] = w.set(w.newName("odds_"), fmt.Sprintf("EXP(GREATEST(%s - %s, (-7e2)))", z, most))
		}
	}
	w.begin()
	all := w.set("total", strings.Join(sums, " + "))
	var scores []string
	for _, z := range sums {
		scores = append(scores, fmt.Sprintf("CASE WHEN %s = 0 THEN %s ELSE %s / %s END", all,
			sqlDouble(sqlNumber(1/float64(len(sums)))), z, all))
	}
	if w.m.Width() == 1 {
		scores = scores[w.m.Schema.Label.Positive:][:1]
	}
	w.writeScores(scores...)
}

// writeScores names the scores, which are NULL for a row that cannot be read.
func (w *sqlWriter) writeScores(scores ...string) {
	var bad []string
	for j, c := range w.columns {
		if c != nil && c.coder != nil && c.Kind == schema.Number {
			if _, ok := c.coder.StandIn(); !ok {
				bad = append(bad, coded(j)+" IS NULL")
			}
		}
	}
	w.begin()
	for k, score := range scores {
		if bad != nil {
			score = "CASE WHEN " + strings.Join(bad, " OR ") + " THEN NULL ELSE " + score + " END"
		}
		name := "score"
		if len(scores) > 1 {
			name = "score_" + strconv.Itoa(k+1)
		}
		w.set(name, score)
	}
}

func (w *sqlWriter) writeQuery() []byte {
	names := classNames(w.m)
	scores, label := []string{"score"}, ""
	if width := w.m.Width(); width > 1 {
		scores = nil
		for k := range width {
			scores = append(scores, "score_"+strconv.Itoa(k+1))
		}
		label = first(scores, func(k int) string { return sqlText(names[k]) })
	} else {
		positive := w.m.Schema.Label.Positive
		label = fmt.Sprintf("CASE WHEN score IS NULL THEN NULL WHEN score >= %s THEN %s ELSE %s END",
			sqlNumber(w.m.Threshold()), sqlText(names[positive]), sqlText(names[1-positive]))
	}
	var b bytes.Buffer
	for _, line := range strings.Split(strings.TrimSpace(w.m.Privacy.Card()), "\n") {
		fmt.Fprintf(&b, "-- %s\n", line)
	}
	from := "input"
	var query string
	for k, step := range w.steps {
		if len(step) == 0 {
			continue
		}
		all := "*, "
		if k == 0 {
			all = ""
		}
		query = "SELECT " + all + strings.Join(step, ",\n  ") + "\nFROM " + from + " OFFSET 0"
		from = "(\n" + query + "\n) AS step_" + strconv.Itoa(k)
	}
	fmt.Fprintf(&b, "SELECT id, %s AS label, %s\nFROM %s;\n", label, strings.Join(scores, ", "), from)
	return b.Bytes()
}
