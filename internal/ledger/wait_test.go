// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLockedLedgersAreTold: a step that waits for the database has begun a wait of a second, which
// is over when it has the database. The test's clock stands still until a wait begins, and then the
// second is over at once; the lock is given back when the line is said.
func TestLockedLedgersAreTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l.db")
	owner, err := Create(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	if err := owner.Declare(t.Context(), Dataset{Name: "d", Epsilon: 1}); err != nil {
		t.Fatal(err)
	}
	said, armed := make(chan string, 8), make(chan func(), 8)
	w := waits{say: func(line string) { said <- line }, after: func(d time.Duration, f func()) func() bool {
		if d != time.Second {
			t.Errorf("waits for %v", d)
		}
		armed <- f
		return func() bool { return true }
	}}
	l, err := Open(context.WithValue(t.Context(), waitsKey{}, w), path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for len(armed) > 0 {
		<-armed
	}
	held, release, ended := make(chan bool), make(chan bool), make(chan error, 1)
	go owner.store.update(t.Context(), func(tx) error { close(held); <-release; return nil })
	<-held
	go func() { ended <- l.Declare(context.WithoutCancel(t.Context()), Dataset{Name: "e", Epsilon: 1}) }()
	(<-armed)() // the second passes
	if line := <-said; !strings.Contains(line, path) || !strings.Contains(line, "waiting") {
		t.Errorf("says %q", line)
	}
	close(release)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestPersonsAreAUnit: a data set whose unit is a person takes schemas that protect persons,
// whatever they call a row, and no others.
func TestPersonsAreAUnit(t *testing.T) {
	l, err := Create(t.Context(), filepath.Join(t.TempDir(), "l.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, unit := range map[string]string{"persons": "person", "visits": "one visit", "any": ""} {
		if err := l.Declare(t.Context(), Dataset{Name: name, Epsilon: 1, Unit: unit}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		dataset, unit, person string
		fits                  bool
	}{
		{"persons", "one visit", "who", true},
		{"persons", "person", "", true},
		{"persons", "one visit", "", false},
		{"visits", "one visit", "", true},
		{"visits", "one visit", "who", true},
		{"visits", "person", "", false},
		{"visits", "one bed", "who", false},
		{"any", "one bed", "who", true},
	} {
		_, err := l.Job(t.Context(), Request{Dataset: c.dataset, ID: "j", Terms: Terms{Unit: c.unit, Person: c.person}})
		if (err == nil) != c.fits {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
