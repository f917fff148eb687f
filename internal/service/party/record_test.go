// SPDX-License-Identifier: Apache-2.0

package party

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/service/problem"
)

// TestFirstChargesAreChecked charges a fresh record more than its lifetime, by a query and by a
// model, and exactly its lifetime.
func TestFirstChargesAreChecked(t *testing.T) {
	for over := range dp.Epsilon(2) {
		r, err := openRecord(t.Context(), filepath.Join(t.TempDir(), "q.db"), dp.Nano, unitParty, "")
		must(t, err)
		defer r.closeRecord()
		_, err = r.findQuery(t.Context(), ID{1}, time.Unix(9, 0), dp.Nano+over)
		if spent := problem.Of(err).Kind == problem.Spent; err != nil && !spent || spent != (over > 0) {
			t.Errorf("finding a query of %s: %v", dp.Nano+over, err)
		}
		err = r.chargeQuery(t.Context(), ID{1}, "combiner/uni", []byte("query"), dp.Nano+over, time.Unix(9, 0))
		if (err != nil) != (over > 0) {
			t.Errorf("a first query of %s: %v", dp.Nano+over, err)
		}
		m, err := openRecord(t.Context(), filepath.Join(t.TempDir(), "m.db"), dp.Nano, unitPerson, "")
		must(t, err)
		defer m.closeRecord()
		if err := m.chargeModel(t.Context(), PersonPrice{Epsilon: dp.Nano + over}); (err != nil) != (over > 0) {
			t.Errorf("a first model of %s: %v", dp.Nano+over, err)
		}
	}
}

// TestStatesKeepTheirUnit opens a state, as new as it can be, for the other unit, both ways.
func TestStatesKeepTheirUnit(t *testing.T) {
	for begun, other := range map[string]string{unitParty: unitPerson, unitPerson: unitParty} {
		path := filepath.Join(t.TempDir(), "party.db")
		r, err := openRecord(t.Context(), path, dp.Nano, begun, "")
		must(t, err)
		must(t, r.closeRecord())
		var bad *dp.ParamError
		if _, err := openRecord(t.Context(), path, dp.Nano, other, ""); !errors.As(err, &bad) || bad.Param != "unit" {
			t.Errorf("a %s's state is opened for a %s: %v", begun, other, err)
		}
		r, err = openRecord(t.Context(), path, dp.Nano, begun, "")
		must(t, err)
		must(t, r.closeRecord())
	}
}
