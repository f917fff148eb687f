// SPDX-License-Identifier: Apache-2.0

package noninterference

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
)

// watched notes what a learner makes of the persons of a table.
type watched struct {
	engine.Table
	settled *[]string
}

func (w watched) Persons() engine.Persons { return watchedPersons{w.Table.Persons(), w.settled} }

type watchedPersons struct {
	engine.Persons
	settled *[]string
}

func (w watchedPersons) Weigh(most int) engine.Table {
	*w.settled = append(*w.settled, fmt.Sprint("weigh ", most))
	return w.Persons.Weigh(most)
}

func (w watchedPersons) Draw(most int, fill bool, below func(uint64) uint64) engine.Table {
	*w.settled = append(*w.settled, fmt.Sprint("draw ", most))
	return w.Persons.Draw(most, fill, below)
}

func (w watchedPersons) Ignore() engine.Table {
	*w.settled = append(*w.settled, "ignore")
	return w.Persons.Ignore()
}

// firstModes is one mode of each family and δ that takes a setting.
func firstModes(set setting) (all []mode) {
	s := parse(set)
	for _, m := range trainings() {
		if !slices.ContainsFunc(all, func(o mode) bool { return o.family() == m.family() && o.delta == m.delta }) {
			if _, err := m.request().Plan(s, 0); err == nil {
				all = append(all, m)
			}
		}
	}
	return all
}

// Every learner takes as many rows of each person as the schema declares, or bounds what a person's
// rows weigh by that; none takes all of them.
func TestEveryLearnerBoundsPersons(t *testing.T) {
	families := map[string]bool{}
	for i := range size.Of(16, 64) {
		set := readSetting(&choices{0, byte(i & 1), byte(96 + i>>1)})
		s := parse(set)
		rows := readTable(&choices{byte(readable)}, set, 12)
		for _, m := range firstModes(set) {
			tab, err := read(s, rows)
			if err != nil {
				t.Fatal(err)
			}
			mem, err := memory.New(tab)
			if err != nil {
				t.Fatal(err)
			}
			pl, err := m.request().Plan(s, guard.PublicUnits(mem))
			if err != nil {
				continue
			}
			var settled []string
			tape := &mechtest.Recorder{Script: func(_ int, p mechtest.Passage) []float64 { return exact.answers(p, nil) }}
			exit := mech.NewTapedExit(replay.Seeded(4, "persons"), tape)
			if _, err := guard.Train(context.Background(), pl, watched{mem, &settled}, guard.Uncounted{}, exit); err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprint("draw ", set.persons)
			if m.family() == "additive" || m.family() == "auto" {
				want = fmt.Sprint("weigh ", set.persons)
			}
			if len(settled) != 1 || settled[0] != want {
				t.Errorf("%s, %d rows of a person: %q, want %q", m, set.persons, settled, want)
			}
			families[m.family()] = true
		}
	}
	for _, l := range searched() {
		if l.Private && !families[l.Name] {
			t.Errorf("only %v take persons, and not %s", families, l.Name)
		}
	}
}

// Tables that differ in all rows of one person: nothing shows but what is released, and no release
// moves by more than it declares.
func TestEveryLearnerProtectsPersons(t *testing.T) {
	pairs := size.Of(4, 12)
	src := rand.New(rand.NewPCG(24, 0))
	tried := map[string]int{}
	for i, m := range modes() {
		for attempt := 0; tried[m.family()] < pairs && attempt < 40; attempt++ {
			c := drawn(i, src)
			c[4] = 96 + c[4]%32
			what, m, ok := interference(c, 0, false)
			if ok {
				tried[m.family()]++
			}
			if what != "" {
				t.Errorf("%s: tables that differ in a person differ in %s (choices %v)", m, what, []byte(c))
				return
			}
		}
	}
	for _, m := range firstModes(setting{classes: 2, relation: dp.ReplaceOne, privateLabel: true, persons: 1}) {
		if tried[m.family()] < pairs/2 {
			t.Errorf("%s was searched on %d pairs", m.family(), tried[m.family()])
		}
	}
}
