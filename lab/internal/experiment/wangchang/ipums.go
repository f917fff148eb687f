// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// variable is a category of IPUMS-International with its general codes. The
// paper uses eight without naming them; those of this list that an extract has
// are used.
type variable struct {
	name  string
	codes []int
}

var variables = []variable{
	{"SEX", []int{1, 2, 9}},
	{"URBAN", []int{1, 2, 9}},
	{"RELATE", []int{1, 2, 3, 4, 5, 6, 9}},
	{"MARST", []int{0, 1, 2, 3, 4, 9}},
	{"NATIVITY", []int{0, 1, 2, 9}},
	{"RELIGION", []int{0, 1, 2, 3, 4, 5, 6, 7, 9}},
	{"SCHOOL", []int{0, 1, 2, 3, 4, 9}},
	{"LIT", []int{0, 1, 2, 9}},
	{"EDATTAIN", []int{0, 1, 2, 3, 4, 9}},
	{"EMPSTAT", []int{0, 1, 2, 3, 9}},
	{"OCCISCO", []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 97, 98, 99}},
	{"CLASSWK", []int{0, 1, 2, 3, 4, 9}},
	{"OWNERSHIP", []int{0, 1, 2, 9}},
}

const (
	ageVariable    = "AGE"
	incomeVariable = "INCTOT"
	oldest         = 100     // the top code
	noIncome       = 9999998 // unknown; one more: not asked
)

// extract is a user's own census records: AGE and categories, and whether the
// income exceeds the mean.
type extract struct {
	used  []variable
	width int
	cells []uint8 // by row: age, then for each variable the place of its code, behind the last for any other
	y     []uint8
}

func (e *extract) columnCount() int { return 1 + len(e.used) }
func (e *extract) Len() int         { return len(e.y) }
func (e *extract) Dim() int         { return e.width }

// Row is the age, scaled, and -1 or 1 for each code and for any other.
func (e *extract) Row(i int, out []float64) {
	for j := range out {
		out[j] = -1
	}
	cells := e.cells[i*e.columnCount() : (i+1)*e.columnCount()]
	out[0] = 2*float64(cells[0])/oldest - 1
	at := 1
	for k, v := range e.used {
		out[at+int(cells[1+k])] = 1
		at += len(v.codes) + 1
	}
}

// openExtract reads the CSV file of an extract, gzip'd where its name says so.
func openExtract(path string) (*extract, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil, fmt.Errorf("experiment: %s: %w", path, err)
		}
		r = z
	}
	e, err := readExtract(r)
	if err != nil {
		return nil, fmt.Errorf("experiment: %s: %w", path, err)
	}
	return e, nil
}

// readExtract reads CSV with the variables' names in its first line. Rows
// without an income are left out. The income is cut at the mean of all others,
// as the paper does, which reads unperturbed data.
func readExtract(r io.Reader) (*extract, error) {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	head, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("read header: %w", err)
	}
	place := func(name string) int { return slices.Index(head, name) }
	age, income := place(ageVariable), place(incomeVariable)
	if age < 0 || income < 0 {
		return nil, &dp.ParamError{Op: "extract", Param: "columns", Want: "must hold " + ageVariable + " and " +
			incomeVariable}
	}
	e := &extract{width: 1}
	var from []int
	for _, v := range variables {
		if at := place(v.name); at >= 0 {
			e.used, from = append(e.used, v), append(from, at)
			e.width += len(v.codes) + 1
		}
	}
	if len(e.used) == 0 {
		return nil, &dp.ParamError{Op: "extract", Param: "columns", Want: "must hold at least one category, e.g. " +
			variables[0].name}
	}
	var incomes []float64
	total := 0.0
	for {
		row, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err // names line and column, no cell
		}
		line, _ := in.FieldPos(0)
		number := func(at int, name string) (int, error) {
			n, err := strconv.Atoi(row[at])
			if err != nil {
				return 0, fmt.Errorf("line %d: %s must be a whole number", line, name)
			}
			return n, nil
		}
		got, err := number(income, incomeVariable)
		if err != nil {
			return nil, err
		}
		if got >= noIncome {
			continue
		}
		years, err := number(age, ageVariable)
		if err != nil {
			return nil, err
		}
		e.cells = append(e.cells, uint8(min(max(years, 0), oldest)))
		for k, v := range e.used {
			code, err := number(from[k], v.name)
			if err != nil {
				return nil, err
			}
			at := slices.Index(v.codes, code)
			if at < 0 {
				at = len(v.codes)
			}
			e.cells = append(e.cells, uint8(at))
		}
		incomes = append(incomes, float64(got))
		total += float64(got)
	}
	if len(incomes) == 0 {
		return nil, &dp.ParamError{Op: "extract", Param: "rows", Want: "must hold at least one with an income"}
	}
	e.y = make([]uint8, len(incomes))
	for i, x := range incomes {
		if x > total/float64(len(incomes)) {
			e.y[i] = 1
		}
	}
	return e, nil
}
