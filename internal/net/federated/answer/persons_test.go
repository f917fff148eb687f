// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Where the schema declares persons each of them is one owner, who reports about a row of that
// person's and of no one else's; rows without an identifier are no owner's.
func TestPersonsAreOwners(t *testing.T) {
	_, recs := accept(t, testTask(t, wire.Stump, ""))
	s := *recs.tab.Schema
	s.Person = &schema.Person{Column: "who", Rows: 1}
	tab := *recs.tab
	tab.Schema, tab.Persons = &s, make([]uint32, tab.Rows)
	for i := range tab.Persons {
		tab.Persons[i] = []uint32{3, dataset.Nobody, 7, 3}[i%4] // two persons, of whom one has twice as many rows
	}
	recs.tab = &tab
	o, err := NewOwners(recs, 2, strconv.Itoa, newMemory())
	if err != nil {
		t.Fatal(err)
	}
	coins := replay.Seeded(19, "persons")
	for owner, person := range []uint32{3, 7} {
		var drawn, want []int
		for range 2000 {
			drawn = append(drawn, o.drawRow(owner, coins))
		}
		for i, p := range tab.Persons {
			if p == person {
				want = append(want, i)
			}
		}
		slices.Sort(drawn)
		if got := slices.Compact(drawn); !slices.Equal(got, want) {
			t.Errorf("owner %d reports about rows %v, want each of %v", owner, got, want)
		}
	}
	for _, count := range []int{1, 3, tab.Rows} {
		var p *dp.ParamError
		if _, err := NewOwners(recs, count, strconv.Itoa, newMemory()); !errors.As(err, &p) || p.Param != "owners" {
			t.Errorf("%d owners of 2 persons: %v", count, err)
		}
	}
}
