// SPDX-License-Identifier: Apache-2.0

package evaluation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Release holds the noisy counts, and what is needed to interpret them. A ledger stores it as the
// result of the job.
type Release struct {
	Version   int         `json:"discreet_evaluation"`
	Label     string      `json:"label"`
	Levels    []string    `json:"levels"`
	Positive  int         `json:"positive"` // code of the positive class, if there are two
	Models    int         `json:"models"`   // 1, or 2 to compare
	Scope     dp.Scope    `json:"scope"`
	Relation  dp.Relation `json:"relation"`
	Unit      string      `json:"unit"`
	Persons   bool        `json:"persons,omitempty"` // each person counts as one row
	Epsilon   dp.Epsilon  `json:"epsilon_nano"`
	Delta     dp.Delta    `json:"delta_femto,omitempty"`
	Bill      []dp.Event  `json:"bill"`
	Counted   bool        `json:"counted"`
	Seeded    bool        `json:"seeded,omitempty"`
	Units     int         `json:"units,omitempty"` // rows or persons; 0 if private
	Threshold float64     `json:"threshold"`
	Cuts      []float64   `json:"cuts"` // of the scores
	// Scores holds the only score of each cell, if the model has few; otherwise nil.
	Scores []float64 `json:"scores,omitempty"`
	// By names the column of groups, and Groups its groups, if there are any.
	By     string   `json:"by,omitempty"`
	Groups []string `json:"groups,omitempty"`
	// Cells holds the noisy counts of each partition. A partition of one score has two counts per
	// cell: the rows of other classes, and those of the class itself. Those of one group follow on those of the one before.
	Cells    [][]float64 `json:"cells"`
	Variance float64     `json:"variance"` // of the noise on each count
	// Classes holds the number of rows of each class if the label is public. Bins holds the number of
	// rows of each cell of scores if only the label is protected.
	Classes []float64 `json:"classes,omitempty"`
	Bins    []float64 `json:"bins,omitempty"`
}

const version = 1

// Stated returns the statement of the release about its cost.
func (r *Release) Stated() dp.Statement {
	return dp.Statement{Scope: r.Scope, Price: dp.Price{Epsilon: r.Epsilon, Delta: r.Delta}, Bill: r.Bill,
		Counted: r.Counted, Seeded: r.Seeded}
}

// Marshal writes a release.
func (r *Release) Marshal() ([]byte, error) {
	r.Version = version
	b, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("evaluate: %w", err)
	}
	return b, nil
}

// Unmarshal reads a release that Marshal wrote, and refuses any other text without quoting it.
func Unmarshal(text []byte) (*Release, error) {
	r := new(Release)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(r); err != nil || d.More() {
		return nil, fmt.Errorf("evaluate: the result must be an evaluation that this program wrote")
	}
	if !r.isWhole() {
		return nil, fmt.Errorf("evaluate: the result must be a whole evaluation of version %d", version)
	}
	return r, nil
}

// isWhole reports whether all parts of a release fit together.
func (r *Release) isWhole() bool {
	cells, k := len(r.Cuts)+1, len(r.Levels)
	if r.Version != version || k < 2 || k > 256 || cells < 2 || r.Models < 1 || r.Models > 2 || r.Units < 0 ||
		!(r.Variance >= 0 && r.Variance < math.MaxFloat64) || !(r.Threshold > 0 && r.Threshold < 1) ||
		r.Positive < 0 || r.Positive >= k || r.Classes != nil && len(r.Classes) != k ||
		(r.By == "") != (len(r.Groups) == 0) || len(r.Groups) > mostGroups || r.By != "" && (k > 2 || r.Models > 1) {
		return false
	}
	last := 0.0
	for _, c := range r.Cuts {
		if !(c > last && c < 1) {
			return false
		}
		last = c
	}
	for k, p := range r.Scores {
		if len(r.Scores) != cells || !(p >= 0 && p <= 1) || k > 0 && !(p >= r.Cuts[k-1]) || k < cells-1 && !(p < r.Cuts[k]) {
			return false
		}
	}
	var want []int
	switch {
	case r.Models == 2 && k == 2:
		want = []int{2 * cells * cells}
	case r.Models == 1 && k == 2:
		want = []int{2 * cells * max(1, len(r.Groups))}
	case r.Models == 1:
		for range k {
			want = append(want, 2*cells)
		}
		want = append(want, 2)
	}
	if len(want) != len(r.Cells) || r.Bins != nil && (k > 2 || len(r.Bins) != want[0]/2) {
		return false
	}
	for i, n := range want {
		if len(r.Cells[i]) != n {
			return false
		}
	}
	return true
}
