// SPDX-License-Identifier: Apache-2.0

package tasks_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
)

var (
	low  = strings.Repeat("0a", 32)
	high = strings.Repeat("fe", 32)
)

func TestRosterHasWhoIsOnIt(t *testing.T) {
	r, err := tasks.ParseRoster([]byte("# clinics\n" + strings.ToUpper(high) + "\r\n\n  " + low + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := low + "\n" + high + "\n"; string(r.Text()) != want || r.Len() != 2 {
		t.Errorf("got %q, want %q", r.Text(), want)
	}
	for first, want := range map[byte]bool{0x0a: true, 0xfe: true, 0: false, 0x0b: false, 0xff: false} {
		if got := r.Has([32]byte(bytes.Repeat([]byte{first}, 32))); got != want {
			t.Errorf("has %x…: %v, want %v", first, got, want)
		}
	}
	again, err := tasks.ParseRoster(r.Text())
	if err != nil || again.Digest() != r.Digest() || !r.Digest().Named() {
		t.Errorf("the order of lines changes the list: %v", err)
	}
}

func TestRostersAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"nobody": "# none\n", "twice": low + "\n" + low, "twice in capitals": low + "\n" + strings.ToUpper(low),
		"short": low[1:], "long": low + "0",
		"no digit": "g" + low[1:], "two on a line": low + " " + high,
	} {
		if r, err := tasks.ParseRoster([]byte(text)); err == nil {
			t.Errorf("%s: got %d owners", name, r.Len())
		}
	}
	var p *dp.ParamError
	if _, err := tasks.ParseRoster([]byte(high + "\n" + low + "\n" + high + "\n")); !errors.As(err, &p) ||
		!strings.Contains(err.Error(), "line 3") || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("%v: want both lines named", err)
	}
	a, b := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	for name, keys := range map[string][]byte{"none": nil, "half a key": a[:16], "twice": slices.Concat(a, a),
		"in another order": slices.Concat(b, a)} {
		if _, err := tasks.RosterOf(keys); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// FuzzParseRoster: what is read reads the same again, and has the bytes of a
// roster.
func FuzzParseRoster(f *testing.F) {
	f.Add([]byte(low + "\n" + high + "\n"))
	f.Add([]byte("#\n\n" + strings.ToUpper(high)))
	f.Add([]byte(low + "\n" + low))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := tasks.ParseRoster(text)
		if err != nil {
			return
		}
		if _, err := tasks.RosterOf(r); err != nil {
			t.Fatal(err)
		}
		again, err := tasks.ParseRoster(r.Text())
		if err != nil || !bytes.Equal(again, r) {
			t.Fatalf("%v: another list", err)
		}
	})
}
