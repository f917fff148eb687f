// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Why a field may be in a model file. Anything that was computed from private
// cells must be paid for by the bill; everything else must be known without
// them.
const (
	format   = "of the format, says nothing about data"
	choice   = "a public choice of whoever trained"
	declared = "declared in the schema before anybody looked at data"
	price    = "what the training cost, settled before data were read"
	random   = "drawn without looking at data, or fitted to public columns and paid-for weights"
	paid     = "released by a mechanism that the bill lists, or computed from such releases"
)

// allowed is every JSON path that a model file may contain. A new path fails
// TestModelHoldsOnlyAllowedFields until someone adds it here with its reason;
// "it is useful" is not one.
var allowed = map[string]string{
	"discreet_model": format,
	"bytes":          format,
	"sha256":         format,
	"body":           format,

	"body.learner":                    choice,
	"body.privacy":                    format,
	"body.privacy.scope":              price,
	"body.privacy.relation":           declared,
	"body.privacy.unit":               declared,
	"body.privacy.epsilon":            price,
	"body.privacy.epsilon_nano":       price,
	"body.privacy.delta":              price,
	"body.privacy.delta_femto":        price,
	"body.privacy.statement":          price,
	"body.privacy.part_column":        declared,
	"body.privacy.unprotected":        declared,
	"body.privacy.claim":              price,
	"body.privacy.counted":            choice,
	"body.privacy.seeded":             choice,
	"body.privacy.not_private":        choice,
	"body.privacy.overrides":          choice,
	"body.privacy.ignored":            declared,
	"body.privacy.schema_file_sha256": declared,

	"body.privacy.bill":                price,
	"body.privacy.bill[].release":      price,
	"body.privacy.bill[].mechanism":    price,
	"body.privacy.bill[].epsilon_nano": price,
	"body.privacy.bill[].rho_pico":     price,
	"body.privacy.bill[].delta_femto":  price,

	"body.schema":                            declared,
	"body.schema.name":                       declared,
	"body.schema.unit":                       declared,
	"body.schema.relation":                   declared,
	"body.schema.max_epsilon":                declared,
	"body.schema.max_delta":                  declared,
	"body.schema.file":                       declared,
	"body.schema.file.delimiter":             declared,
	"body.schema.file.quote":                 declared,
	"body.schema.file.header":                declared,
	"body.schema.file.trim":                  declared,
	"body.schema.file.missing":               declared,
	"body.schema.file.comment":               declared,
	"body.schema.file.skip_records":          declared,
	"body.schema.file.skip_until":            declared,
	"body.schema.columns":                    declared,
	"body.schema.columns[].name":             declared,
	"body.schema.columns[].role":             declared,
	"body.schema.columns[].note":             declared,
	"body.schema.columns[].number":           declared,
	"body.schema.columns[].number.lower":     declared,
	"body.schema.columns[].number.upper":     declared,
	"body.schema.columns[].number.transform": declared,
	"body.schema.columns[].number.monotone":  declared,
	"body.schema.columns[].number.edges":     declared,
	"body.schema.columns[].number.default":   declared,
	"body.schema.columns[].number.missing":   declared,
	"body.schema.columns[].number.special":   declared,
	"body.schema.columns[].date":             declared,
	"body.schema.columns[].date.format":      declared,
	"body.schema.columns[].date.lower":       declared,
	"body.schema.columns[].date.upper":       declared,
	"body.schema.columns[].date.since":       declared,
	"body.schema.columns[].date.edges":       declared,
	"body.schema.columns[].date.default":     declared,
	"body.schema.columns[].date.missing":     declared,
	"body.schema.columns[].date.special":     declared,
	"body.schema.columns[].date.zone":        declared,
	"body.schema.columns[].date.days":        declared,
	"body.schema.file.encoding":              declared,
	"body.schema.file.thousands":             declared,
	"body.schema.file.minus":                 declared,
	"body.schema.columns[].category":         declared,
	"body.schema.columns[].category.buckets": declared,
	"body.schema.ignored":                    declared,
	"body.schema.file.decimal":               declared,
	"body.schema.columns[].category.levels":  declared,

	"body.schema.columns[].category.levels[].value":    declared,
	"body.schema.columns[].category.levels[].aliases":  declared,
	"body.schema.columns[].category.levels[].prefixes": declared,
	"body.schema.columns[].category.missing":           declared,
	"body.schema.columns[].label":                      declared,
	"body.schema.columns[].label.levels":               declared,
	"body.schema.columns[].label.levels[].value":       declared,
	"body.schema.columns[].label.levels[].aliases":     declared,
	"body.schema.columns[].label.levels[].prefixes":    declared,
	"body.schema.columns[].label.positive":             declared,
	"body.schema.columns[].label.default":              declared,
	"body.schema.columns[].label.weights":              declared,
	"body.schema.columns[].label.weights.well":         declared,
	"body.schema.columns[].label.weights.ill":          declared,
	"body.schema.columns[].label.weights.dead":         declared,

	"body.schema.derived":            declared,
	"body.schema.derived[].name":     declared,
	"body.schema.derived[].largest":  declared,
	"body.schema.derived[].smallest": declared,
	"body.schema.derived[].mean":     declared,
	"body.schema.derived[].year":     declared,
	"body.schema.derived[].month":    declared,
	"body.schema.derived[].weekday":  declared,
	"body.schema.derived[].note":     declared,
	"body.schema.derived[].monotone": declared,
	"body.schema.derived[].edges":    declared,

	"body.spaces":            choice,
	"body.spaces[].encoding": choice,
	"body.spaces[].columns":  declared,

	"body.votes":                 format,
	"body.votes.members":         format,
	"body.votes.members[].space": choice,
	"body.votes.members[].vote":  paid,
	"body.votes.members[].bias":  random,
	"body.votes.members[].coef":  random,

	"body.logistic":       format,
	"body.logistic.space": choice,
	"body.logistic.bias":  paid,
	"body.logistic.coef":  paid,
	"body.logistic.norm":  choice,

	"body.logistic.threshold": paid,

	"body.additive":                   format,
	"body.additive.intercept":         paid,
	"body.additive.moved":             format,
	"body.additive.moved.intercept":   paid,
	"body.additive.moved.slope":       paid,
	"body.additive.moved.middle":      paid,
	"body.additive.shapes":            format,
	"body.additive.shapes[].column":   paid,
	"body.additive.shapes[].edges":    declared,
	"body.additive.shapes[].log_odds": paid,
	"body.additive.shapes[].noise":    paid,
	"body.additive.shapes[].moved":    paid,
	"body.additive.pairs":             format,

	"body.additive.shapes[].cells":                     format,
	"body.additive.shapes[].cells.edges":               declared,
	"body.additive.shapes[].cells.groups":              declared,
	"body.additive.shapes[].cells.weights":             paid,
	"body.additive.shapes[].cells.stretch":             paid,
	"body.additive.shapes[].cells.releases":            format,
	"body.additive.shapes[].cells.releases[].rows":     paid,
	"body.additive.shapes[].cells.releases[].weights":  paid,
	"body.additive.shapes[].cells.releases[].noise":    paid,
	"body.additive.shapes[].cells.releases[].gaussian": choice,
	"body.additive.shapes[].cells.releases[].balanced": price,
	"body.additive.shapes[].cells.releases[].part":     price,

	"body.additive.pairs[].columns":  paid,
	"body.additive.pairs[].edges":    declared,
	"body.additive.pairs[].log_odds": paid,
	"body.additive.pairs[].noise":    paid,
	"body.additive.pairs[].moved":    paid,
	"body.additive.pairs[].weights":  paid,

	"body.additive_levels":                              format,
	"body.additive_levels.intercepts":                   paid,
	"body.additive_levels.shapes":                       format,
	"body.additive_levels.shapes[].column":              paid,
	"body.additive_levels.shapes[].edges":               declared,
	"body.additive_levels.shapes[].levels":              format,
	"body.additive_levels.shapes[].levels[].log_shares": paid,
	"body.additive_levels.shapes[].levels[].noise":      paid,

	"body.grids":                        format,
	"body.grids.intercepts":             paid,
	"body.grids.grids":                  format,
	"body.grids.grids[].axes":           format,
	"body.grids.grids[].axes[].column":  paid,
	"body.grids.grids[].axes[].edges":   random,
	"body.grids.grids[].axes[].parts":   random,
	"body.grids.grids[].levels":         format,
	"body.grids.grids[].levels[].steps": paid,

	"body.linear":               format,
	"body.linear.space":         choice,
	"body.linear.link":          choice,
	"body.linear.levels":        format,
	"body.linear.levels[].bias": paid,
	"body.linear.levels[].coef": paid,
	"body.linear.norm":          choice,

	"body.ballots":                                format,
	"body.ballots.link":                           choice,
	"body.ballots.members":                        format,
	"body.ballots.members[].space":                choice,
	"body.ballots.members[].weight":               paid,
	"body.ballots.members[].stump":                format,
	"body.ballots.members[].stump.bias":           paid,
	"body.ballots.members[].stump.coef":           paid,
	"body.ballots.members[].stump.yes":            paid,
	"body.ballots.members[].stump.no":             paid,
	"body.ballots.members[].argmax":               format,
	"body.ballots.members[].argmax.levels":        format,
	"body.ballots.members[].argmax.levels[].bias": paid,
	"body.ballots.members[].argmax.levels[].coef": paid,
}

// full returns models that between them set every field there is.
func full() []*Model {
	votes, logistic := voted(), fitted()
	p := &votes.Privacy
	p.Seeded, p.Overrides = true, []string{"the owner's maximum epsilon"}
	p.PartColumn, p.SchemaFile, p.Ignored = "ward", strings.Repeat("0a", 32), []string{"name"}
	p.Delta, p.Bill[0].Rho, p.Bill[1].Delta = 1, 1, 1
	s := votes.Schema
	s.MaxEpsilon, s.MaxDelta = 100_000_000, 1_000
	s.Dialect.Comment, s.Dialect.SkipRecords = "#", 2
	s.Columns[0].Note = "as stated by the patient"
	s.Columns[0].Lower = 16
	s.Columns[0].Edges = []float64{18, 65}
	s.Columns[2].Levels[0].Aliases = []string{"N"}
	s.Label.Role, s.Label.Default = schema.Private, 1
	logistic.Schema.Dialect.SkipUntil = "@data"
	logistic.Schema.Dialect.SkipRecords = 0
	rising := summed()
	rising.Schema.Columns[0].Monotone = schema.Increasing
	weighted := levelled()
	weighted.Schema.Label.Weights = []float64{1, 2.5, 1e-3}
	logistic.Classifier.(*Logistic).Threshold = 0.25
	logistic.Classifier.(*Logistic).Norm, weighted.Classifier.(*Linear).Norm = 2, 1.5
	return []*Model{votes, logistic, rising, weighted, elected(), paired(), layered(), followed(), gridded(), marked(),
		stated()}
}

func TestModelHoldsOnlyAllowedFields(t *testing.T) {
	set, seen := map[string]bool{}, map[string]bool{}
	for _, m := range append(full(), dated()) {
		var file any
		if err := json.Unmarshal(mustMarshal(t, m), &file); err != nil {
			t.Fatal(err)
		}
		paths(file, "", seen)
		set = fields(reflect.ValueOf(m), "Model", set)
	}
	for path := range seen {
		if allowed[path] == "" {
			t.Errorf("%s is in a model file and not on the list: who paid for it?", path)
		}
	}
	for path := range allowed {
		if !seen[path] {
			t.Errorf("%s is on the list and in no model file: take it off, or set it in full", path)
		}
	}
	// A field that full leaves alone could reach files without being seen above.
	delete(set, "Model.Logistic.Space") // always the only one
	delete(set, "Model.Linear.Space")
	delete(set, "Model.Schema.Parts") // refused, as is the next
	delete(set, "Model.Schema.Pairs")
	delete(set, "Model.Schema.Person")
	delete(set, "Model.Schema.Columns[].Quantiles") // refused, too: a model's bins are settled
	delete(set, "Model.Schema.Columns[].Groups")
	delete(set, "Model.Schema.Columns[].Integer")
	for field, is := range set {
		if !is {
			t.Errorf("%s is set by no model of full: set it, so that its place in the file is seen", field)
		}
	}
}

func paths(v any, at string, seen map[string]bool) {
	if at != "" {
		seen[at] = true
	}
	switch v := v.(type) {
	case map[string]any:
		for key, w := range v {
			if at != "" {
				key = at + "." + key
			}
			paths(w, key, seen)
		}
	case []any:
		for _, w := range v {
			if _, ok := w.(map[string]any); ok {
				for key, x := range w.(map[string]any) {
					paths(x, fmt.Sprintf("%s[].%s", at, key), seen)
				}
			}
		}
	}
}

// fields notes for every struct field below v whether it is ever not zero.
func fields(v reflect.Value, at string, set map[string]bool) map[string]bool {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fields(v.Elem(), at, set)
		}
	case reflect.Interface:
		fields(v.Elem(), "Model."+v.Elem().Elem().Type().Name(), set)
	case reflect.Slice:
		for i := range v.Len() {
			fields(v.Index(i), at+"[]", set)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name := at + "." + v.Type().Field(i).Name
			set[name] = set[name] || !v.Field(i).IsZero()
			fields(v.Field(i), name, set)
		}
	}
	return set
}
