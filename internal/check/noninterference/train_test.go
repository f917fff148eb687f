// SPDX-License-Identifier: Apache-2.0

package noninterference

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// told is what a training says to people while it runs, and what its model says it cost.
func told(t *testing.T, m mode, s *schema.Schema, rows table) string {
	t.Helper()
	var lines strings.Builder
	made, err := (&train.Training{
		Op: "search", Request: m.request(), Schema: s,
		Read: func(context.Context) (*dataset.Table, error) { return read(s, rows) },
		Say:  func(format string, args ...any) { fmt.Fprintf(&lines, format+"\n", args...) },
	}).Run(t.Context())
	fmt.Fprintln(&lines, err)
	if made != nil {
		fmt.Fprintf(&lines, "%+v\n", made.Stated())
	}
	return lines.String()
}

// A training talks while it runs; its words are the same on neighbours, and on strangers of another size.
func TestTrainingSaysTheSame(t *testing.T) {
	src := rand.New(rand.NewPCG(19, 0))
	pairs := 0
	for i, m := range trainings() {
		for attempt := 0; attempt < 8; attempt++ {
			c := drawn(i, src)
			c.next(2)
			c.next(2)
			set := readSetting(&c)
			s := parse(set)
			pl, err := m.request().Plan(s, 0)
			if err != nil {
				continue
			}
			scope := dp.PrivateFeatures // what everyone protects
			if len(pl.Terms().Bill) > 0 && m.learner == "labeldp" {
				scope = dp.LabelOnly
			}
			if !set.privateLabel && scope == dp.LabelOnly {
				continue
			}
			a := readTable(&c, set, 0)
			b, _ := neighbour(&c, a, s, scope, m.weighs())
			if i%2 > 0 && (set.persons == 0 || m.weighs()) {
				b = stranger(&c, a, set, s, scope)
			}
			if len(b) == 0 {
				continue
			}
			pairs++
			if x, y := told(t, m, s, a), told(t, m, s, b); x != y {
				t.Errorf("%s says, on neighbours,\n%s\nand\n%s", m, x, y)
			}
			break
		}
	}
	if pairs < len(trainings())/2 {
		t.Errorf("%d pairs of %d modes", pairs, len(trainings()))
	}
}

// What a training on one part, or on some cohorts, reads is a function of the rows of that part or
// those cohorts: the other rows may be any, in any number, and not a byte changes.
func TestPartsAreAlone(t *testing.T) {
	src := rand.New(rand.NewPCG(20, 0))
	all := trainings()
	for attempt := range size.Of(40, 200) {
		c := drawn(attempt%len(all), src)
		m := all[(c.next(256)*256+c.next(256))%len(all)]
		set := readSetting(&c)
		set.onlyPrivate = false // the column that parts the rows is public
		s, err := schema.Parse([]byte(strings.NewReplacer("\ncolumns:", "\nparts: place\ncolumns:",
			"person: {", "person: {one_part: true, ").Replace(set.yaml())))
		if err != nil {
			t.Fatal(err)
		}
		mine, own, foreign := readTable(&c, set, 0), []string{"b"}, []string{"a", "c", "?"}
		pick := dataset.Selection{Column: "place", Names: []string{"b"}}
		if attempt%2 == 1 {
			own, foreign = []string{"b", "c"}, []string{"a", "?"}
			pick.Names = own
		}
		for i := range mine {
			mine[i][0] = own[src.IntN(len(own))]
		}
		others := func() (rows table) {
			for range 1 + src.IntN(20) {
				r := mine[src.IntN(len(mine))]
				for j := range whose {
					of := cellsOf(j, set.classes)
					r[j] = of[src.IntN(len(of))]
				}
				r[0] = foreign[src.IntN(len(foreign))]
				rows = append(rows, r)
			}
			return rows
		}
		var parts [2]*dataset.Table
		var runs [2]run
		for k := range parts {
			theirs := others()
			rows := slices.Concat(theirs[:1], mine, theirs[1:])
			rows.assign(crowd(attempt%int(crowds)), rand.New(rand.NewPCG(uint64(attempt), 21))) // some persons have rows in other parts, too
			tab, err := read(s, rows)
			if err != nil {
				t.Fatal(err)
			}
			parts[k] = pick.Of(tab)
			tape := &mechtest.Recorder{Script: func(_ int, p mechtest.Passage) []float64 { return exact.answers(p, nil) }}
			if err := runs[k].fit(m, s, parts[k], mech.NewTapedExit(replay.Seeded(0, "search"), tape)); err != nil {
				runs[k].err = err.Error()
			}
			runs[k].passages = tape.Passages
		}
		if !reflect.DeepEqual(parts[0], parts[1]) {
			t.Errorf("case %d: the tables of one part differ", attempt)
		}
		if what := m.compare(runs[0], runs[1], 0); what != "" && !m.deals() {
			t.Errorf("%s: rows of other parts show in %s", m, what)
		}
	}
}
