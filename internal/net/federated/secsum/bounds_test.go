// SPDX-License-Identifier: Apache-2.0

package secsum

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/cloudflare/circl/group"

	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// A task is taken up to each of its bounds and refused beyond, and no two have the same tag.
func TestTasksReachTheirBounds(t *testing.T) {
	tags := map[Tag]string{}
	try := func(name string, want bool, set func(*Task)) {
		t.Helper()
		task := Task{Round: "r", Owners: 3, AtLeast: 2, Holders: 3, Length: 2, Range: 4}
		set(&task)
		if err := task.checkTask("test", 3, 255); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
		if want {
			tag := task.makeTag("scheme")
			if tags[tag] != "" {
				t.Errorf("%s has the tag of %s", name, tags[tag])
			}
			tags[tag] = name
		}
	}
	for _, n := range []int{0, 2, 127, 128, maxRound - 1, maxRound, maxRound + 1} {
		try(fmt.Sprint(n, " bytes of a round"), n > 0 && n <= maxRound, func(t *Task) { t.Round = strings.Repeat("r", n) })
	}
	for _, n := range []int{1, 2, 255, 256, 65_535, 65_536, 65_537, maxOwners - 1, maxOwners, maxOwners + 1} {
		try(fmt.Sprint(n, " owners"), n > 1 && n <= maxOwners, func(t *Task) { t.Owners = n })
	}
	for _, n := range []int{0, 1, 255, 256, 65_535, 65_536, 65_537, maxLength - 1, maxLength, maxLength + 1} {
		try(fmt.Sprint(n, " coordinates"), n > 0 && n <= maxLength, func(t *Task) { t.Length = n })
	}
	for owners, most := range map[int]uint64{2: maxSum/2 + 1, 3: maxSum/3 + 1, 7: maxSum/7 + 1, maxOwners: maxSum/maxOwners + 1} {
		for _, r := range []uint64{most - 1, most, most + 1, 2 * most, math.MaxUint64} {
			sum := new(big.Int).Mul(big.NewInt(int64(owners)), new(big.Int).SetUint64(r-1))
			try(fmt.Sprint(owners, " owners of range ", r), sum.BitLen() <= 63, func(t *Task) { t.Owners, t.Range = owners, r })
		}
	}
}

// A sum of points is that of each times its scalar, at every width of a digit that is taken and on
// either side of where it changes, and no width is beyond what a digit is read by.
func TestSumsOfPointsAtEveryWidth(t *testing.T) {
	src := replay.Seeded(1, "points")
	last := 0
	points := listGenerators(1 << 10)
	for n := 1; n <= len(points); n++ {
		w := windowFor(n)
		if n > 1 && (w < last || w > last+1) {
			t.Errorf("%d points have digits of %d bits, one fewer %d", n, w, last)
		}
		if w == last && n > 3 {
			continue
		}
		last = w
		for _, k := range []int{n - 1, n, n + 1} {
			scalars, want := make([]group.Scalar, k), group.Ristretto255.Identity()
			for i := range scalars {
				scalars[i] = group.Ristretto255.NewScalar()
				switch i % 3 {
				case 0: // one less than the order
					scalars[i].Neg(group.Ristretto255.NewScalar().SetUint64(1))
				case 1:
					scalars[i].SetBigInt(new(big.Int).Lsh(new(big.Int).SetUint64(src.Uint64()), uint(i)%180))
				}
				p := group.Ristretto255.NewElement().Mul(points[i], scalars[i])
				want.Add(want, p)
			}
			got, err := addMultiples(scalars, points[:k])
			if err != nil {
				t.Fatal(err)
			}
			if !got.IsEqual(want) {
				t.Errorf("%d points by digits of %d bits: another sum", k, windowFor(k))
			}
		}
	}
	if windowFor(math.MaxInt32) != mostDigit || windowFor(1<<22) > mostDigit {
		t.Errorf("digits grow to %d bits, want %d", windowFor(math.MaxInt32), mostDigit)
	}
	// Digits of the widest kind are those of the number, wherever they begin.
	b := make([]byte, scalarBytes)
	x := new(big.Int)
	for i := range b {
		b[i] = byte(src.Uint64())
		x.Or(x, new(big.Int).Lsh(big.NewInt(int64(b[i])), uint(8*i)))
	}
	for width := 1; width <= mostDigit; width++ {
		for at := range 8 * scalarBytes {
			want := new(big.Int).Rsh(x, uint(at))
			want.And(want, big.NewInt(1<<width-1))
			if got := digitAt(b, at, width); int64(got) != want.Int64() {
				t.Fatalf("%d bits from %d on are %d, want %d", width, at, got, want)
			}
		}
	}
}

// A message has exactly the body that its header tells, of any length.
func TestBodiesOfEveryLength(t *testing.T) {
	for _, n := range []int{0, 1, 255, 256, 257, 65_535, 65_536, 65_537, 1<<20 + 1} {
		m := Message{Kind: Share, From: maxOwners - 1, To: ToCollector, Body: make([]byte, n)}
		for i := range m.Body {
			m.Body[i] = byte(i * 31)
		}
		b, err := m.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var back Message
		if err := back.UnmarshalBinary(b); err != nil || back.From != m.From || back.To != m.To ||
			!slices.Equal(back.Body, m.Body) {
			t.Errorf("%d bytes do not come back: %v", n, err)
		}
		if len(b) != headerBytes+n || back.UnmarshalBinary(b[:len(b)-1]) == nil || back.UnmarshalBinary(append(b, 0)) == nil {
			t.Errorf("another body than that of %d bytes is taken", n)
		}
	}
	if new(Message).UnmarshalBinary(make([]byte, headerBytes-1)) == nil {
		t.Error("less than a header is a message")
	}
}
