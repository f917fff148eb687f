// SPDX-License-Identifier: Apache-2.0

package tasks_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/collect"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// missed is the probability that some slot of n owners has fewer than minimum, by
// the multinomial law: owner after owner is put somewhere. It is exact for two
// slots; those of a round have the parts table and error.
func missed(n, minimum int, part float64) float64 {
	p := make([]float64, n+1) // p[k]: k owners are in the first slot
	p[0] = 1
	for range n {
		for k := n; k > 0; k-- {
			p[k] = p[k]*(1-part) + p[k-1]*part
		}
		p[0] *= 1 - part
	}
	sum := 0.0
	for k, x := range p {
		if k < minimum {
			sum += x
		}
		if n-k < minimum {
			sum += x
		}
	}
	return sum
}

// feasible is an announcement of so many rounds, and circumstances in which it can
// succeed.
func feasible(t *testing.T, rounds int) (*tasks.Announcement, tasks.Circumstances) {
	t.Helper()
	a := secretTask(t)
	a.Task.Mode, a.Helpers = wire.Local, nil
	for len(a.Task.Rounds) < rounds {
		a.Task.Rounds = append(a.Task.Rounds, a.Task.Rounds[0])
	}
	a.Task.Rounds = a.Task.Rounds[:rounds]
	for i := range a.Task.Rounds {
		a.Task.Rounds[i] = wire.Shares{Table: 9, Error: 1}
	}
	now := time.Unix(1_800_000_000, 0)
	a.Slot, a.Quiet, a.Ends, a.Minimum = time.Hour, 0, now.Add(time.Duration(2*rounds)*time.Hour+time.Second), 20
	return a, tasks.Circumstances{Owners: 1000, Signature: a.Ends, Now: now}
}

// refusal is the parameter that is refused, "" for none.
func refusal(t *testing.T, err error) string {
	t.Helper()
	p := (*dp.ParamError)(nil)
	if err == nil {
		return ""
	}
	if !errors.As(err, &p) {
		t.Fatalf("err = %v, want a ParamError", err)
	}
	return p.Param
}

// TestHopelessTasks: each cannot succeed, by one number that is one too small.
func TestHopelessTasks(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*tasks.Announcement, *tasks.Circumstances)
		param  string
	}{
		"as it is": {func(*tasks.Announcement, *tasks.Circumstances) {}, ""},
		"50 owners, minimum 100": {func(a *tasks.Announcement, c *tasks.Circumstances) { a.Minimum, c.Owners = 100, 50 },
			"owners"},
		"a small error slot": {func(a *tasks.Announcement, c *tasks.Circumstances) { a.Minimum = 100 }, "minimum"},
		"nobody to measure": {func(a *tasks.Announcement, c *tasks.Circumstances) { c.Owners, a.Minimum = 9, 2 },
			"owners"},
		"owners are not told": {func(a *tasks.Announcement, c *tasks.Circumstances) { c.Owners, a.Minimum = 0, 100 },
			""},
		"ends with the certificate": {func(a *tasks.Announcement, c *tasks.Circumstances) {
			c.Signature = a.Ends.Add(-time.Second)
		}, "ends"},
		"slots last as they may": {func(a *tasks.Announcement, c *tasks.Circumstances) { c.Now = c.Now.Add(time.Second) },
			"ends"},
		"quiet slots are shorter": {func(a *tasks.Announcement, c *tasks.Circumstances) {
			a.Quiet, c.Now = time.Minute, a.Ends.Add(-121*time.Second)
		}, ""},
		"but not that short": {func(a *tasks.Announcement, c *tasks.Circumstances) {
			a.Quiet, c.Now = time.Minute, a.Ends.Add(-120*time.Second)
		}, "ends"},
		"ended already": {func(a *tasks.Announcement, c *tasks.Circumstances) { c.Now = a.Ends.Add(time.Hour) }, "ends"},
		"for a very long time": {func(a *tasks.Announcement, c *tasks.Circumstances) {
			a.Slot = 90 * 24 * time.Hour
			for len(a.Task.Rounds) < wire.MaxRounds {
				a.Task.Rounds = append(a.Task.Rounds, a.Task.Rounds[0])
			}
		}, "ends"},
		"too many for a sum": {func(a *tasks.Announcement, c *tasks.Circumstances) {
			a.Task.Mode, a.Task.Mechanism, a.Minimum, c.Owners = wire.Aggregate, "", 100_001, 10_000_000
		}, "minimum"},
	} {
		t.Run(name, func(t *testing.T) {
			a, in := feasible(t, 1)
			c.change(a, &in)
			err := a.CheckFeasible(in)
			if got := refusal(t, err); got != c.param {
				t.Errorf("%v: refused for %q, want %q", err, got, c.param)
			}
		})
	}
}

// TestDemandedProofsMustFit: of a task that demands proofs as many cells are accepted as there is
// room for in every sum of it, by one number.
func TestDemandedProofsMustFit(t *testing.T) {
	const owners = 12
	fits := func(cells int) (*tasks.Announcement, bool) {
		a := secretTask(t)
		a.Ends, a.Quiet, a.Minimum, a.Proofs = time.Unix(2_000_000_000, 0), 0, 2, true
		a.Task.Questions, a.Task.Schema.Columns = nil, slices.Clone(a.Task.Schema.Columns)
		for i := range a.Task.Schema.Columns {
			if c := &a.Task.Schema.Columns[i]; c.Kind == schema.Number && c.Role != schema.Ignored && a.Task.Questions == nil {
				edges := make([]float64, cells/2-1)
				for k := range edges {
					edges[k] = c.Lower + (c.Upper-c.Lower)*float64(k+1)/float64(len(edges)+1)
				}
				a.Task.Questions = []wire.Question{{Column: c.Name, Edges: edges}}
			}
		}
		must(t, a.Check())
		list := listed(t, owners)
		err := a.CheckFeasible(tasks.Circumstances{Roster: list, Signature: a.Ends, Now: a.Ends.Add(-24 * time.Hour)})
		return a, refusal(t, err) != "proofs"
	}
	most := 2 * sort.Search(1<<15, func(i int) bool {
		_, ok := fits(2 * (i + 2))
		return !ok
	})
	most += 2 // the last that fits
	a, ok := fits(most)
	core, err := collect.New(a.Task)
	must(t, err)
	must(t, core.Assemble(owners, a.Leaned(owners, owners)))
	broadcast, err := core.Broadcast()
	must(t, err)
	var roster []secretsum.Key
	for i := range owners {
		roster = append(roster, keyed(i))
	}
	s, err := tasks.SecretSum(a, broadcast, roster, []secretsum.Helper{{Name: "one", Memory: secretsum.Memory{1}},
		{Name: "two", Memory: secretsum.Memory{2}}, {Name: "three"}}, a.Ends)
	must(t, err)
	s.Collector = identity.Caller{Role: identity.Aggregator, Name: "main"}
	if err := s.Check(); !ok || most < 10_000 || err != nil {
		t.Errorf("%d cells are accepted: %t, and their sum: %v", most, ok, err)
	}
	s.Length += s.Length / 100
	if err := s.Check(); err == nil {
		t.Errorf("a sum of %d numbers has proofs in which there is no room for them", s.Length)
	}
}

// TestLargestMinimum: what is refused, and what the refusal names instead, are those
// of the exact law.
func TestLargestMinimum(t *testing.T) {
	for _, n := range []int{20, 60, 150, 400} {
		best := 0
		for missed(n, best+1, 0.1) <= 0.01 {
			best++
		}
		for m := 2; m <= n; m++ {
			a, in := feasible(t, 1)
			a.Minimum, in.Owners = m, n
			err := a.CheckFeasible(in)
			if (err == nil) != (m <= best) {
				t.Fatalf("%d owners, minimum %d: %v, want the largest to be %d", n, m, err, best)
			}
			if want := fmt.Sprintf("minimum must be at most %d:", best); best >= 2 && err != nil &&
				!strings.Contains(err.Error(), want) {
				t.Fatalf("%d owners, minimum %d: %v, want %q", n, m, err, want)
			}
		}
	}
	// Of many rounds, each slot may miss its minimum.
	for rounds, want := range map[int]bool{1: true, 40: false} {
		a, in := feasible(t, rounds)
		in.Owners, a.Minimum = 150*rounds, 7
		if err := a.CheckFeasible(in); (err == nil) != want {
			t.Errorf("%d rounds: %v", rounds, err)
		}
	}
	if p := missed(150, 7, 0.1); !(p < 0.01) || math.IsNaN(p) {
		t.Errorf("the law says %g", p)
	}
}

// TestListedOwnersAreCounted: where they are known, chance plays no part.
func TestListedOwnersAreCounted(t *testing.T) {
	a, in := feasible(t, 2)
	var keys [][32]byte
	for i := range 200 {
		keys = append(keys, [32]byte{byte(i), 7})
	}
	var text strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&text, "%x\n", k)
	}
	roster, err := tasks.ParseRoster([]byte(text.String()))
	must(t, err)
	a.Roster = roster.Digest()
	placing, err := a.Task.Placing()
	must(t, err)
	counts := make([]int, a.Task.Slots())
	for _, k := range keys {
		counts[placing.Of(hex.EncodeToString(k[:])).Slot]++
	}
	fewest := min(counts[0], counts[1], counts[2], counts[3])
	if fewest < 2 {
		t.Fatalf("the slots have %v", counts)
	}
	in.Owners, in.Roster = 200, roster
	a.Minimum = fewest
	must(t, a.CheckFeasible(in))
	a.Minimum++
	if got := refusal(t, a.CheckFeasible(in)); got != "minimum" {
		t.Errorf("%v owners in the slots, minimum %d: refused for %q", counts, a.Minimum, got)
	}
	a.Minimum = 2
	in.Owners = 201
	if got := refusal(t, a.CheckFeasible(in)); got != "owners" {
		t.Errorf("201 owners of 200: refused for %q", got)
	}
	in.Owners = 20 // of those listed, as many are expected
	if got := refusal(t, a.CheckFeasible(in)); got == "" {
		t.Error("20 owners of 200 are enough for no reason")
	}
}
