// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/schema"
)

func TestAdultCounts(t *testing.T) {
	for _, row := range []struct {
		file                                    string
		rows, positive                          int
		workclass, occupation, country, anyCell int
	}{
		{"adult/adult.data.gz", 32561, 7841, 1836, 1843, 583, 2399},
		{"adult/adult.test.gz", 16281, 3846, 963, 966, 274, 1221},
	} {
		path := realFile(t, row.file)
		s := adultSchema()
		tab, err := Read(context.Background(), s, Options{}, path)
		if err != nil {
			t.Fatal(err)
		}
		if tab.Rows != row.rows {
			t.Errorf("%s: %d rows, want %d", row.file, tab.Rows, row.rows)
		}
		positive := 0
		for _, label := range tab.Labels {
			if int(label) == s.Label.Positive {
				positive++
			}
		}
		if positive != row.positive {
			t.Errorf("%s: %d positive, want %d", row.file, positive, row.positive)
		}
		missing := make([]int, len(s.Columns))
		rows := 0
		for i := range tab.Rows {
			some := false
			for j := range s.Columns {
				c := &s.Columns[j]
				if c.Kind == schema.Category && int(tab.Cols[j].Codes.At(i)) == c.MissingCode() {
					missing[j]++
					some = true
				}
			}
			if some {
				rows++
			}
		}
		if got, want := []int{missing[1], missing[6], missing[13], rows}, []int{row.workclass, row.occupation, row.country, row.anyCell}; !slices.Equal(got, want) {
			t.Errorf("%s: missing %v, want %v", row.file, got, want)
		}
	}
}

// adultSchema reads both files of Adult: the test file's first line is taken
// for a comment and its labels end in a full stop.
func adultSchema() *schema.Schema {
	zero := 0.0
	number := func(name string, lower, upper float64) schema.Column {
		return schema.Column{Name: name, Role: schema.Private, Kind: schema.Number, Lower: lower, Upper: upper, Default: &zero}
	}
	category := func(name, levels string) schema.Column {
		c := schema.Column{Name: name, Role: schema.Public, Kind: schema.Category, Missing: true}
		for _, level := range strings.Fields(levels) {
			c.Levels = append(c.Levels, schema.Level{Value: level})
		}
		return c
	}
	return &schema.Schema{
		Name: "adult", Unit: "one person", Relation: dp.ReplaceOne,
		Dialect: schema.Dialect{Delimiter: ',', Trim: true, Missing: []string{"?"}, Comment: "|"},
		Columns: []schema.Column{
			number("age", 0, 100),
			category("workclass", "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked"),
			number("fnlwgt", 0, 2e6),
			category("education", "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th Masters 1st-4th 10th Doctorate 5th-6th Preschool"),
			number("education-num", 1, 16),
			category("marital-status", "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent Married-AF-spouse"),
			category("occupation", "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty Handlers-cleaners Machine-op-inspct Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv Armed-Forces"),
			category("relationship", "Wife Own-child Husband Not-in-family Other-relative Unmarried"),
			category("race", "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black"),
			category("sex", "Female Male"),
			number("capital-gain", 0, 99999),
			number("capital-loss", 0, 5000),
			number("hours-per-week", 0, 100),
			category("native-country", "United-States"),
		},
		Label: schema.Label{
			Name: "income", Position: 14, Role: schema.Public, Positive: 1, Default: -1,
			Levels: []schema.Level{{Value: "<=50K", Aliases: []string{"<=50K."}}, {Value: ">50K", Aliases: []string{">50K."}}},
		},
	}
}

func BenchmarkReadAdult(b *testing.B) {
	path := realFile(b, "adult/adult.data.gz")
	s := adultSchema()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(context.Background(), s, Options{}, path); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(32561*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
