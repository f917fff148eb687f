// SPDX-License-Identifier: Apache-2.0

package tasks_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/collect"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
	"github.com/discreet-dp/discreet/internal/table/census"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// keyed is the key of an invented owner.
func keyed(i int) secretsum.Key {
	seed := sha256.Sum256([]byte{byte(i)})
	return secretsum.Key(ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey))
}

// listed is a list of that many invented owners.
func listed(t testing.TB, n int) tasks.Roster {
	t.Helper()
	var text []byte
	for i := range n {
		text = fmt.Appendf(text, "%x\n", keyed(i))
	}
	list, err := tasks.ParseRoster(text)
	must(t, err)
	return list
}

func ascend(keys []secretsum.Key) {
	slices.SortFunc(keys, func(a, b secretsum.Key) int { return bytes.Compare(a[:], b[:]) })
}

func secretTask(t testing.TB) *tasks.Announcement {
	t.Helper()
	task, err := collect.Plan(collect.Params{Schema: census.Schema(), Mode: wire.Aggregate, Classifier: wire.Stump,
		Epsilon: dp.Nano, Owners: 60, Rounds: 1, Nonce: strings.Repeat("cd", 16)})
	must(t, err)
	list := listed(t, 12)
	return &tasks.Announcement{Task: task, Minimum: 6, Slot: time.Minute, Ends: time.Unix(2_000_000_000, 0),
		Roster: list.Digest(), Honest: 10, Helpers: []tasks.Helper{
			{"one", "https://a.example.org:8445"}, {"two", "https://b.example.org:8445"},
			{"three", "https://c.example.org:8445"},
		}}
}

// TestHelpersAreAnnounced: a task in mode aggregate has its helpers, each once, and
// no other task has any.
func TestHelpersAreAnnounced(t *testing.T) {
	a := secretTask(t)
	text, err := a.Text()
	must(t, err)
	back, err := tasks.Parse(text)
	must(t, err)
	if again, err := back.Text(); err != nil || !bytes.Equal(again, text) ||
		fmt.Sprint(back.Helpers) != fmt.Sprint(a.Helpers) {
		t.Errorf("%v came back as %v, %v", a.Helpers, back.Helpers, err)
	}
	a.Proofs = true
	text, err = a.Text()
	must(t, err)
	back, err = tasks.Parse(text)
	if err != nil || !back.Proofs || !bytes.Contains(text, []byte(`"proofs":true`)) {
		t.Errorf("demanded proofs came back as %v, %v", back, err)
	}
	for name, change := range map[string]func(*tasks.Announcement){
		"none":            func(a *tasks.Announcement) { a.Helpers = nil },
		"two":             func(a *tasks.Announcement) { a.Helpers = a.Helpers[:2] },
		"one twice":       func(a *tasks.Announcement) { a.Helpers[1].Name = "one" },
		"one at two":      func(a *tasks.Announcement) { a.Helpers[1].Address = a.Helpers[0].Address },
		"one behind a /":  func(a *tasks.Announcement) { a.Helpers[1].Address = a.Helpers[0].Address + "/" },
		"without TLS":     func(a *tasks.Announcement) { a.Helpers[1].Address = "http://b.example.org:8445" },
		"at a path":       func(a *tasks.Announcement) { a.Helpers[1].Address += "/x" },
		"with a password": func(a *tasks.Announcement) { a.Helpers[1].Address = "https://u:p@b.example.org:8445" },
		"nowhere":         func(a *tasks.Announcement) { a.Helpers[1].Address = "" },
		"unnamed":         func(a *tasks.Announcement) { a.Helpers[1].Name = "" },
		"in mode local":   func(a *tasks.Announcement) { a.Task.Mode = wire.Local },
		"proofs in mode local": func(a *tasks.Announcement) {
			a.Task.Mode, a.Helpers, a.Honest, a.Proofs = wire.Local, nil, 0, true
		},
		"without a list": func(a *tasks.Announcement) { a.Roster = tasks.RosterDigest{} },
		"nobody honest":  func(a *tasks.Announcement) { a.Honest = 0 },
	} {
		a := secretTask(t)
		change(a)
		if _, err := a.Text(); err == nil {
			t.Errorf("%s: is announced", name)
		}
	}
}

// TestOwnersCheckSums: an owner gives no share to a sum that is not the one that
// the broadcast asks for, over as many owners as announced, among the announced
// helpers.
func TestOwnersCheckSums(t *testing.T) {
	a := secretTask(t)
	const n = 9
	core, err := collect.New(a.Task)
	must(t, err)
	list := listed(t, 12)
	must(t, a.CheckRoster(list))
	must(t, core.Assemble(n, a.Leaned(n, list.Len())))
	broadcast, err := core.Broadcast()
	must(t, err)
	now := time.Unix(2_000_000_000, 0).Add(-time.Hour)
	secret := func(owners int) (*secretsum.Sum, error) {
		var roster []secretsum.Key
		for i := range owners {
			roster = append(roster, keyed(i))
		}
		ascend(roster)
		s, err := tasks.SecretSum(a, broadcast, roster, []secretsum.Helper{{Name: "one", Memory: secretsum.Memory{1}},
			{Name: "two", Memory: secretsum.Memory{2}}, {Name: "three"}}, time.Unix(2_000_000_000, 0))
		if err == nil {
			s.Collector = identity.Caller{Role: identity.Aggregator, Name: "main"}
			must(t, s.Check())
		}
		return s, err
	}
	for _, a.Proofs = range []bool{true, false} {
		good, err := secret(n)
		must(t, err)
		must(t, a.CheckSum(good, broadcast, list, now))
		if good.Proofs != a.Proofs {
			t.Errorf("the sum demands proofs: %t, the announcement: %t", good.Proofs, a.Proofs)
		}
	}
	if _, err := secret(n - 1); err == nil {
		t.Error("a roster shorter than its broadcast is a sum")
	}
	for name, change := range map[string]func(*tasks.Announcement, *secretsum.Sum){
		"a helper in another's place": func(_ *tasks.Announcement, s *secretsum.Sum) {
			s.Helpers[0], s.Helpers[1] = s.Helpers[1], s.Helpers[0]
		},
		"a helper of its own": func(_ *tasks.Announcement, s *secretsum.Sum) { s.Helpers[2].Name = "mine" },
		"a helper more": func(_ *tasks.Announcement, s *secretsum.Sum) {
			s.Helpers = append(s.Helpers, secretsum.Helper{Name: "mine"})
		},
		"one helper there":     func(_ *tasks.Announcement, s *secretsum.Sum) { s.Helpers[0].Memory = secretsum.Memory{} },
		"fewer owners":         func(_ *tasks.Announcement, s *secretsum.Sum) { s.Roster = s.Roster[:6] },
		"fewer than announced": func(a *tasks.Announcement, _ *secretsum.Sum) { a.Minimum = n + 1 },
		"another order": func(_ *tasks.Announcement, s *secretsum.Sum) {
			s.Roster[0], s.Roster[1] = s.Roster[1], s.Roster[0]
		},
		"an invented owner": func(_ *tasks.Announcement, s *secretsum.Sum) { s.Roster[3] = keyed(99) },
		"all but one invented": func(_ *tasks.Announcement, s *secretsum.Sum) {
			for i := range s.Roster[1:] {
				s.Roster[1+i] = keyed(100 + i)
			}
		},
		"less noise":         func(a *tasks.Announcement, _ *secretsum.Sum) { a.Honest-- },
		"a sum of fewer":     func(_ *tasks.Announcement, s *secretsum.Sum) { s.AtLeast-- },
		"an end in a week":   func(_ *tasks.Announcement, s *secretsum.Sum) { s.Ends = s.Ends.Add(7 * 24 * time.Hour) },
		"unasked proofs":     func(_ *tasks.Announcement, s *secretsum.Sum) { s.Proofs = true },
		"no demanded proofs": func(a *tasks.Announcement, _ *secretsum.Sum) { a.Proofs = true },
		"another length":     func(_ *tasks.Announcement, s *secretsum.Sum) { s.Length-- },
		"another range":      func(_ *tasks.Announcement, s *secretsum.Sum) { s.Range *= 2 },
		"another broadcast":  func(_ *tasks.Announcement, s *secretsum.Sum) { s.Topic[0] ^= 1 },
		"another slot": func(_ *tasks.Announcement, s *secretsum.Sum) {
			s.Round = strings.Replace(s.Round, "slot 0", "slot 1", 1)
		},
	} {
		s, err := secret(n)
		must(t, err)
		b := *a
		change(&b, s)
		if name != "another order" { // no other change is found out by the order
			ascend(s.Roster)
		}
		if err := b.CheckSum(s, broadcast, list, now); err == nil {
			t.Errorf("%s: an owner would give its share", name)
		}
	}
}

// TestHonestOwnersSuffice: the noise of a sum leans on no more owners than are honest
// in it, whichever of the list the aggregator lets take part.
func TestHonestOwnersSuffice(t *testing.T) {
	for listed := 2; listed < 40; listed++ {
		for minimum := 2; minimum <= listed; minimum++ {
			for honest := 1; honest <= listed; honest++ {
				a := &tasks.Announcement{Minimum: minimum, Honest: honest}
				for owners := minimum; owners <= listed; owners++ {
					// At worst all who are not honest take part, none falls silent, and
					// those who do are honest.
					worst := wire.AtLeastOf(owners) - min(owners, listed-honest)
					if l := a.Leaned(owners, listed); l >= 1 && l > worst || l > wire.AtLeastOf(owners) {
						t.Fatalf("%d of %d listed, %d honest: the noise leans on %d, at worst %d are there", owners, listed, honest, l,
							worst)
					}
					if a.Leaned(owners, listed) < a.Leaned(minimum, listed) {
						t.Fatalf("%d of %d listed: more owners make fewer honest ones", owners, listed)
					}
				}
			}
		}
	}
}

// TestListsSuitTheTask: a list that is not the announced one, or of which too many may
// be dishonest, is refused before anyone reports.
func TestListsSuitTheTask(t *testing.T) {
	a, list := secretTask(t), listed(t, 12)
	for name, x := range map[string]struct {
		change func(*tasks.Announcement)
		list   tasks.Roster
	}{
		"another list":            {nil, listed(t, 13)},
		"more honest than listed": {func(a *tasks.Announcement) { a.Honest = 13 }, list},
		"a sum without honest":    {func(a *tasks.Announcement) { a.Honest = 8 }, list}, // 4 of 4 at least
	} {
		b := *a
		if x.change != nil {
			x.change(&b)
		}
		if err := b.CheckRoster(x.list); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	b := *a
	b.Honest = 9
	must(t, b.CheckRoster(list))
	if n := b.Leaned(6, 12); n != 1 {
		t.Errorf("the noise leans on %d, want 1", n)
	}
}

func FuzzParse(f *testing.F) {
	text, err := secretTask(f).Text()
	must(f, err)
	f.Add(text)
	f.Add(bytes.Replace(text, []byte("https"), []byte("http"), 1))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := tasks.Parse(text)
		if err != nil {
			return
		}
		again, err := a.Text()
		if err != nil || !bytes.Equal(again, text) {
			t.Errorf("%q was read and is written as %q, %v", text, again, err)
		}
	})
}
