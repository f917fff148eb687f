// SPDX-License-Identifier: Apache-2.0

//go:build !js

package explain

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

var (
	//go:embed page.html.tmpl
	layout string
	//go:embed multiclass.html.tmpl
	multiclassLayout string
	//go:embed tables.html.tmpl
	tablesLayout string
	//go:embed page.css
	style string

	page = template.Must(template.New("page").Funcs(template.FuncMap{
		"nats": formatNats, "factor": oddsFactor, "size": formatSize, "brief": briefNumber, "at": coordinateText,
		"percent": percentText, "words": Cut.String,
		"breakable": breakableName,
		"heat": func(f classFigure, rows []classRow, starts []Start) map[string]any {
			return map[string]any{"Figure": f, "Rows": rows, "Starts": starts}
		},
	}).Parse(layout + multiclassLayout + tablesLayout))
)

// WriteHTML writes the explanation as one page. Equal explanations have equal
// bytes.
func (e *Explanation) WriteHTML(w io.Writer) error {
	v := view{Explanation: e, Style: template.CSS(style), Card: e.privacy.Card(), Start: e.describeStart(),
		Chance:  chanceText(e.Intercept),
		Private: e.privacy.Scope != dp.Nothing, Sources: [2]string{e.describeSource(true, ""), e.describeSource(false, "")}}
	if len(e.Shapes) > 0 {
		s := scaleOf(e.Shapes)
		for i := range e.Shapes {
			sh := &e.Shapes[i]
			f := figure{Shape: sh, ID: "column-" + strconv.Itoa(i+1), Drawing: drawShape(sh, &e.columns[i], s)}
			for _, b := range sh.Bins {
				f.Banded = f.Banded || b.Deviation > 0
			}
			v.Banded = v.Banded || f.Banded
			f.Source = e.describeSource(sh.Protected, string(sh.Role))
			v.Figures = append(v.Figures, f)
		}
	}
	v.UseRanks, v.TableFigures = e.rankUses(), e.tableFigures()
	v.ClassFigures = e.classFigures()
	for _, f := range v.ClassFigures {
		v.Banded = v.Banded || f.Banded
	}
	e.addPairFigures(&v)
	var b bytes.Buffer
	if err := page.Execute(&b, &v); err != nil {
		return fmt.Errorf("explain: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("explain: write page: %w", err)
	}
	return nil
}

// breakableName allows line breaks in a long name between its words.
func breakableName(name string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(name), "_", "_<wbr>"))
}

// view is the data of the page's template.
type view struct {
	*Explanation
	Style   template.CSS
	Card    string
	Start   string
	Chance  string
	Private bool      // the model has a guarantee
	Banded  bool      // some figure has a band
	Lined   bool      // of some column it is known how important it would seem without an effect
	Sources [2]string // of steps of protected columns and of others
	Figures []figure
	Heats   []heatFigure
	Ranks   []rank

	ClassFigures []classFigure
	UseRanks     []useRank
	TableFigures []tableFigure
}

// rank is a line in the list of importance.
type rank struct {
	ID, Name       string
	Importance     float64
	Noise, Noise95 float64 // as in Shape
	Share          float64 // in percent of the largest importance
	Largest        float64 // the step with the largest absolute value
	Protected      bool
}

// heatFigure is the figure of a pair on the page.
type heatFigure struct {
	*Pair
	ID      string
	Source  string
	Drawing *heat
	Banded  bool
}

// addPairFigures adds the figures of pairs, and the list of importance of all terms.
func (e *Explanation) addPairFigures(v *view) {
	for i := range v.Figures {
		f := &v.Figures[i]
		v.Ranks = append(v.Ranks, rank{ID: f.ID, Name: f.Column, Importance: f.Importance, Noise: f.Noise, Noise95: f.Noise95,
			Largest: largestStep(f.Shape), Protected: f.Protected})
		v.Lined = v.Lined || f.Noise95 > 0
	}
	most := strongestStep(e.Pairs)
	for i := range e.Pairs {
		p := &e.Pairs[i]
		f := heatFigure{Pair: p, ID: "pair-" + strconv.Itoa(i+1), Drawing: drawPair(p, most)}
		far := 0.0
		for _, row := range p.Cells {
			for _, c := range row {
				f.Banded = f.Banded || c.Deviation > 0
				if math.Abs(c.LogOdds) > math.Abs(far) {
					far = c.LogOdds
				}
			}
		}
		f.Source = e.describeSource(p.Protected, "")
		v.Heats = append(v.Heats, f)
		v.Ranks = append(v.Ranks, rank{ID: f.ID, Name: p.Name(), Importance: p.Importance, Largest: far,
			Protected: p.Protected})
	}
	slices.SortStableFunc(v.Ranks, func(a, b rank) int { return cmp.Compare(b.Importance, a.Importance) })
	for i := range v.Ranks {
		if v.Ranks[0].Importance > 0 {
			v.Ranks[i].Share = 100 * v.Ranks[i].Importance / v.Ranks[0].Importance
		}
	}
}

// figure is the figure of a shape on the page.
type figure struct {
	*Shape
	ID      string
	Source  string
	Drawing *drawing
	Banded  bool
}

// describeStart describes the source of the intercept.
func (e *Explanation) describeStart() string {
	switch {
	case e.privacy.Scope != dp.Nothing && len(e.Shapes)+len(e.Pairs)+len(e.ClassShapes) == 0:
		return "The model does not say how far noise moved it."
	case e.privacy.Scope == dp.Nothing:
		return "Nothing protects it."
	case e.privacy.Scope == dp.PrivateFeatures:
		return "It was fitted to public columns and public labels, so it cost nothing. With the steps of public columns " +
			"it is the public offset that the private columns correct."
	}
	return "It comes from noisy counts of the labels. The model does not say how far noise moved it."
}

// describeSource describes the source of a shape.
func (e *Explanation) describeSource(protected bool, role string) string {
	switch {
	case e.privacy.Scope == dp.Nothing:
		return strings.TrimPrefix(role+", not protected", ", ")
	case protected:
		return "protected, from noisy measurements"
	case e.privacy.Scope == dp.PrivateFeatures:
		return "public, part of the public offset, free"
	case e.privacy.Scope == dp.WholeRow:
		return "" // all are protected
	}
	return "public, but from noisy measurements, because the label is protected"
}

func largestStep(sh *Shape) (z float64) {
	for _, b := range sh.Bins {
		if math.Abs(b.LogOdds) > math.Abs(z) {
			z = b.LogOdds
		}
	}
	return z
}

// formatNats formats log-odds with three decimals and a sign.
func formatNats(z float64) string {
	text := strconv.FormatFloat(z, 'f', 3, 64)
	if text == "0.000" || text == "-0.000" {
		return "0.000"
	}
	if z > 0 {
		return "+" + text
	}
	return minusSign(text)
}

func formatSize(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }

// oddsFactor formats the factor by which the odds are multiplied.
func oddsFactor(z float64) string {
	x := math.Exp(z)
	if x >= 0.01 && x < 1000 {
		return "×\u00a0" + strings.TrimSuffix(strconv.FormatFloat(x, 'f', 2, 64), ".00")
	}
	return "×\u00a0" + minusSign(strconv.FormatFloat(x, 'g', 3, 64))
}

// chanceText formats log-odds as a probability in percent.
func chanceText(z float64) string { return percentText(1 / (1 + math.Exp(-z))) }

func percentText(p float64) string { return strconv.FormatFloat(100*p, 'f', 1, 64) + "\u00a0%" }
