// SPDX-License-Identifier: Apache-2.0

package train

import (
	"bytes"
	"runtime"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// markedTable is tab in which people of some ages did not say how old they are.
func markedTable(tab *dataset.Table) *dataset.Table {
	s, out := *tab.Schema, *tab
	s.Columns, out.Cols = slices.Clone(s.Columns), slices.Clone(tab.Cols)
	s.Columns[0].Missing = true
	age := &out.Cols[0]
	age.Values, age.Marks = slices.Clone(age.Values), make([]uint8, len(age.Values))
	codes := make([]uint32, len(age.Values))
	for k := range codes {
		codes[k] = uint32(k)
		if k%20 == 3 { // one code has the mark, as when a table is read
			codes[k] = 3
		}
	}
	age.Marks[3], age.Values[3] = 1, *s.Columns[0].Default
	age.Codes = age.Codes.Pick(allRows(tab.Rows)) // a copy
	age.Codes.Recode(codes)
	out.Schema = &s
	return &out
}

func allRows(n int) (rows []int) {
	for i := range n {
		rows = append(rows, i)
	}
	return rows
}

// Whatever rows go to whatever block, and some blocks have none, the model is the same bytes as of
// one table in memory: with missing cells, a private label and several classes, for every learner.
func FuzzBlocks(f *testing.F) {
	for k, blocks := range []uint8{0, 1, 6, 99} {
		for learner := range uint8(9) {
			f.Add(uint64(k), uint16(60+90*k), blocks, learner, uint8(k))
		}
	}
	f.Fuzz(func(t *testing.T, order uint64, rows uint16, blocks, learner, kind uint8) {
		if runtime.GOARCH != "amd64" {
			t.Skip("equal bytes are promised to equal machines: evidence/decisions/0006-floats.md")
		}
		l := Learners()[int(learner)%len(Learners())]
		tab := censustest.Table(order, 1+int(rows)%400)
		switch kind % 4 {
		case 1:
			tab = markedTable(tab)
		case 2:
			tab = learntest.PrivateLabel(markedTable(tab))
		case 3:
			tab = learntest.Levels(tab, 3, nil)
		}
		pr := Price{NotPrivate: true}
		if l.Private {
			pr = Price{Epsilon: dp.Nano}
		}
		pl, err := (&Request{Learner: l, Price: pr}).Plan(tab.Schema, tab.Rows)
		if err != nil {
			return // no plan of this learner for such a table
		}
		want := learntest.Bytes(t, learntest.FitFrom(t, pl, learntest.Engine(t, learntest.OwnTable(tab)), nil, order))
		got := learntest.FitFrom(t, pl, learntest.Blocks(t, learntest.OwnTable(tab), 1+int(blocks), order, order%2 == 0), nil, order)
		if !bytes.Equal(learntest.Bytes(t, got), want) {
			t.Errorf("learner %s makes another model of %d blocks", l.Name, 1+int(blocks))
		}
	})
}
