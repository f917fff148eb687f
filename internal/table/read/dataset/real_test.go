// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/realdata"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// TestRealData reads every data set with the schema that ships for it and
// compares rows and class counts with those of the data sets' own read-me.
func TestRealData(t *testing.T) {
	const sepsis = "sepsis/s41598-020-73558-3_sepsis_survival_"
	for _, row := range []struct {
		example, file string
		rows          int
		classes       map[string]int // by label value
		missing       map[string]int // by category column, cells coded as missing
	}{
		{"adult", "adult/adult.data.gz", 32561, map[string]int{">50K": 7841, "<=50K": 24720},
			map[string]int{"workclass": 1836, "occupation": 1843, "native-country": 583}},
		{"adult", "adult/adult.test.gz", 16281, map[string]int{">50K": 3846, "<=50K": 12435},
			map[string]int{"workclass": 963, "occupation": 966, "native-country": 274}},
		{"credit", "credit/UCI_Credit_Card.csv.gz", 30000, map[string]int{"1": 6636, "0": 23364}, nil},
		{"credit-months", "credit/UCI_Credit_Card.csv.gz", 30000, map[string]int{"1": 6636, "0": 23364}, nil},
		{"bank", "bank/bank-full.csv.gz", 45211, map[string]int{"yes": 5289, "no": 39922},
			map[string]int{"job": 288, "education": 1857, "contact": 13020, "poutcome": 36959}},
		{"bank-additional", "bank/bank-additional-full.csv.gz", 41188, map[string]int{"yes": 4640, "no": 36548},
			map[string]int{"job": 330, "marital": 80, "education": 1731, "default": 8597, "housing": 990, "loan": 990}},
		{"sepsis", sepsis + "primary_cohort.csv.gz", 110204, map[string]int{"1": 102099, "0": 8105}, nil},
		{"sepsis", sepsis + "study_cohort.csv.gz", 19051, map[string]int{"1": 15445, "0": 3606}, nil},
		{"sepsis", sepsis + "validation_cohort.csv.gz", 137, map[string]int{"1": 113, "0": 24}, nil},
		{"kdd99", "kdd99/kddcup.data_10_percent.gz", 494021, map[string]int{"normal.": 97278, "smurf.": 396743}, nil},
		{"phishing", "phishing/phishing_websites.csv.gz", 11055, map[string]int{"1": 6157, "-1": 4898}, nil},
		{"wisdm", "wisdm/WISDM_ar_v1.1_transformed.arff.gz", 5418, map[string]int{"Walking": 2081, "Jogging": 1625,
			"Upstairs": 632, "Downstairs": 528, "Sitting": 306, "Standing": 246}, nil},
		{"hapt", "hapt/hapt_labelled_samples.csv.gz", 815614,
			map[string]int{"1": 122091, "2": 116707, "3": 107961, "4": 126677, "5": 138105, "6": 136865, "7": 10316, "8": 8029,
				"9": 12428, "10": 11150, "11": 14418, "12": 10867}, nil},
	} {
		t.Run(filepath.Base(row.file), func(t *testing.T) {
			path := realdata.File(t, row.file)
			s, err := schema.Load(filepath.Join(realdata.Root(), "examples", row.example+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			tab, err := Read(context.Background(), s, Options{}, path)
			if err != nil {
				t.Fatal(err)
			}
			if tab.Rows != row.rows {
				t.Errorf("%d rows, want %d", tab.Rows, row.rows)
			}
			classes := make([]int, s.Classes())
			for _, label := range tab.Labels {
				classes[label]++
			}
			for spelling, want := range row.classes {
				code := slices.IndexFunc(s.Label.Levels, func(l schema.Level) bool {
					return l.Value == spelling || slices.Contains(l.Aliases, spelling)
				})
				if code < 0 || classes[code] != want {
					t.Errorf("label %q: code %d of %v, want %d rows", spelling, code, classes, want)
				}
			}
			for name, want := range row.missing {
				if got := missingCells(tab, name); got != want {
					t.Errorf("column %q: %d missing, want %d", name, got, want)
				}
			}
		})
	}
}

func TestAdultRowsWithMissingCells(t *testing.T) {
	s, err := schema.Load(filepath.Join(realdata.Root(), "examples", "adult.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]int{"adult/adult.data.gz": 2399, "adult/adult.test.gz": 1221} {
		tab, err := Read(context.Background(), s, Options{}, realdata.File(t, file))
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for i := range tab.Rows {
			if slices.ContainsFunc(s.Features(), func(j int) bool {
				c := &s.Columns[j]
				return c.Missing && int(tab.Cols[j].Codes.At(i)) == c.MissingCode()
			}) {
				rows++
			}
		}
		if rows != want {
			t.Errorf("%s: %d rows with a missing cell, want %d", file, rows, want)
		}
	}
}

func BenchmarkReadAdult(b *testing.B) {
	s, err := schema.Load(filepath.Join(realdata.Root(), "examples", "adult.yaml"))
	if err != nil {
		b.Fatal(err)
	}
	path := realdata.File(b, "adult/adult.data.gz")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(context.Background(), s, Options{}, path); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(32561*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

// missingCells counts the cells of a category that are missing, whether the
// schema declares them so or as a level named "unknown".
func missingCells(tab *Table, name string) (n int) {
	j := slices.IndexFunc(tab.Schema.Columns, func(c schema.Column) bool { return c.Name == name })
	if j < 0 {
		return -1
	}
	c := &tab.Schema.Columns[j]
	code := slices.IndexFunc(c.Levels, func(l schema.Level) bool { return l.Value == "unknown" })
	if c.Missing {
		code = c.MissingCode()
	}
	for i := range tab.Rows {
		if int(tab.Cols[j].Codes.At(i)) == code {
			n++
		}
	}
	return n
}
