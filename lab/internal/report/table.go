// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Table is the means of one metric.
type Table struct {
	Metric string
	Rows   []Row
}

// Row is the mean of one metric at one point of a figure.
type Row struct {
	Series  string
	Details string  // encoding and parameters, for people
	Epsilon float64 // 0 if the fit has none
	Mean    float64
	StdDev  float64 // between repeats; 0 for a single one
	N       int     // repeats measured
}

// place is a point of a figure and one of its metrics.
type place struct {
	metric, series, encoding, parameters string
	epsilon                              float64
}

// measured is one repeat of a place.
type measured struct {
	seed   uint64
	repeat int
}

// averageTables averages records, in the order in which points and metrics first
// occur. Of two records of one repeat the later one counts, as it does where
// figures are judged.
func averageTables(records []record) (out []Table) {
	values := map[place]map[measured]float64{}
	var order []place
	var keys = map[place][]measured{}
	for i := range records {
		r := &records[i]
		at := place{r.Metric, r.Series, r.Encoding, r.Parameters, 0}
		if r.Epsilon != nil {
			at.epsilon = *r.Epsilon
		}
		if values[at] == nil {
			values[at] = map[measured]float64{}
			order = append(order, at)
		}
		key := measured{r.Seed, r.Repeat}
		if _, again := values[at][key]; !again {
			keys[at] = append(keys[at], key)
		}
		values[at][key] = r.Value
	}
	for _, at := range order {
		list := make([]float64, len(keys[at]))
		for i, key := range keys[at] {
			list[i] = values[at][key]
		}
		row := Row{Series: at.series, Details: describePlace(at), Epsilon: at.epsilon, N: len(list)}
		row.Mean, row.StdDev = meanAndDeviation(list)
		i := slices.IndexFunc(out, func(t Table) bool { return t.Metric == at.metric })
		if i < 0 {
			i = len(out)
			out = append(out, Table{Metric: at.metric})
		}
		out[i].Rows = append(out[i].Rows, row)
	}
	for i := range out {
		groupRows(out[i].Rows)
	}
	return out
}

// groupRows puts the rows of a series together, by ε, series in the order they
// first occur.
func groupRows(rows []Row) {
	at := map[[2]string]int{}
	for i, r := range rows {
		key := [2]string{r.Series, r.Details}
		if _, ok := at[key]; !ok {
			at[key] = i
		}
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		ia, ib := at[[2]string{a.Series, a.Details}], at[[2]string{b.Series, b.Details}]
		switch {
		case ia != ib:
			return ia - ib
		case a.Epsilon < b.Epsilon:
			return -1
		case a.Epsilon > b.Epsilon:
			return 1
		}
		return 0
	})
}

func describePlace(at place) string {
	var parts []string
	for _, s := range []string{at.encoding, at.parameters} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ", ")
}

func meanAndDeviation(x []float64) (mean, deviation float64) {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	mean = sum / float64(len(x))
	if len(x) == 1 {
		return mean, 0
	}
	squares := 0.0
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(squares / float64(len(x)-1))
}

// formatNumber writes x with the digits that tell: four decimals for shares, four
// digits for what is larger.
func formatNumber(x float64) string {
	if math.Abs(x) < 10 {
		return strings.Replace(strconv.FormatFloat(x, 'f', 4, 64), "-", "−", 1)
	}
	return strings.Replace(strconv.FormatFloat(x, 'g', 4, 64), "-", "−", 1)
}
