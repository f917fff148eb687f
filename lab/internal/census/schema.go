// SPDX-License-Identifier: Apache-2.0

package census

import (
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Positions of the columns in Schema().Columns and in a table's Cols.
const (
	colAge = iota
	colSex
	colRegion
	colSettlement
	colOrigin
	colEducation
	colWorkClass
	colOccupation
	colMarital
	colHousehold
	colHours
	colTenure
	colCapital
	colWeight
	columns
)

// Levels in code order. Ordered categories are in their order and occupations are by usual pay, so
// that the ordinal encoding makes sense too.
var (
	sexes       = []string{"female", "male"}
	regions     = []string{"islands", "border", "hills", "north", "plains", "south", "lakes", "coast", "capital"}
	settlements = []string{"village", "town", "city"}
	origins     = []string{"native", "neighbour", "overseas"}
	educations  = []string{"none", "primary", "lower_secondary", "upper_secondary", "vocational", "some_college",
		"bachelor", "master", "doctorate"}
	workClasses = []string{"not_working", "family_work", "self_employed", "company", "public_service", "own_company"}
	occupations = []string{"none", "helper", "farming", "service", "care", "transport", "machine_operation", "sales",
		"clerical", "craft", "protection", "technical", "professional", "management"}
	maritals = []string{"never_married", "partnered", "married", "separated", "widowed"}
)

const (
	minAge, maxAge = 17, 90
	maxHousehold   = 9
	maxHours       = 98
	maxTenure      = 60
	minCapital     = 200     // the smallest capital income that is not 0
	maxCapital     = 500_000 // the largest
	capitalSteps   = 1024    // number of amounts, 0 included, evenly spaced on a log scale
	minWeight      = 40
	weightStep     = 5
	weightSteps    = 4096
	missingToken   = "?"
	notAnswering   = 1 << 32 / 25
)

// Schema returns the schema of every table of this package: 14 feature columns, the first five of them
// public, and the public label high_income. It is valid unchanged. Each call builds a new one.
func Schema() *schema.Schema {
	return &schema.Schema{
		Name:     "invented census",
		Unit:     "one invented person's census form",
		Relation: dp.ReplaceOne,
		Dialect:  schema.Dialect{Delimiter: ',', Quote: '"', Header: true, Missing: []string{missingToken}},
		Columns: []schema.Column{
			colAge:        publicColumn(numberColumn("age", minAge, maxAge, 45, schema.Identity)),
			colSex:        categoryColumn("sex", schema.Public, sexes),
			colRegion:     categoryColumn("region", schema.Public, regions),
			colSettlement: categoryColumn("settlement", schema.Public, settlements),
			colOrigin:     categoryColumn("origin", schema.Public, origins),
			colEducation:  categoryColumn("education", schema.Private, educations),
			colWorkClass:  answeredColumn("work_class", workClasses),
			colOccupation: answeredColumn("occupation", occupations),
			colMarital:    categoryColumn("marital_status", schema.Private, maritals),
			colHousehold:  numberColumn("household_size", 1, maxHousehold, 2, schema.Identity),
			colHours:      numberColumn("weekly_hours", 0, maxHours, 40, schema.Identity),
			colTenure:     numberColumn("years_in_job", 0, maxTenure, 5, schema.Identity),
			colCapital:    numberColumn("capital_income", 0, maxCapital, 0, schema.Log1p),
			colWeight: numberColumn("sampling_weight", minWeight, minWeight+weightStep*(weightSteps-1), 2000,
				schema.Identity),
		},
		Label: schema.Label{
			Name:     "high_income",
			Position: columns,
			Role:     schema.Public,
			Levels:   levelsOf([]string{"no", "yes"}),
			Positive: 1,
			Default:  0,
		},
	}
}

// schemaYAML returns the text of a schema file for Schema().
func schemaYAML() []byte {
	text, err := Schema().YAML()
	if err != nil {
		panic("census: the schema cannot be written: " + err.Error())
	}
	return text
}

func categoryColumn(name string, role schema.Role, values []string) schema.Column {
	return schema.Column{Name: name, Role: role, Kind: schema.Category, Levels: levelsOf(values)}
}

// answeredColumn returns a private category that people may leave blank.
func answeredColumn(name string, values []string) schema.Column {
	c := categoryColumn(name, schema.Private, values)
	c.Missing = true
	return c
}

func numberColumn(name string, lower, upper, standIn float64, t schema.Transform) schema.Column {
	return schema.Column{Name: name, Role: schema.Private, Kind: schema.Number, Lower: lower, Upper: upper,
		Integer: true, Default: &standIn, Transform: t}
}

func publicColumn(c schema.Column) schema.Column {
	c.Role = schema.Public
	return c
}

func levelsOf(values []string) []schema.Level {
	out := make([]schema.Level, len(values))
	for i, v := range values {
		out[i].Value = v
	}
	return out
}
