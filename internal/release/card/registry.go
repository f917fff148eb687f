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

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/ground/yamltext"
)

// About holds what an organisation knows about a model and model files do not hold, by name.
type About map[string]string

// abouts lists the names, the heading of each on a card ("" if only a record of the OpenDP Deployments
// Registry has it), and whether such a record requires it.
var abouts = []struct {
	name, title string
	required    bool
}{{"curator", "Controller", true}, {"intended-use", "Purpose", true}, {"recipients", "Recipients", false},
	{"retention", "Retention", false}, {"people", "Number of people", false}, {"trained", "", false},
	{"region", "Region", true}, {"author", "Author of this card", true}, {"contact", "Contact", false},
	{"published", "Published", true}, {"sector", "", false}, {"sources", "Sources", false}, {"notes", "Notes", false}}

// sectors are the sectors that the registry accepts.
var sectors = []string{"Technology", "Healthcare", "Education", "Government", "Energy", "Finance"}

func refuseAbout(want string, got any) (About, error) {
	var names []string
	for _, x := range abouts {
		names = append(names, x.name)
	}
	return nil, &dp.ParamError{Op: "card", Param: "about", Want: want, Got: got,
		Next: dp.Step{Kind: dp.DescribeRelease, Name: strings.Join(names, ", ")}}
}

// ReadAbout reads a file of names and texts in YAML. Errors do not quote the file, because it may
// be a private table.
func ReadAbout(path string) (About, error) {
	text, err := openfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("card: about: %w", err)
	}
	a := About{}
	err = yamltext.DecodeLines("card", text, &a)
	if err == nil {
		_, err = a.Parse(nil)
	}
	if err != nil {
		return refuseAbout("must be a file of known names with texts, or dates, in YAML", nil)
	}
	return a, nil
}

// Parse adds NAME=TEXT pairs to a, and refuses unknown names, empty texts and invalid dates.
func (a About) Parse(pairs []string) (About, error) {
	if a == nil {
		a = About{}
	}
	for _, pair := range pairs {
		name, text, _ := strings.Cut(pair, "=")
		if a[name] != "" {
			return refuseAbout("must say each name once", name)
		}
		a[name] = text
	}
	known := map[string]bool{}
	for _, x := range abouts {
		known[x.name] = true
	}
	for name, text := range a {
		if !known[name] || strings.TrimSpace(text) == "" {
			return refuseAbout("must be a known name and a text", name)
		}
	}
	for _, name := range []string{"published", "trained"} {
		if _, err := time.Parse(time.DateOnly, a[name]); a[name] != "" && err != nil {
			return refuseAbout("must have a date YYYY-MM-DD as "+name, a[name])
		}
	}
	if s := a["sector"]; s != "" && !slices.Contains(sectors, s) {
		return refuseAbout("must have a sector out of "+strings.Join(sectors, ", "), s)
	}
	return a, nil
}

// checkRecord refuses facts that lack what a record of the registry requires.
func (a About) checkRecord() error {
	for _, x := range abouts {
		if x.required && a[x.name] == "" {
			_, err := refuseAbout("must say the "+x.name, nil)
			return err
		}
	}
	return nil
}

// The types of a record. Its fields are described in github.com/opendp/deployments-registry-data,
// schemas/deployments-schema.yaml.
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

// WriteRegistry writes the card as a draft record of the OpenDP Deployments Registry. A model without
// a guarantee is refused, since it is not a deployment of differential privacy.
func (c *Card) WriteRegistry(w io.Writer) error {
	a := c.About
	if err := a.checkRecord(); err != nil {
		return err
	}
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
			Model: trustModel{setting, "Trusted with the rows: those who hold the training table and operate the machine that " +
				"trains. Not trusted: everyone who gets the model or its predictions.", "One release",
				strings.Join(counts, " "), "Static", "Non-interactive"},
			Accounting: accounting{"Scores, labels and this record are computed from the released model and cost nothing.",
				"The prices of all measurements of the training are added up; if delta is above 0, they are accounted jointly. " +
					strings.Join(counts, " ")},
			Implementation: implementation{"Bounds, categories and roles are declared in a schema before the table is read. " +
				"A choice among candidates is part of the price.", strings.Join(mechanisms, " ") +
				" Noise is exact and discrete on a public grid unless the proof states otherwise, from the system's secure " +
				"generator. Program: " + c.Program + ".", "The proof named above states assumptions and tests."},
			Administrative: administrative{a["sources"], a["notes"], []string{a["author"]}},
		},
	})
}

// asSentence ends a text with exactly one full stop.
func asSentence(s string) string { return strings.TrimRight(s, ".") + "." }

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

// slugOf returns a name in lower-case letters, digits and hyphens.
func slugOf(s string) string {
	return strings.Trim(notSlug.ReplaceAllString(strings.ToLower(s), "-"), "-")
}
