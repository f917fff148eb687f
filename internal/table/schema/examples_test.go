// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/realdata"
)

// The paper's split (Shen et al., section 5.3), and what else the examples
// promise about roles.
func TestExampleRoles(t *testing.T) {
	for name, public := range map[string][]string{
		"adult":    {"workclass", "fnlwgt", "race", "sex", "native-country"},
		"credit":   {"LIMIT_BAL", "SEX"},
		"sepsis":   {"sex_0male_1female", "episode_number"},
		"bank":     {"campaign", "pdays", "poutcome"},
		"kdd99":    nil,
		"phishing": nil,
		"hapt":     nil,
		"wisdm":    nil,

		"kdd99-kinds":   nil,
		"credit-months": {"LIMIT_BAL", "SEX"},
	} {
		s := mustLoad(t, "../../../examples/"+name+".yaml")
		var got []string
		for _, j := range s.ByRole(Public) {
			got = append(got, s.Columns[j].Name)
		}
		if !slices.Equal(got, public) {
			t.Errorf("%s: public columns %v, want %v", name, got, public)
		}
		if s.Name != name || s.Relation != "replace-one" {
			t.Errorf("%s: name %q, relation %q", name, s.Name, s.Relation)
		}
		if private := strings.HasPrefix(name, "kdd99"); (s.Label.Role == Private) != private {
			t.Errorf("%s: the label is %s", name, s.Label.Role)
		}
	}
}

// The number of columns besides the label, as the datasets README has it.
func TestExamplesHaveEveryColumn(t *testing.T) {
	for name, want := range map[string]int{"adult": 14, "credit": 24, "sepsis": 3, "bank": 16, "bank-additional": 20,
		"kdd99": 41, "kdd99-kinds": 41, "phishing": 30, "hapt": 9, "wisdm": 45, "credit-months": 24} {
		if got := len(mustLoad(t, "../../../examples/"+name+".yaml").FileColumns()); got != want {
			t.Errorf("%s: %d columns besides the label, want %d", name, got, want)
		}
	}
}

// The kinds of attack are those of the binary label, told apart: the two fit one
// file.
func TestKindsAreTheBinaryLabelToldApart(t *testing.T) {
	two, kinds := mustLoad(t, "../../../examples/kdd99.yaml"), mustLoad(t, "../../../examples/kdd99-kinds.yaml")
	spellings := func(s *Schema, but string) (out []string) {
		for _, l := range s.Label.Levels {
			if l.Value != but {
				out = append(out, l.Aliases...)
			}
		}
		slices.Sort(out)
		return out
	}
	if a, b := spellings(two, "normal"), spellings(kinds, "normal"); len(a) != 22 || !slices.Equal(a, b) {
		t.Errorf("attacks %v, by kind %v", a, b)
	}
	if kinds.Classes() != 5 || !reflect.DeepEqual(two.Columns, kinds.Columns) ||
		!reflect.DeepEqual(two.Dialect, kinds.Dialect) {
		t.Error("the columns differ")
	}
}

// The months add columns that follow from those of the plain schema, and nothing
// else.
func TestMonthsAreTheCreditTableAndWhatFollows(t *testing.T) {
	plain, months := mustLoad(t, "../../../examples/credit.yaml"), mustLoad(t, "../../../examples/credit-months.yaml")
	if len(months.Columns) != 30 || len(months.ByRole(Private)) != 27 {
		t.Errorf("%d columns, %d of them private, want 30 and 27", len(months.Columns), len(months.ByRole(Private)))
	}
	months.Name, months.Columns = plain.Name, months.FileColumns()
	if !reflect.DeepEqual(plain, months) {
		t.Error("besides the derived columns the schemas differ")
	}
}

// The ordinal encoding is the paper's label coding only where levels are in
// the order of scikit-learn's LabelEncoder. hapt's label keeps its documented
// order.
func TestExampleLevelsAreSorted(t *testing.T) {
	for _, path := range examples(t) {
		s := mustLoad(t, path)
		byValue := func(a, b Level) int { return cmp.Compare(a.Value, b.Value) }
		for _, c := range s.Columns {
			if !slices.IsSortedFunc(c.Levels, byValue) {
				t.Errorf("%s: levels of %q are not sorted", path, c.Name)
			}
		}
		if s.Name != "hapt" && !slices.IsSortedFunc(s.Label.Levels, byValue) {
			t.Errorf("%s: levels of the label are not sorted", path)
		}
	}
}

func TestBankDurationIsFlaggedAsALeak(t *testing.T) {
	for name, role := range map[string]Role{"bank": Private, "bank-additional": Ignored} {
		s := mustLoad(t, "../../../examples/"+name+".yaml")
		i := slices.IndexFunc(s.Columns, func(c Column) bool { return c.Name == "duration" })
		if c := s.Columns[i]; c.Role != role || !strings.Contains(c.Note, "leak") {
			t.Errorf("%s: duration has role %s and note %q", name, c.Role, c.Note)
		}
	}
}

// TestExamplesFitTheirFiles reads the real files with the plainest possible
// reader (lines, split at the delimiter) and checks each cell against the
// declaration: every column is there, every level and label declared, every
// number within its bounds.
func TestExamplesFitTheirFiles(t *testing.T) {
	for _, c := range []struct {
		example, file string
		rows          int // datasets README
	}{
		{"adult", "adult/adult.data.gz", 32561},
		{"adult", "adult/adult.test.gz", 16281},
		{"credit", "credit/UCI_Credit_Card.csv.gz", 30000},
		{"credit-months", "credit/UCI_Credit_Card.csv.gz", 30000},
		{"sepsis", "sepsis/s41598-020-73558-3_sepsis_survival_primary_cohort.csv.gz", 110204},
		{"sepsis", "sepsis/s41598-020-73558-3_sepsis_survival_study_cohort.csv.gz", 19051},
		{"sepsis", "sepsis/s41598-020-73558-3_sepsis_survival_validation_cohort.csv.gz", 137},
		{"bank", "bank/bank-full.csv.gz", 45211},
		{"bank-additional", "bank/bank-additional-full.csv.gz", 41188},
		{"kdd99", "kdd99/kddcup.data_10_percent.gz", 494021},
		{"phishing", "phishing/phishing_websites.csv.gz", 11055},
		{"hapt", "hapt/hapt_labelled_samples.csv.gz", 815614},
		{"wisdm", "wisdm/WISDM_ar_v1.1_transformed.arff.gz", 5418},
	} {
		t.Run(filepath.Base(c.file), func(t *testing.T) {
			s := mustLoad(t, "../../../examples/"+c.example+".yaml")
			rows := 0
			eachRecord(t, c.file, &s.Dialect, func(header bool, cells []string) {
				if columns := len(s.FileColumns()) + 1; len(cells) != columns {
					t.Fatalf("after %d rows: %d cells, the schema has %d columns with the label", rows, len(cells), columns)
				}
				if !header {
					rows++
				}
				features := slices.Concat(cells[:s.Label.Position], cells[s.Label.Position+1:])
				checkCells(t, s, header, features, cells[s.Label.Position])
			})
			if rows != c.rows {
				t.Errorf("%d rows, want %d", rows, c.rows)
			}
		})
	}
}

func checkCells(t *testing.T, s *Schema, header bool, features []string, label string) {
	t.Helper()
	if header {
		if label != s.Label.Name {
			t.Fatalf("label is called %q, want %q", label, s.Label.Name)
		}
	} else if !declared(s.Label.Levels, label) {
		t.Fatalf("label %q is not declared", label)
	}
	for j, cell := range features {
		c := &s.Columns[j]
		switch missing := slices.Contains(s.Dialect.Missing, cell); {
		case header:
			if cell != c.Name {
				t.Fatalf("column %d is called %q, want %q", j, cell, c.Name)
			}
		case c.Role == Ignored:
		case missing:
			if c.Kind == Category && !c.Missing || c.Kind == Number && c.Default == nil {
				t.Fatalf("%q has missing cells and declares none", c.Name)
			}
		case c.Kind == Category:
			if !declared(c.Levels, cell) {
				t.Fatalf("%q: level %q is not declared", c.Name, cell)
			}
		default:
			x, err := strconv.ParseFloat(cell, 64)
			if err != nil || !(x >= c.Lower && x <= c.Upper) {
				t.Fatalf("%q: %s is outside [%g, %g]", c.Name, cell, c.Lower, c.Upper)
			}
		}
	}
}

func declared(levels []Level, cell string) bool {
	for _, l := range levels {
		if l.Value == cell || slices.Contains(l.Aliases, cell) {
			return true
		}
	}
	return false
}

// eachRecord is good enough for these files: none has a delimiter or a line
// break inside quotes.
func eachRecord(t *testing.T, file string, d *Dialect, use func(header bool, cells []string)) {
	t.Helper()
	f, err := os.Open(realdata.File(t, file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	header, waiting := d.Header, d.SkipUntil != ""
	for lines.Scan() {
		line := strings.TrimSuffix(lines.Text(), "\r")
		if waiting {
			waiting = line != d.SkipUntil
			continue
		}
		if line == "" || d.Comment != "" && strings.HasPrefix(line, d.Comment) {
			continue
		}
		cells := strings.Split(line, string(d.Delimiter))
		for i, cell := range cells {
			if d.Trim {
				cell = strings.TrimSpace(cell)
			}
			if d.Quote != 0 {
				cell = strings.Trim(cell, string(d.Quote))
			}
			cells[i] = cell
		}
		use(header, cells)
		header = false
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}
