// SPDX-License-Identifier: Apache-2.0

package ballot

import (
	"crypto/sha256"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/model"
)

// Only a model whose very bytes are the result of a job of the data set has been paid for: not one of another data set, nor
// one whose job has no result, nor a command.
func TestModelsThatWerePaidFor(t *testing.T) {
	l, err := ledger.Create(t.Context(), filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, name := range []string{"rows", "other"} {
		if err := l.Declare(t.Context(), ledger.Dataset{Name: name, Epsilon: 10}); err != nil {
			t.Fatal(err)
		}
	}
	charge := func(dataset, result string) {
		j, err := l.Job(t.Context(), ledger.Request{Dataset: dataset, ID: "job-" + result, Terms: ledger.Terms{Unit: "row", Relation: dp.ReplaceOne}})
		if err == nil {
			err = j.Charge(t.Context(), dp.Price{Epsilon: 1}, []dp.Event{{Release: "r", Mechanism: "laplace", Epsilon: 1}})
		}
		if err == nil && result != "none" {
			err = j.Commit(t.Context(), []byte(result))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	charge("rows", "paid")
	charge("rows", "none")
	charge("other", "elsewhere")
	for text, want := range map[string]bool{"paid": true, "none": false, "elsewhere": false, "unknown": false} {
		v := &Voter{ours: new(model.Model), source: sha256.Sum256([]byte(text))}
		if free, err := v.IsReleased(t.Context(), l, "rows"); err != nil || free != want {
			t.Errorf("%s: %t, %v", text, free, err)
		}
	}
	if free, err := (&Voter{Command: "paid", source: sha256.Sum256([]byte("paid"))}).IsReleased(t.Context(), l, "rows"); err != nil || free {
		t.Errorf("a command: %t, %v", free, err)
	}
}
