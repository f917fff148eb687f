// SPDX-License-Identifier: Apache-2.0

package helper_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/net/federated/secsum"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
	"github.com/discreet-dp/discreet/internal/net/testkit/helpertest"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// TestDemandedProofs: numbers whose proofs take more than a sum has for free. If the sum demands
// proofs, who shares a number out of range is left out, and the sum is the others'; else it ends
// the sum.
func TestDemandedProofs(t *testing.T) {
	c := assemble(t, 3)
	senders := c.Clients(c.Identity(identity.Owner, "o"))
	for _, demanded := range []bool{true, false} {
		col := &secretsum.Collection{Clients: c.Clients(c.collector), Patience: time.Second}
		col.Sum = &secretsum.Sum{Round: "large", Helpers: c.Meet(col.Clients), Length: 4500, Range: 1 << 28, AtLeast: 2,
			Proofs: demanded, Ends: time.Now().Add(time.Hour).Truncate(time.Second)}
		var keys []ed25519.PrivateKey
		for i := range 3 {
			seed := sha256.Sum256([]byte{byte(i)})
			keys = append(keys, ed25519.NewKeyFromSeed(seed[:]))
			col.Sum.Roster = append(col.Sum.Roster, secretsum.Key(keys[i].Public().(ed25519.PublicKey)))
		}
		var err error
		col.Signed, err = col.Sum.Sign(c.collector)
		must(t, err)
		id, err := col.Sum.ID()
		must(t, err)
		proto, err := col.Sum.Protocol()
		must(t, err)
		values := make([]uint64, col.Sum.Length)
		values[7] = 999
		forged, err := helpertest.ForgeNumber(col.Sum, 2, new(big.Int).Lsh(big.NewInt(1), 251))
		must(t, err)
		var convicted int
		for _, client := range col.Clients {
			must(t, client.Begin(t.Context(), col.Signed, nil))
		}
		for i, key := range keys {
			ms := forged
			if i < 2 {
				ms, err = proto.Split(rng.System(), i, values)
				must(t, err)
			}
			if proven := len(ms[0].Body) > secretsum.FreeProof; proven != demanded {
				t.Fatalf("a share has %d bytes, and proofs are demanded: %t", len(ms[0].Body), demanded)
			}
			for h, m := range ms {
				share, err := secretsum.Seal(m, key)
				must(t, err)
				refused, err := senders[h].Share(t.Context(), id, []secretsum.Share{share})
				must(t, err)
				if len(refused) > 0 && (i < 2 || refused[0].Kind != problem.Inconsistent) {
					t.Errorf("participant %d, helper %d: %v", i, h, refused)
				}
				convicted += len(refused)
			}
		}
		named := 0
		col.Found = func(f secretsum.Fault) {
			if f.Participant == 2 {
				named++
			} else {
				t.Errorf("%s is named", f)
			}
		}
		col.Wait = given(2, 3)
		total, of, err := col.Run(t.Context())
		if !demanded {
			if !errors.Is(err, secsum.ErrDeviation) || convicted > 0 || named > 0 {
				t.Errorf("without proofs: %v, %d helpers refuse, want that nobody is found", err, convicted)
			}
			continue
		}
		if err != nil || len(of) != 2 || total[7] != 2*999 || convicted != 3 || named == 0 {
			t.Errorf("the sum is of %v: %v, %d helpers refuse", of, err, convicted)
		}
	}
}
