// SPDX-License-Identifier: Apache-2.0

package card

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// About is what a record of the OpenDP Deployments Registry has to say and no model
// knows, by name.
type About map[string]string

// abouts are the names, and whether a record must have them.
var abouts = []struct {
	name     string
	required bool
}{{"curator", true}, {"intended-use", true}, {"region", true}, {"author", true}, {"published", true},
	{"sector", false}, {"sources", false}, {"notes", false}}

// sectors are those that the registry knows.
var sectors = []string{"Technology", "Healthcare", "Education", "Government", "Energy", "Finance"}

// ParseAbout reads NAME=TEXT pairs, and wants all that a record must have.
func ParseAbout(pairs []string) (About, error) {
	a := About{}
	refuse := func(want string, got any) (About, error) {
		var names []string
		for _, x := range abouts {
			names = append(names, x.name)
		}
		return nil, &dp.ParamError{Op: "card", Param: "about", Want: want, Got: got,
			Hint: "write --about NAME=TEXT for each of " + strings.Join(names, ", ")}
	}
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		known := false
		for _, x := range abouts {
			known = known || x.name == name
		}
		switch {
		case !ok || !known || strings.TrimSpace(text) == "":
			return refuse("must be a known name and a text", pair)
		case a[name] != "":
			return refuse("must say each name once", name)
		}
		a[name] = text
	}
	for _, x := range abouts {
		if x.required && a[x.name] == "" {
			return refuse("must say the "+x.name, nil)
		}
	}
	if _, err := time.Parse(time.DateOnly, a["published"]); err != nil {
		return refuse("must have a date YYYY-MM-DD as published", a["published"])
	}
	if s := a["sector"]; s != "" && !slices.Contains(sectors, s) {
		return refuse("must have a sector out of "+strings.Join(sectors, ", "), s)
	}
	return a, nil
}

// The record's shape; github.com/opendp/deployments-registry-data,
// schemas/deployments-schema.yaml, says what each field is.
type (
	record struct {
		Slug       string     `yaml:"url_slug"`
		Status     string     `yaml:"status"`
		Tier       int        `yaml:"tier"`
		Deployment deployment `yaml:"deployment"`
	}
	deployment struct {
		Basic          basic          `yaml:"basic"`
		Variant        variant        `yaml:"dp_variant"`
		Loss           loss           `yaml:"privacy_loss"`
		Model          trustModel     `yaml:"deployment_model"`
		Accounting     accounting     `yaml:"accounting"`
		Implementation implementation `yaml:"implementation"`
		Administrative administrative `yaml:"administrative"`
	}
	basic struct {
		Name        string   `yaml:"name"`
		Curators    []string `yaml:"data_curators"`
		Use         string   `yaml:"intended_use"`
		Type        string   `yaml:"data_product_type"`
		Region      string   `yaml:"data_product_region"`
		Description string   `yaml:"description"`
		Published   string   `yaml:"publication_date"`
		Sector      string   `yaml:"data_product_sector,omitempty"`
	}
	variant struct {
		Name        string `yaml:"variant_name"`
		Domain      string `yaml:"data_domain"`
		Unprotected string `yaml:"unprotected_quantities"`
	}
	loss struct {
		Unit       string     `yaml:"privacy_unit"`
		Details    string     `yaml:"privacy_unit_details"`
		Parameters parameters `yaml:"privacy_parameters"`
		More       string     `yaml:"privacy_parameters_details"`
	}
	parameters struct {
		Epsilon float64 `yaml:"epsilon"`
		Delta   float64 `yaml:"delta,omitempty"`
	}
	trustModel struct {
		Name    string `yaml:"model_name"`
		Actors  string `yaml:"actors"`
		Release string `yaml:"release_type"`
		More    string `yaml:"release_type_details"`
		Source  string `yaml:"data_source_type"`
		Access  string `yaml:"access_type"`
	}
	accounting struct {
		Post        string `yaml:"post_processing"`
		Composition string `yaml:"composition"`
	}
	implementation struct {
		Tuning     string `yaml:"preprocessing_and_hyperparameter_tuning"`
		Mechanisms string `yaml:"mechanisms"`
		Reasons    string `yaml:"justification"`
	}
	administrative struct {
		Sources string   `yaml:"sources,omitempty"`
		Notes   string   `yaml:"notes,omitempty"`
		Authors []string `yaml:"registry_authors"`
	}
)

// WriteRegistry writes the card as a draft record of the OpenDP Deployments Registry. A
// model without a guarantee is no deployment and is refused.
func (c *Card) WriteRegistry(w io.Writer, a About) error {
	if c.Epsilon == "0" {
		return &dp.ParamError{Op: "card", Param: "format", Want: "must not be registry if the model gives no guarantee",
			Got: "registry"}
	}
	eps, err := json.Number(c.Epsilon).Float64()
	if err != nil {
		return err
	}
	name, variance, setting := "Pure DP", "epsilon bounds every outcome", "Central"
	if c.weight > 0 {
		name, variance = "Approximate DP", "epsilon bounds outcomes up to a chance of delta"
	}
	if c.privacy.Scope == dp.Party {
		setting = "Federated"
	}
	var mechanisms []string
	for _, m := range c.describeMethod() {
		mechanisms = append(mechanisms, asSentence(m.Key+": "+strings.Join(m.Text, "; ")))
	}
	count := c.describeCount()
	var counts []string
	for _, l := range count {
		counts = append(counts, asSentence(l.Key+": "+strings.Join(l.Text, " ")))
	}
	return writeYAML(w, record{
		Slug: slugOf(c.Predicts + " from " + c.Dataset), Status: "Draft", Tier: 3,
		Deployment: deployment{
			Basic: basic{Name: c.Predicts + " from " + c.Dataset, Curators: []string{a["curator"]}, Use: a["intended-use"],
				Type: "Machine learning model", Region: a["region"], Description: c.lead(), Published: a["published"],
				Sector: a["sector"]},
			Variant: variant{name, fmt.Sprintf("Tables with private columns %s, public columns %s and the label %s (%s).",
				strings.Join(c.Private, ", "), strings.Join(c.Public, ", "), c.Predicts, c.LabelRole),
				strings.Join(c.NotProtected, "; ")},
			Loss: loss{c.describeUnit(), c.Neighbours + ".", parameters{eps, c.weight}, strings.Join(append([]string{c.Guarantee,
				"Here " + variance + "."}, c.Odds...), " ")},
			Model: trustModel{setting, "Trusted with the rows: whoever holds the training table and operates the machine that " +
				"trains. Not trusted: everybody who gets the model or its predictions.", "One release",
				strings.Join(counts, " "), "Static", "Non-interactive"},
			Accounting: accounting{"Scores, labels and this record are computed from the released model and cost nothing.",
				"The prices of all measurements of the training are added up; where delta is above 0, jointly accounted for. " +
					strings.Join(counts, " ")},
			Implementation: implementation{"Bounds, categories and roles are declared in a schema before the table is read. " +
				"Choosing among candidates, where done, is part of the price.", strings.Join(mechanisms, " ") +
				" Noise is exact and discrete on a public grid unless the proof says otherwise, from the system's secure " +
				"generator. Program: " + c.Program + ".", "The proof named above states assumptions and tests."},
			Administrative: administrative{a["sources"], a["notes"], []string{a["author"]}},
		},
	})
}

// asSentence ends a text with a stop, where it has none.
func asSentence(s string) string { return strings.TrimRight(s, ".") + "." }

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

// slugOf is a name in small letters, digits and hyphens.
func slugOf(s string) string {
	return strings.Trim(notSlug.ReplaceAllString(strings.ToLower(s), "-"), "-")
}
