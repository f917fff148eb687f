// SPDX-License-Identifier: Apache-2.0

package party

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/sqldbtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
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

// TestNoBitPaysTwice flips bits of a record: one that can still be opened has no more left than
// before, charges no query a second time, and gives no votes that were deleted.
func TestNoBitPaysTwice(t *testing.T) {
	ctx, path, text := t.Context(), filepath.Join(t.TempDir(), "party.db"), []byte("query")
	const price, most = dp.Nano/3 + 7, dp.Nano
	early, late := time.Unix(9, 0), time.Unix(99, 0)
	kept, gone, voter := ID(bytes.Repeat([]byte{11}, 32)), ID(bytes.Repeat([]byte{12}, 32)), multiparty.Digest{13, 14, 15}
	r, err := openRecord(ctx, path, most, unitParty, "")
	must(t, err)
	must(t, r.chargeQuery(ctx, gone, "combiner/uni", text, price, early))
	_, err = r.forgetQueries(ctx, time.Unix(50, 0))
	must(t, err)
	must(t, r.chargeQuery(ctx, kept, "combiner/uni", text, 2, late))
	must(t, r.chargeModel(ctx, PersonPrice{Model: voter, Epsilon: 3}))
	must(t, r.closeRecord())
	cost := binary.BigEndian.AppendUint32(nil, uint32(price))
	sqldbtest.FlipBits(t, path, func(what, path string) {
		r, err := openRecord(ctx, path, most, unitParty, "")
		if err != nil {
			return
		}
		defer r.closeRecord()
		if paid, err := r.findQuery(ctx, gone, late, 1); err == nil {
			t.Errorf("%s: deleted votes are given again (charged: %v)", what, paid)
		}
		for _, id := range []ID{kept, gone} {
			if has, err := r.hasQuery(ctx, id); !has && err == nil {
				t.Errorf("%s: a query is forgotten", what)
			}
		}
		if r.chargeQuery(ctx, ID{1}, "combiner/uni", text, most-price-4, late) == nil {
			t.Errorf("%s: more than was left is granted", what)
		}
	}, kept[:], gone[:], voter[:3], cost)
}
