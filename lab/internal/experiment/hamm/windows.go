// SPDX-License-Identifier: Apache-2.0

package hamm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/examples"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

const (
	window  = 128 // samples, as UCI HAR has it
	overlap = 64
	harOnly = 6 // classes; the others are changes of posture
)

// readWindows are HAPT's recordings in windows that lie within one segment, with
// computed features in place of HAR's.
func readWindows(ctx context.Context, w *frame.World) (*dataset.Table, error) {
	text, err := examples.Schema("hapt.yaml")
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	s, err := schema.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	s.Person = nil // windows of persons are dealt by the figure
	file, err := w.File("hapt/hapt_labelled_samples.csv.gz")
	if err != nil {
		return nil, err
	}
	raw := *s
	raw.Columns = slices.Clone(s.Columns)
	at := map[string]int{}
	for j := range raw.Columns {
		c := &raw.Columns[j]
		at[c.Name] = j
		if c.Name == "segment" { // of which recording a sample is
			c.Role, c.Kind, c.Lower, c.Upper = schema.Public, schema.Number, 0, 1e6
		}
	}
	t, err := dataset.Read(ctx, &raw, dataset.Options{}, file)
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	cell := func(j, row int) float64 { return t.Cols[j].Values[t.Cols[j].Codes.At(row)] }
	unit := []float64{720, 720, 720, 10000, 10000, 10000} // g, radians a second
	var channels [6]int
	for k, name := range []string{"ax", "ay", "az", "gx", "gy", "gz"} {
		channels[k] = at[name]
	}
	var labels []uint8
	var rows [][]float64
	var signal [6][window]float64
	for from := 0; from < t.Rows; {
		to := from
		for to < t.Rows && cell(at["segment"], to) == cell(at["segment"], from) && t.Labels[to] == t.Labels[from] {
			to++
		}
		for ; from+window <= to && int(t.Labels[from]) < harOnly; from += window - overlap {
			for k, j := range channels {
				for i := range window {
					signal[k][i] = cell(j, from+i) / unit[k]
				}
			}
			rows, labels = append(rows, describeWindow(&signal)), append(labels, t.Labels[from])
		}
		from = to
	}
	return tableOfWindows(s, rows, labels), nil
}

// bound is a declared range of a feature, from the sensor and from what bodies
// do, wide enough that few windows are clamped.
type bound struct {
	name         string
	lower, upper float64
}

// steps is how finely features are kept, in parts of their range: more would be
// no information, and short dictionaries predict fast.
const steps = 255

func (b bound) stepOf(x float64) float64 {
	share := (min(max(x, b.lower), b.upper) - b.lower) / (b.upper - b.lower)
	return b.lower + math.Round(share*steps)/steps*(b.upper-b.lower)
}

func listBounds() (out []bound) {
	for k, name := range []string{"ax", "ay", "az", "gx", "gy", "gz"} {
		if k < 3 { // g
			out = append(out, bound{name + "_mean", -1.2, 1.2}, bound{name + "_deviation", 0, 0.6},
				bound{name + "_change", 0, 0.3})
		} else { // radians a second
			out = append(out, bound{name + "_mean", -1, 1}, bound{name + "_deviation", 0, 2}, bound{name + "_change", 0, 0.6})
		}
	}
	return append(out, bound{"acceleration_mean", 0.8, 1.4}, bound{"acceleration_deviation", 0, 0.8},
		bound{"rotation_mean", 0, 3}, bound{"rotation_deviation", 0, 2},
		bound{"xy_correlation", -1, 1}, bound{"xz_correlation", -1, 1}, bound{"yz_correlation", -1, 1})
}

// describeWindow computes the features of one window, in the order of bounds.
func describeWindow(signal *[6][window]float64) (out []float64) {
	var mean, deviation [6]float64
	for k := range signal {
		mean[k], deviation[k] = meanAndDeviation(signal[k][:])
		change := 0.0
		for i := 1; i < window; i++ {
			change += math.Abs(signal[k][i]-signal[k][i-1]) / (window - 1)
		}
		out = append(out, mean[k], deviation[k], change)
	}
	for _, of := range []int{0, 3} {
		size := make([]float64, window)
		for i := range size {
			size[i] = math.Sqrt(squareOf(signal[of][i]) + squareOf(signal[of+1][i]) + squareOf(signal[of+2][i]))
		}
		m, d := meanAndDeviation(size)
		out = append(out, m, d)
	}
	for _, pair := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
		a, b, both := pair[0], pair[1], 0.0
		for i := range window {
			both += (signal[a][i] - mean[a]) * (signal[b][i] - mean[b]) / window
		}
		out = append(out, both/max(deviation[a]*deviation[b], 1e-9))
	}
	return out
}

func squareOf(x float64) float64 { return x * x }

func meanAndDeviation(x []float64) (mean, deviation float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		deviation += squareOf(v-mean) / float64(len(x))
	}
	return mean, math.Sqrt(deviation)
}

// tableOfWindows is the table of windows.
func tableOfWindows(s *schema.Schema, rows [][]float64, labels []uint8) *dataset.Table {
	out := &schema.Schema{
		Name: "hapt windows", Unit: "two and a half seconds of one person's phone", Relation: dp.ReplaceOne,
		Dialect: s.Dialect,
		Label: schema.Label{Name: s.Label.Name, Role: schema.Public, Levels: s.Label.Levels[:harOnly], Positive: -1,
			Default: -1},
	}
	t := &dataset.Table{Schema: out, Rows: len(rows), Labels: labels}
	for f, b := range listBounds() {
		out.Columns = append(out.Columns, schema.Column{Name: b.name, Role: schema.Private, Kind: schema.Number,
			Lower: b.lower, Upper: b.upper})
		t.Cols = append(t.Cols, codeNumbers(len(rows), func(i int) float64 { return b.stepOf(rows[i][f]) }))
	}
	out.Label.Position = len(out.Columns)
	return t
}

// codeNumbers codes one column.
func codeNumbers(rows int, at func(row int) float64) column.Column {
	values, codes := make([]float64, 0, rows), make([]uint32, rows)
	for i := range rows {
		values = append(values, at(i))
	}
	slices.Sort(values)
	values = slices.Compact(values)
	for i := range rows {
		k, _ := slices.BinarySearch(values, at(i))
		codes[i] = uint32(k)
	}
	return column.Column{Codes: column.Narrow(codes, len(values)), Values: values}
}
