// SPDX-License-Identifier: Apache-2.0

package librarytest

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet"
)

// Amounts say nothing here, a missing cell says yes and the code 96 no. Learners of bins find
// that; the others take the default, and say the same of a mark as of that. Single rows agree with
// tables to the last bit.
func TestMissingAndSpecialCells(t *testing.T) {
	for _, role := range []string{"private", "public"} {
		for _, learner := range []string{"additive", "grids", "erm", "labeldp"} {
			if learner == "labeldp" && role == "private" {
				continue // it takes public columns alone
			}
			t.Run(learner+" "+role, func(t *testing.T) { learnsMarks(t, learner, role) })
		}
	}
}

func learnsMarks(t *testing.T, learner, role string) {
	ctx := context.Background()
	s, err := discreet.ParseSchema([]byte(`name: visits
unit: one visit
relation: replace-one
file: {delimiter: ",", quote: "", header: true, missing: [""]}
columns:
  - name: pain
    role: ` + role + `
    number: {lower: 0, upper: 10.5, default: 5, missing: true, special: [96, 7]}
  - {name: other, role: private, number: {lower: 0, upper: 1, default: 0.5}}
  - {name: ill, role: public, label: {levels: ["no", "yes"], positive: "yes", default: "no"}}
`))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("pain,other,ill\n")
	for i := range 4000 {
		ill := []string{"no", "yes"}
		switch i % 4 {
		case 0:
			fmt.Fprintf(&text, ",%g,%s\n", float64(i%7)/7, ill[min(1, i%20)]) // 4 of 5 yes
		case 1:
			fmt.Fprintf(&text, "96,%g,%s\n", float64(i%7)/7, ill[min(1, (i-1)%20)^1])
		default:
			fmt.Fprintf(&text, "%g,%g,%s\n", float64(i%11)+0.25, float64(i%7)/7, ill[i/4%2])
		}
	}
	table, err := discreet.ReadTableFrom(ctx, s, strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	m, err := discreet.Train(ctx, table, discreet.Options{Learner: learner, Epsilon: 20, Account: discreet.Uncounted})
	if err != nil {
		t.Fatal(err)
	}
	file, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	m = new(discreet.Model)
	if err := m.UnmarshalBinary(file); err != nil {
		t.Fatal(err)
	}
	cells := []string{"", "96", "5", "old", "5.5", "7", "200"}
	var rows strings.Builder
	rows.WriteString("pain,other,ill\n")
	for _, c := range cells {
		fmt.Fprintf(&rows, "%s,0.5,no\n", c)
	}
	few, err := discreet.ReadTableFrom(ctx, m.Schema(), strings.NewReader(rows.String()))
	if err != nil {
		t.Fatal(err)
	}
	predicted, err := m.PredictTable(few)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predictor()
	if err != nil {
		t.Fatal(err)
	}
	score := map[string]float64{}
	for i, c := range cells {
		row := make([]discreet.Cell, len(p.Columns()))
		for k, name := range p.Columns() {
			row[k] = discreet.Text(map[string]string{"pain": c, "other": "0.5"}[name])
		}
		_, x, err := p.Predict(row)
		if err != nil {
			t.Fatal(err)
		}
		if score[c] = x; math.Float64bits(x) != math.Float64bits(predicted.Scores[i]) {
			t.Errorf("pain %q: %g alone, %g in a table", c, x, predicted.Scores[i])
		}
	}
	if score["old"] != score[""] {
		t.Errorf("an unreadable cell scores %g, a missing one %g", score["old"], score[""])
	}
	if learner != "additive" && learner != "grids" {
		if score[""] != score["5"] || score["96"] != score["5"] || score["7"] != score["5"] || score["200"] == score["5"] {
			t.Errorf("scores %v, want those of marks to be that of the default", score)
		}
		return
	}
	// Which grids are drawn is chance: of them only what must be in any is asked.
	if !(score[""]-score["96"] > 0.2) || learner == "additive" && (!(score[""] > 0.65) || !(score["96"] < 0.35) ||
		math.Abs(score["5"]-0.5) > 0.2 || math.Abs(score["5.5"]-0.5) > 0.2) {
		t.Errorf("scores %v", score)
	}
	if learner == "additive" {
		e, err := m.Explain()
		if err != nil {
			t.Fatal(err)
		}
		said, err := e.MarshalJSON()
		if err != nil || !bytes.Contains(said, []byte(`"level":"(missing)"`)) ||
			!bytes.Contains(said, []byte(`"level":"96"`)) {
			t.Errorf("error %v, explanation %s", err, said)
		}
		var page bytes.Buffer
		if err := e.WriteHTML(&page); err != nil || !strings.Contains(page.String(), ">missing</text>") {
			t.Errorf("error %v, or no mark on the page", err)
		}
	}
}
