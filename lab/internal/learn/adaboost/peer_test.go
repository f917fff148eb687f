// SPDX-License-Identifier: Apache-2.0

package adaboost

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn/nonprivate"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Votes and predictions are scikit-learn's (lab/peers/sklearn/samme.py).
func TestSAMMEEqualsScikitLearn(t *testing.T) {
	text, err := os.ReadFile("testdata/samme.json")
	if err != nil {
		t.Fatal(err)
	}
	var peer struct {
		Columns           [][]float64
		Labels, Predicted []uint8
		Votes             []float64
	}
	if err := json.Unmarshal(text, &peer); err != nil {
		t.Fatal(err)
	}
	if len(peer.Votes) < 40 {
		t.Fatalf("only %d votes", len(peer.Votes))
	}
	s := &schema.Schema{Name: "samme", Unit: "one row", Relation: dp.ReplaceOne,
		Label: schema.Label{Name: "y", Role: schema.Public,
			Levels: []schema.Level{{Value: "0"}, {Value: "1"}, {Value: "2"}, {Value: "3"}}, Positive: -1, Default: -1}}
	tab := &dataset.Table{Schema: s, Rows: len(peer.Labels), Labels: peer.Labels}
	for j, cells := range peer.Columns {
		s.Columns = append(s.Columns, schema.Column{Name: strconv.Itoa(j), Role: schema.Public, Kind: schema.Number, Lower: 0,
			Upper: 1})
		values := slices.Compact(slices.Sorted(slices.Values(cells)))
		codes := make([]uint32, len(cells))
		for i, x := range cells {
			at, _ := slices.BinarySearch(values, x)
			codes[i] = uint32(at)
		}
		tab.Cols = append(tab.Cols, column.Column{Codes: column.Narrow(codes, len(values)), Values: values})
	}
	p := Params{Rounds: len(peer.Votes), Base: Stump, Encoding: feature.Ordinal, Columns: nonprivate.Public}
	m := learntest.Fit(t, mustPlan(t, p, s), tab, nil, 1)
	for round, member := range m.Classifier.(*model.Ballots).Members {
		if !(math.Abs(member.Weight-peer.Votes[round]) <= 1e-9) {
			t.Fatalf("round %d: vote %.12g here, %.12g there", round+1, member.Weight, peer.Votes[round])
		}
	}
	scores, err := m.Scores(tab.Cols, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Labels(scores); !slices.Equal(got, peer.Predicted) {
		t.Errorf("predictions differ:\n%v\n%v", got, peer.Predicted)
	}
}
