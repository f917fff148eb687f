// SPDX-License-Identifier: Apache-2.0

package hamm

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

const harFeatures = 561

// newHAR is activity recognition on the paper's own features, which are not among our
// data: its figure runs if someone puts them there.
func newHAR() *task {
	return &task{
		name: "har", title: "activity recognition, UCI HAR",
		data: "UCI HAR (Anguita, Ghio, Oneto, Parra, Reyes-Ortiz 2013), 561 features, train and test together",
		load: func(_ context.Context, w *frame.World) (*dataset.Table, error) {
			var rows [][]float64
			var labels []uint8
			for _, part := range []string{"train", "test"} {
				err := openHAR(w, part+"/X_"+part+".txt", func(r io.Reader, name string) (err error) {
					some, err := readHARRows(r, name)
					rows = append(rows, some...)
					return err
				})
				if err != nil {
					return nil, err
				}
				err = openHAR(w, part+"/y_"+part+".txt", func(r io.Reader, name string) error {
					some, err := readHARLabels(r, name)
					labels = append(labels, some...)
					return err
				})
				if err != nil {
					return nil, err
				}
				if len(rows) != len(labels) {
					return nil, fmt.Errorf("experiment: UCI HAR, %s: %d rows and %d labels", part, len(rows), len(labels))
				}
			}
			return tableOfHAR(rows, labels), nil
		},
		encoding: feature.Ordinal, parties: 1000, rows: 6, aux: 2000, test: 2000,
	}
}

// openHAR reads one file of the unpacked archive.
func openHAR(w *frame.World, file string, read func(r io.Reader, name string) error) error {
	name, err := w.File("uci_har/" + file)
	if err != nil {
		return err
	}
	f, err := os.Open(name)
	if os.IsNotExist(err) {
		return &dp.ParamError{Op: "experiment", Param: "data sets",
			Want: "must hold uci_har/" + file + " of archive.ics.uci.edu/dataset/240 for this figure",
			Hint: "hamm/activity-epsilon runs on a stand-in"}
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return read(f, name)
}

// readHARRows reads lines of 561 numbers between -1 and 1.
func readHARRows(r io.Reader, name string) (rows [][]float64, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		row := make([]float64, len(words))
		for i, word := range words {
			if row[i], err = strconv.ParseFloat(word, 64); err != nil || !(row[i] >= -1 && row[i] <= 1) {
				return nil, fmt.Errorf("experiment: %s: line %d: must have numbers from -1 to 1", name, n)
			}
		}
		if len(row) != harFeatures {
			return nil, fmt.Errorf("experiment: %s: line %d: must have %d numbers", name, n, harFeatures)
		}
		rows = append(rows, row)
	}
	return rows, lines.Err()
}

// readHARLabels reads lines from 1 to 6.
func readHARLabels(r io.Reader, name string) (labels []uint8, err error) {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		k, err := strconv.Atoi(strings.TrimSpace(lines.Text()))
		if err != nil || k < 1 || k > harOnly {
			return nil, fmt.Errorf("experiment: %s: line %d: must be an activity from 1 to %d", name, n, harOnly)
		}
		labels = append(labels, uint8(k-1))
	}
	return labels, lines.Err()
}

func tableOfHAR(rows [][]float64, labels []uint8) *dataset.Table {
	s := &schema.Schema{
		Name: "UCI HAR", Unit: "two and a half seconds of one person's phone", Relation: dp.ReplaceOne,
		Label: schema.Label{Name: "activity", Role: schema.Public, Positive: -1, Default: -1, Position: harFeatures},
	}
	for _, v := range []string{"walking", "upstairs", "downstairs", "sitting", "standing", "lying"} {
		s.Label.Levels = append(s.Label.Levels, schema.Level{Value: v})
	}
	t := &dataset.Table{Schema: s, Rows: len(rows), Labels: labels}
	for f := range harFeatures {
		s.Columns = append(s.Columns, schema.Column{Name: fmt.Sprintf("f%d", f+1), Role: schema.Private,
			Kind: schema.Number, Lower: -1, Upper: 1})
		t.Cols = append(t.Cols, codeNumbers(len(rows), func(i int) float64 { return rows[i][f] }))
	}
	return t
}
