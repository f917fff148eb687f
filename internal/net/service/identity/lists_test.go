// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/x509"
	"math/big"
	"testing"
	"time"
)

// TestOrderOfListsDoesNotMatter: whatever authorities' certificates sign three lists, whether each is in
// force and whom it revokes, one order of the lists accepts a certificate if all do.
func TestOrderOfListsDoesNotMatter(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	authorities := []*x509.Certificate{{Raw: []byte("root")}, {Raw: []byte("between")}}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(1)}
	var choices []list
	for signers := 1; signers < 4; signers++ {
		for _, ends := range []time.Time{now.Add(-time.Hour), now.Add(time.Hour)} {
			for _, revokes := range []bool{false, true} {
				l := list{revoked: map[string]bool{}, ends: ends}
				for k, a := range authorities {
					if signers>>k&1 == 1 {
						l.by = append(l.by, a)
					}
				}
				if revokes {
					l.revoked[leaf.SerialNumber.String()] = true
				}
				choices = append(choices, l)
			}
		}
	}
	for i, a := range choices {
		for j, b := range choices {
			for k, c := range choices {
				for n, issuer := range authorities {
					seen := map[bool]bool{}
					for _, order := range [][]list{{a, b, c}, {a, c, b}, {b, a, c}, {b, c, a}, {c, a, b}, {c, b, a}} {
						var lists []list
						for _, l := range order {
							lists = addList(lists, l)
						}
						taken := true
						for _, l := range lists {
							taken = taken && l.checkRevoked(leaf, issuer, now) == nil
						}
						seen[taken] = true
					}
					if len(seen) > 1 {
						t.Fatalf("lists %d, %d and %d, authority %d: accepted in one order and refused in another", i, j, k, n)
					}
				}
			}
		}
	}
}
