// SPDX-License-Identifier: Apache-2.0

package hamm

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// maliciousURLs is the paper's own table, which is not among our data: its figure
// runs only if you add it.
func maliciousURLs() *task {
	return &task{
		name: "url-svmlight", title: "url_svmlight",
		data: fmt.Sprintf("url_svmlight (Ma, Saul, Savage, Voelker 2009), first day, its 3.2 million features hashed with "+
			"signs into %d", hashed),
		load: func(_ context.Context, w *frame.World) (*dataset.Table, error) {
			name, err := w.File("url_svmlight/Day0.svm")
			if err != nil {
				return nil, err
			}
			f, err := os.Open(name)
			if os.IsNotExist(err) {
				return nil, &dp.ParamError{Op: "experiment", Param: "data sets",
					Want: "must hold url_svmlight/Day0.svm of archive.ics.uci.edu/dataset/151 for this figure",
					Hint: "hamm/urls-epsilon runs on a stand-in"}
			}
			if err != nil {
				return nil, err
			}
			defer f.Close()
			return readSVMLight(f, name)
		},
		encoding: feature.Ordinal, parties: 1000, rows: 10, aux: 3000, test: 3000,
	}
}

// hashed is the number of numbers that features are hashed to.
const hashed = 64

// readSVMLight reads lines "label index:value ...", labels -1 and +1. Each
// feature is added, with a sign, to the number that its index hashes to, and
// each row is scaled to have entries in [-1, 1].
func readSVMLight(r io.Reader, name string) (*dataset.Table, error) {
	var rows [][]float64
	var labels []uint8
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 {
			continue
		}
		if words[0] != "-1" && words[0] != "+1" && words[0] != "1" {
			return nil, fmt.Errorf("experiment: %s: line %d: must begin with the label -1 or +1", name, n)
		}
		row := make([]float64, hashed)
		for _, w := range words[1:] {
			i, v, ok := strings.Cut(w, ":")
			index, err1 := strconv.ParseUint(i, 10, 32)
			value, err2 := strconv.ParseFloat(v, 64)
			if !ok || err1 != nil || err2 != nil || math.IsNaN(value) || math.IsInf(value, 0) {
				return nil, fmt.Errorf("experiment: %s: line %d: must have features of the form index:value", name, n)
			}
			place, sign := hashIndex(index)
			row[place] += sign * value
		}
		for f, x := range row {
			row[f] = x / (1 + math.Abs(x))
		}
		label := uint8(1)
		if words[0] == "-1" {
			label = 0
		}
		rows, labels = append(rows, row), append(labels, label)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("experiment: %s: %w", name, err)
	}
	s := &schema.Schema{
		Name: "url_svmlight, hashed", Unit: "one URL", Relation: dp.ReplaceOne,
		Label: schema.Label{Name: "malicious", Role: schema.Public, Levels: []schema.Level{{Value: "-1"}, {Value: "+1"}},
			Positive: 1, Default: -1, Position: hashed},
	}
	t := &dataset.Table{Schema: s, Rows: len(rows), Labels: labels}
	for f := range hashed {
		s.Columns = append(s.Columns, schema.Column{Name: fmt.Sprintf("h%d", f), Role: schema.Private, Kind: schema.Number,
			Lower: -1, Upper: 1})
		t.Cols = append(t.Cols, codeNumbers(len(rows), func(i int) float64 { return rows[i][f] }))
	}
	return t, nil
}

// hashIndex mixes an index (the finaliser of SplitMix64) into a place and a sign.
func hashIndex(index uint64) (place int, sign float64) {
	x := index + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	return int(x % hashed), 1 - 2*float64(bits.OnesCount64(x>>32)&1)
}
