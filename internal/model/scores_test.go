// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Every row has one of the scores that are listed, whatever sums the model is of, and none is listed if
// there may be more than asked for.
func TestScoresAreListed(t *testing.T) {
	for name, m := range map[string]*Model{"shapes": summed(), "pairs": paired(), "marks": marked(), "grids": gridded(),
		"grids, marks": markedGrids()} {
		listed := m.ListScores(1 << 12)
		if !slices.IsSorted(listed) || len(listed) < 20 {
			t.Fatalf("%s: %d scores are listed, or out of order", name, len(listed))
		}
		cols := patients(rand.New(rand.NewPCG(1, 2)), m.Schema, 2000)
		scores, err := m.Scores(cols, 2000)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range scores {
			if !slices.Contains(listed, x) {
				t.Fatalf("%s: a row has the score %g, which is not among %d", name, x, len(listed))
			}
		}
		if m.ListScores(len(listed)-1) != nil || len(m.ListScores(len(listed))) != len(listed) {
			t.Errorf("%s: the number of scores is not kept to", name)
		}
	}
	if voted().ListScores(1<<12) != nil {
		t.Error("scores of votes are listed")
	}
}
