// SPDX-License-Identifier: Apache-2.0

package predict

import (
	"net/http"
	"os"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/objecttest"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// Rows are scored, scored again and passed on in three readings. An object that is replaced by as
// many other rows, whenever it is, is refused: no row gets another's score.
func TestAnObjectThatChangesIsRefused(t *testing.T) {
	s := objecttest.Start(t, t.Setenv)
	threshold, err := ParseThreshold("rate=0.1")
	if err != nil {
		t.Fatal(err)
	}
	p := Params{Threshold: threshold}
	for name, path := range streamFiles(t, 900) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		output, _, err := writeBy(p, 100, dataset.CSV, path)
		if err != nil {
			t.Fatal(err)
		}
		address := s.Put(name, text)
		s.Break(nil)
		if got, _, err := writeBy(p, 100, dataset.CSV, address); err != nil || got != output {
			t.Fatalf("%s: other output than of the file: %v", name, err)
		}
		others, err := os.ReadFile(streamFiles(t, 901)[name])
		if err != nil {
			t.Fatal(err)
		}
		for when := range len(s.Asked()) {
			s.Put(name, text)
			s.Break(func(n int, _ *http.Request) (a objecttest.Answer) {
				if n == when {
					s.Put(name, others)
				}
				return a
			})
			_, _, err := writeBy(p, 100, dataset.CSV, address)
			want := "data: " + address + ": must not change while it is read"
			if refused := err != nil && err.Error() == want; refused != (when > 0) {
				t.Errorf("%s, replaced before request %d: %v", name, when, err)
			}
		}
		s.Break(nil)
	}
}
