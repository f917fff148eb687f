// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

var (
	ofRows    = Sides{Train: "train", HeldOut: "judge", Share: 0.25}
	ofPersons = Sides{Train: "old", HeldOut: "young", Share: 0.4, Person: "pid", Spelling: "trim false"}
)

// fourSides makes a ledger with new data sets for two tables.
func fourSides(t testing.TB, p place) *Ledger {
	t.Helper()
	l := create(t, p)
	for _, name := range []string{"train", "judge", "old", "young", "used", "new"} {
		must(t, l.Declare(t.Context(), Dataset{Name: name, Epsilon: dp.Nano}))
	}
	return l
}

// dealt deals and keeps.
func dealt(t testing.TB, l *Ledger, s Sides) *Deal {
	t.Helper()
	d, err := l.Deal(t.Context(), s)
	must(t, err)
	must(t, d.Keep(t.Context()))
	return d
}

// Persons are dealt by one key for good, and rows once. The key is in no entry.
func TestSidesAreKept(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		l := fourSides(t, fresh(t))
		if got := formatOf(t, l); got != format {
			t.Errorf("a ledger without sides has format %d", got)
		}
		early, err := l.Deal(t.Context(), ofPersons)
		must(t, err)
		first := dealt(t, l, ofPersons)
		if got := formatOf(t, l); got != formatSides {
			t.Errorf("a ledger with sides has format %d", got)
		}
		if first.Key == early.Key || first.Key == [keyBytes]byte{} {
			t.Error("keys are not drawn")
		}
		if err := early.Keep(t.Context()); err == nil {
			t.Error("a second key was kept for one pair")
		}
		for range 2 {
			if dealt(t, l, ofPersons).Key != first.Key {
				t.Error("persons are dealt by another key")
			}
		}
		dealt(t, l, ofRows)
		var p *dp.ParamError
		if _, err := l.Deal(t.Context(), ofRows); !errors.As(err, &p) {
			t.Errorf("rows were dealt twice: %v", err)
		}
		divisions := 0
		must(t, l.History(t.Context(), "", func(e Entry) error {
			text, err := json.Marshal(e)
			if bytes.Contains(text, []byte(hex.EncodeToString(first.Key[:]))) {
				t.Error("an entry shows the key")
			}
			if e.Kind == Divided {
				divisions++
			}
			return err
		}))
		if divisions != 4 {
			t.Errorf("%d entries divide two tables", divisions)
		}
		verify(t, l)
	})
}

// A pair that is not new, or not the same again, is refused, and so is a job whose unit is not the one
// that was dealt.
func TestSidesAreRefusedWhereTheyAreNotProven(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		l := fourSides(t, fresh(t))
		late, err := l.Deal(t.Context(), Sides{Train: "used", HeldOut: "judge", Share: 0.25})
		must(t, err)
		used := request("j")
		used.Dataset = "used"
		must(t, charge(t.Context(), mustJob(t, l, used), 1))
		var refused *dp.ParamError
		if err := late.Keep(t.Context()); !errors.As(err, &refused) {
			t.Errorf("a data set was charged before its table was divided: %v", err)
		}
		dealt(t, l, ofPersons)
		dealt(t, l, ofRows)
		for name, change := range map[string]func(*Sides){
			"share":          func(s *Sides) { s.Share = 0.41 },
			"person":         func(s *Sides) { s.Person = "aid" },
			"rows":           func(s *Sides) { s.Person, s.Spelling = "", "" },
			"spelling":       func(s *Sides) { s.Spelling = "trim true" },
			"exchanged":      func(s *Sides) { s.Train, s.HeldOut = s.HeldOut, s.Train },
			"one":            func(s *Sides) { s.HeldOut = s.Train },
			"other train":    func(s *Sides) { s.Train = "train" },
			"other held out": func(s *Sides) { s.HeldOut = "judge" },
			"used":           func(s *Sides) { s.HeldOut = "used" },
			"one, new":       func(s *Sides) { s.Train, s.HeldOut = "new", "new" },
			"used alone":     func(s *Sides) { s.Train = "used" },
			"rows again":     func(s *Sides) { s.Train, s.HeldOut = "train", "judge" },
		} {
			s := ofPersons
			change(&s)
			var p *dp.ParamError
			if _, err := l.Deal(t.Context(), s); !errors.As(err, &p) || p.Param != "sides" {
				t.Errorf("%s: %v", name, err)
			}
		}
		var missing *Missing
		if _, err := l.Deal(t.Context(), Sides{Train: "new", HeldOut: "nowhere"}); !errors.As(err, &missing) {
			t.Errorf("a data set that does not exist: %v", err)
		}
		for i, c := range []struct{ dataset, person, refused string }{
			{"train", "", ""}, {"train", "pid", "person"}, {"judge", "pid", "person"},
			{"old", "pid", ""}, {"old", "", "person"}, {"young", "aid", "person"},
		} {
			req := request(fmt.Sprintf("job%d", i))
			req.Dataset, req.Terms.Person = c.dataset, c.person
			j, err := l.Job(t.Context(), req)
			if err == nil {
				err = charge(t.Context(), j, 1)
			}
			var p *dp.ParamError
			if (err == nil) != (c.refused == "") || err != nil && (!errors.As(err, &p) || p.Param != c.refused) {
				t.Errorf("a job for persons by %q on %s: %v", c.person, c.dataset, err)
			}
		}
		verify(t, l)
	})
}

// A changed key or division is noticed, by Verify and, if everyone would change sides, by the next deal.
func TestTamperedSides(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		for name, sql := range map[string]string{
			"key":           "", // see below
			"no key":        `DELETE FROM discreet_results`,
			"other share":   `UPDATE discreet_entries SET detail = REPLACE(detail, '0.4', '0.5')`,
			"one side gone": `DELETE FROM discreet_entries WHERE seq = 9; UPDATE discreet_head SET seq = 8, hash = (SELECT hash FROM discreet_entries WHERE seq = 8)`,
		} {
			p := fresh(t)
			l := fourSides(t, p)
			dealt(t, l, ofPersons)
			if h := verify(t, l); h.Seq != 9 {
				t.Fatalf("%d entries", h.Seq)
			}
			if sql == "" {
				zeros := map[bool]string{true: `decode(repeat('00', 32), 'hex')`, false: `zeroblob(32)`}[p.postgres]
				sql = `UPDATE discreet_results SET bytes = ` + zeros
			}
			p.execute(t, sql)
			var damaged *Damaged
			if _, err := l.Verify(t.Context(), nil); !errors.As(err, &damaged) {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := l.Deal(t.Context(), ofPersons); err == nil {
				t.Errorf("%s: persons are dealt by it", name)
			}
		}
	})
}

// Wherever a step that keeps a division is cut off, either both sides have it or neither, and the next
// deal goes on with what there is.
func TestDealsAreCutOffAtEveryPoint(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		for _, point := range []string{"deal: before", "deal: before it is stored", "deal: stored"} {
			l := fourSides(t, fresh(t))
			cut := errors.New("cut off")
			l.pass = func(at string) error {
				if at == point {
					return cut
				}
				return nil
			}
			d, err := l.Deal(t.Context(), ofPersons)
			must(t, err)
			if err := d.Keep(t.Context()); !errors.Is(err, cut) {
				t.Fatalf("%s: %v", point, err)
			}
			l.pass = func(string) error { return nil }
			again := dealt(t, l, ofPersons)
			if stored := strings.HasSuffix(point, ": stored"); stored != (again.Key == d.Key) {
				t.Errorf("%s: the next deal has the same key: %t", point, !stored)
			}
			verify(t, l)
		}
	})
}
