// SPDX-License-Identifier: Apache-2.0

package secsum

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/cloudflare/circl/group"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// coefficients are those of an owner's polynomials beside the secrets, interpolated from the
// shares of a quorum.
func coefficients(t *testing.T, p *Protocol, messages []Message) (all []group.Scalar) {
	t.Helper()
	points := make([][]group.Scalar, p.Quorum()) // by holder: blind's, then those of the scalars
	for h := range points {
		_, part, err := ProofOf(messages[h].Body)
		if err != nil {
			t.Fatal(err)
		}
		if points[h], err = readScalars(part[scalarBytes:]); err != nil {
			t.Fatal(err)
		}
	}
	for i := range points[0] {
		diff := make([]group.Scalar, len(points))
		for h := range points {
			diff[h] = points[h][i].Copy()
		}
		for width := 1; width < len(diff); width++ {
			inverse := group.Ristretto255.NewScalar().SetUint64(uint64(width))
			inverse.Inv(inverse)
			for h := len(diff) - 1; h >= width; h-- {
				diff[h].Sub(diff[h], diff[h-1]).Mul(diff[h], inverse)
			}
		}
		for k := len(diff) - 2; k >= 0; k-- { // from Newton's form in 1, 2, ... to coefficients
			at := group.Ristretto255.NewScalar().SetUint64(uint64(k + 1))
			for j := k; j < len(diff)-1; j++ {
				diff[j].Sub(diff[j], group.Ristretto255.NewScalar().Mul(at, diff[j+1]))
			}
		}
		all = append(all, diff[1:]...) // the first is the secret
	}
	return all
}

// All that hides a vector is one fair coin for every bit: no coefficient of a polynomial
// is that of another scalar, degree, owner or splitting, nor its distance from one that
// of two others, and their lowest bits are independent.
func TestPolynomialsAreIndependent(t *testing.T) {
	task := Task{Round: "joint", Owners: 4, AtLeast: 2, Holders: 4, Length: 15, Range: 1 << 48}
	p := protocol(t, Shamir, task)
	if n := p.shamir.countScalars(); n < 3 {
		t.Fatalf("%d scalars are too few to be shared alike", n)
	}
	src := replay.Seeded(21, "joint")
	bytesOf := func(s group.Scalar) string {
		b, err := s.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	const splits = 500
	values := make([]uint64, task.Length) // alike: what differs is random
	var flips [][]bool
	var last []group.Scalar
	seen := map[string]bool{}
	for k := range splits {
		messages, err := p.Split(src, k%task.Owners, values)
		if err != nil {
			t.Fatal(err)
		}
		now := coefficients(t, p, messages)
		var flip []bool
		for i, c := range slices.Concat(now, last) {
			flip = append(flip, bytesOf(c)[0]&1 == 1)
			if i >= len(now) {
				continue
			}
			ways := []string{bytesOf(c), bytesOf(group.Ristretto255.NewScalar().Neg(c))}
			for _, other := range now[:i] {
				ways = append(ways, bytesOf(group.Ristretto255.NewScalar().Sub(c, other)))
			}
			for _, w := range ways {
				if seen[w] {
					t.Fatalf("splitting %d: coefficient %d follows from others", k, i)
				}
				seen[w] = true
			}
		}
		if last != nil {
			flips = append(flips, flip)
		}
		last = now
	}
	fair := slices.Repeat([]float64{0.5}, len(flips[0]))
	c := stattest.Claim{FalsePositive: 1e-9, Detects: "scalars whose polynomials share a coefficient's bit"}
	stattest.Independent(t, c, flips, fair)
	stattest.Rejects(t, func(t stattest.T) {
		for _, f := range flips {
			f[3] = f[1]
		}
		stattest.Independent(t, c, flips, fair)
	})
}

// A message whose header tells another length than its body has is none, whatever else
// is right about it.
func TestMessagesEndWhereTheySay(t *testing.T) {
	whole, err := Message{Kind: Open, Body: make([]byte, 40)}.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var m Message
	if err := m.UnmarshalBinary(whole); err != nil || len(m.Body) != 40 {
		t.Fatalf("%d bytes: %v", len(m.Body), err)
	}
	for _, b := range [][]byte{whole[:len(whole)-1], append(slices.Clone(whole), 0), whole[:len(whole)-40]} {
		if err := m.UnmarshalBinary(b); err == nil {
			t.Errorf("%d bytes of %d are taken", len(b), len(whole))
		}
	}
}

// The bytes of a message, and so the numbers of its kinds, are the same between versions.
func TestMessagesKeepTheirBytes(t *testing.T) {
	for want, kind := range map[string]Kind{"01": Share, "02": Held, "03": Open, "04": Sum, "05": Show,
		"06": Shown} {
		b, err := Message{Task: Tag{7}, Kind: kind, From: 2, To: ToCollector, Body: []byte{9, 8}}.MarshalBinary()
		want = "01" + want + "07" + strings.Repeat("00", 31) + "00000002" + "ffffffff" + "00000002" + "0908"
		if got := hex.EncodeToString(b); err != nil || got != want {
			t.Errorf("%s, want %s (%v)", got, want, err)
		}
	}
}
