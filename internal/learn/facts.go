// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"encoding/json"
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Words returns the line for readers; words names the step that would complete the fact.
func (f *Fact) Words(words func(dp.Step) string) string {
	if f.Next.Kind == dp.NoStep {
		return f.Text
	}
	return f.Text + ": " + words(f.Next)
}

// Facts collects the lines of a plan, in reading order.
type Facts []Fact

// Add adds a line, with its text as for Sprintf.
func (f *Facts) Add(key string, value any, format string, args ...any) {
	*f = append(*f, Fact{Key: key, Value: value, Text: fmt.Sprintf(format, args...)})
}

// AddScope adds what a training with these terms protects, and between which tables. more is added to
// the line if anything is protected.
func (f *Facts) AddScope(s *schema.Schema, t guard.Terms, more string) {
	if t.NotPrivate {
		f.Add("protects", string(dp.Nothing), "NOT PRIVATE: no noise is added, nothing is protected")
		return
	}
	f.Add("protects", string(t.Scope), "protects %s of %s (%s)%s", t.Scope.Words(), s.Unit, s.Neighbours(), more)
}

// AddColumns adds the number of columns by role. alike reports whether public columns cost what private
// ones do; the line says why.
func (f *Facts) AddColumns(s *schema.Schema, alike bool) {
	private, public := len(s.ByRole(schema.Private)), len(s.ByRole(schema.Public))
	text := fmt.Sprintf("%d private and %s", private, plaintext.Count(public, "public column"))
	switch {
	case !alike || public == 0:
	case s.Relation == dp.AddRemove:
		text += "; public ones are treated as private, because add-remove hides whether a row is in the table"
	case s.Label.Role == schema.Private:
		text += "; public ones are treated as private, because the label is private and a fit to them would show it"
	}
	f.Add("columns", map[string]int{"private": private, "public": public}, "%s", text)
}

// AddRows adds the number of rows, or of persons, that the rules assume; assumed if none was given.
func (f *Facts) AddRows(s *schema.Schema, rows int, assumed bool) {
	unit, why := "row", ""
	if s.Person != nil {
		unit = "person"
	}
	switch {
	case assumed && s.Relation == dp.AddRemove:
		why = ", since the number of " + unit + "s is private and none was declared"
	case assumed:
		why = ", since none were given"
	}
	f.Add("rows", rows, "assumes %s%s", plaintext.Count(rows, unit), why)
}

// AddPrice adds the price of so many releases; none if nothing is private. spared says that a δ was
// given and does not help.
func (f *Facts) AddPrice(price dp.Price, releases int, spared bool) {
	if price.Epsilon == 0 {
		*f = append(*f, Fact{Key: "epsilon", Value: "inf"}) // the scope says that nothing is protected
		return
	}
	f.Add("epsilon", price.Epsilon.Float(), "price ε = %s in %s", price.Epsilon, plaintext.Count(releases, "release"))
	if price.Delta > 0 {
		f.Add("delta", json.Number(price.Delta.String()), "and δ = %s: Gaussian noise, all releases accounted jointly",
			price.Delta)
	} else if spared {
		f.Add("delta", 0, "no δ is spent: Laplace noise is smaller here, and its guarantee is pure")
	}
}
