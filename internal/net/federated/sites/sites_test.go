// SPDX-License-Identifier: Apache-2.0

package sites

import (
	"crypto/ed25519"
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// party is one site of a test.
type party struct {
	name string
	key  ed25519.PrivateKey
	keys *Keys
}

// assemble makes a training of so many sites, and their set.
func assemble(t testing.TB, n, honest int, bill []dp.Event, price dp.Price) (about *Training, id Digest, parties []party, set *Set) {
	t.Helper()
	about = &Training{Version: Version, ID: strings.Repeat("0", 32), Coordinator: "uni", Scope: dp.WholeRow,
		Epsilon: price.Epsilon, Delta: price.Delta, Bill: bill, Honest: honest}
	for i := range n {
		public, key, err := ed25519.GenerateKey(nil)
		must(t, err)
		keys, err := NewKeys()
		must(t, err)
		name := string(rune('a' + i))
		parties = append(parties, party{name, key, keys})
		about.Sites = append(about.Sites, Member{name, public})
	}
	text, err := json.Marshal(about)
	must(t, err)
	id = TrainingDigest(text)
	set = &Set{Training: id}
	for _, p := range parties {
		set.Joined = append(set.Joined, p.keys.Join(id, p.name, 0, p.key))
	}
	return about, id, parties, set
}

// masksOf are the masks of every site.
func masksOf(t testing.TB, about *Training, id Digest, parties []party, set *Set) (all []*Masks) {
	t.Helper()
	text, err := json.Marshal(set)
	must(t, err)
	for _, p := range parties {
		m, err := p.keys.NewMasks(about, id, set, SetDigest(text), p.name)
		must(t, err)
		all = append(all, m)
	}
	return all
}

var pureBill = []dp.Event{{Release: "rows", Mechanism: "laplace", Epsilon: dp.Nano}}

// Masks cancel in the sum over the set for one text, and nowhere else.
func TestMasksCancel(t *testing.T) {
	for _, n := range []int{2, 3, 7, 8, 9, 16, 17, size.Of(33, MaxSites)} {
		about, id, parties, set := assemble(t, n, 1, pureBill, dp.Price{Epsilon: dp.Nano})
		masks := masksOf(t, about, id, parties, set)
		sum := func(texts func(i int) Digest, skip int) (sums []mech.Whole) {
			var err error
			for i, m := range masks {
				values := []mech.Whole{{Low: uint64(i)}, {High: ^uint64(0), Low: ^uint64(0)}}
				must(t, m.Hide(texts(i), values))
				if values[0].High == 0 || values[1].High == ^uint64(0) {
					t.Error("a value is not hidden") // but for one chance in 2^63
				}
				if i != skip {
					sums, err = AddUp(sums, Encode(values))
					must(t, err)
				}
			}
			return sums
		}
		got := sum(func(int) Digest { return "x" }, -1)
		if want := (mech.Whole{Low: uint64(n * (n - 1) / 2)}); got[0] != want || got[1] != (mech.Whole{High: ^uint64(0), Low: uint64(-n)}) {
			t.Errorf("%d sites add up to %v", n, got)
		}
		for what, got := range map[string][]mech.Whole{
			"without a site":    sum(func(int) Digest { return "x" }, 0),
			"with another text": sum(func(i int) Digest { return Digest(rune('x' + i/(n-1))) }, -1),
		} {
			if got[0].High == 0 || got[0].High == ^uint64(0) {
				t.Errorf("the sum %s is open: %v", what, got)
			}
		}
	}
}

// Each number of an answer is hidden, and adds up, however many there are.
func TestMasksHideEachNumber(t *testing.T) {
	about, id, parties, set := assemble(t, 3, 1, pureBill, dp.Price{Epsilon: dp.Nano})
	masks := masksOf(t, about, id, parties, set)
	for _, n := range []int{0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 255, 256, 257, 4095, 4096, 4097, 65_535, 65_536, 65_537} {
		var sums []mech.Whole
		for _, m := range masks {
			values := make([]mech.Whole, n)
			for i := range values {
				values[i].Low = 7
			}
			must(t, m.Hide(Digest(rune('a'+n)), values))
			seen := map[mech.Whole]bool{}
			for i, v := range values {
				if v.High == 0 || seen[v] { // but for one chance in 2^47
					t.Fatalf("number %d of %d is hidden as %v", i, n, v)
				}
				seen[v] = true
			}
			var err error
			sums, err = AddUp(sums, Encode(values))
			must(t, err)
		}
		for i, v := range sums {
			if v != (mech.Whole{Low: uint64(7 * len(masks))}) {
				t.Fatalf("number %d of %d adds up to %v", i, n, v)
			}
		}
	}
}

// A set that is not every site's own is refused.
func TestSetsThatAreRefused(t *testing.T) {
	about, id, parties, set := assemble(t, 3, 2, pureBill, dp.Price{Epsilon: dp.Nano})
	must(t, set.Check(about, id))
	stranger, err := NewKeys()
	must(t, err)
	other, _, _, _ := assemble(t, 3, 1, pureBill, dp.Price{Epsilon: dp.Nano})
	text, err := json.Marshal(other)
	must(t, err)
	for what, change := range map[string]func(s *Set){
		"another training":         func(s *Set) { s.Training = TrainingDigest(text) },
		"a site less":              func(s *Set) { s.Joined = s.Joined[:2] },
		"sites in another order":   func(s *Set) { s.Joined[0], s.Joined[1] = s.Joined[1], s.Joined[0] },
		"a site twice":             func(s *Set) { s.Joined[1] = s.Joined[0] },
		"a fresh key twice":        func(s *Set) { s.Joined[2] = parties[0].keys.Join(id, parties[2].name, 0, parties[2].key) },
		"a key of the coordinator": func(s *Set) { s.Joined[1].Fresh = stranger.private.PublicKey().Bytes() },
		"another number of rows":   func(s *Set) { s.Joined[1].Units++ },
		"fewer rows than none":     func(s *Set) { s.Joined[1] = parties[1].keys.Join(id, parties[1].name, -1, parties[1].key) },
		"a key signed by another":  func(s *Set) { s.Joined[1] = stranger.Join(id, parties[1].name, 0, parties[0].key) },
		"a key of another training": func(s *Set) {
			s.Joined[1] = parties[1].keys.Join(TrainingDigest(text), parties[1].name, 0, parties[1].key)
		},
	} {
		wrong := Set{set.Training, append([]Joined(nil), set.Joined...)}
		change(&wrong)
		if wrong.Check(about, id) == nil {
			t.Errorf("a set with %s is taken", what)
		}
	}
	own := Set{set.Training, append([]Joined(nil), set.Joined...)}
	own.Joined[0] = stranger.Join(id, parties[0].name, 0, parties[0].key)
	must(t, own.Check(about, id))
	if _, err := parties[0].keys.NewMasks(about, id, &own, "", parties[0].name); err == nil {
		t.Error("a set without the site's own fresh key is taken")
	}
}

// A site that states a fresh key with which the others agree on the same secret as with another site's takes off
// what that one adds. A point has several such keys, which differ as bytes: those in another spelling, and those
// that differ by a point of small order. An honest site gives no masks for such a set.
func TestCopiedFreshKeysAreRefused(t *testing.T) {
	about, id, parties, set := assemble(t, 3, 2, pureBill, dp.Price{Epsilon: dp.Nano})
	fresh := set.Joined[0].Fresh
	top := slices.Clone(fresh)
	top[31] ^= 0x80
	beside := slices.Clone(fresh) // + (0, 0), the point of order 2, is at 1/u
	slices.Reverse(beside)
	prime := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	beside = new(big.Int).ModInverse(new(big.Int).SetBytes(beside), prime).FillBytes(beside)
	slices.Reverse(beside)
	for what, copied := range map[string][]byte{"the same": fresh, "with another top bit": top, "beside a point of order 2": beside} {
		j := Joined{Site: parties[2].name, Fresh: copied}
		j.Signature = ed25519.Sign(parties[2].key, j.text(id))
		wrong := Set{id, []Joined{set.Joined[0], set.Joined[1], j}}
		m, err := parties[1].keys.NewMasks(about, id, &wrong, "set", parties[1].name)
		if err == nil {
			values := []mech.Whole{{Low: 1}}
			must(t, m.Hide("x", values))
			t.Errorf("a copied key, %s, is taken: 1 is hidden as %v", what, values[0])
		}
	}
}

// The masks of one text under two sets have nothing in common, even if the keys do: no site answers under two sets,
// but if one did, the difference of the two would not be open.
func TestMasksAreOfTheirSet(t *testing.T) {
	about, id, parties, set := assemble(t, 3, 2, pureBill, dp.Price{Epsilon: dp.Nano})
	hidden := func(digest Digest) mech.Whole {
		m, err := parties[0].keys.NewMasks(about, id, set, digest, parties[0].name)
		must(t, err)
		values := []mech.Whole{{}}
		must(t, m.Hide("x", values))
		return values[0]
	}
	one, again, another := hidden("one"), hidden("one"), hidden("another")
	if one != again || one == another {
		t.Error("masks must be those of the set")
	}
}

// Texts that are divided into other parts, or have another purpose, have other digests.
func TestDigestsKeepPartsApart(t *testing.T) {
	seen := map[Digest]string{}
	for what, d := range map[string]Digest{
		"ab, c": digestOf("x", []byte("ab"), []byte("c")), "a, bc": digestOf("x", []byte("a"), []byte("bc")),
		"abc": digestOf("x", []byte("abc")), "abc, nothing": digestOf("x", []byte("abc"), nil), "of y": digestOf("y", []byte("abc")),
	} {
		if other, twice := seen[d]; twice {
			t.Errorf("%q and %q have one digest", what, other)
		}
		seen[d] = what
	}
}

func TestTrainingsThatAreRefused(t *testing.T) {
	for what, change := range map[string]func(t *Training){
		"another version":                 func(t *Training) { t.Version++ },
		"a short id":                      func(t *Training) { t.ID = "x" },
		"one site":                        func(t *Training) { t.Sites = t.Sites[:1] },
		"no honest site":                  func(t *Training) { t.Honest = 0 },
		"more honest than sites":          func(t *Training) { t.Honest = 4 },
		"a name twice":                    func(t *Training) { t.Sites[1].Name = "a" },
		"a key twice":                     func(t *Training) { t.Sites[1].Key = t.Sites[0].Key },
		"no epsilon":                      func(t *Training) { t.Epsilon = 0 },
		"noise of two if sites may leave": func(t *Training) { t.MayLeave = 1 },
		"sites of whom one stays":         func(t *Training) { t.MayLeave, t.Honest = 2, 1 },
		"sites that come":                 func(t *Training) { t.MayLeave = -1 },
		"sites that leave an evaluation":  func(t *Training) { t.MayLeave, t.Honest, t.Evaluation = 1, 1, &Evaluation{} },
		"public columns":                  func(t *Training) { t.Scope = dp.PrivateFeatures },
		"a selection":                     func(t *Training) { t.Bill = []dp.Event{{Mechanism: "permute-and-flip", Epsilon: 1}} },
	} {
		about, _, _, _ := assemble(t, 3, 2, pureBill, dp.Price{Epsilon: dp.Nano})
		must(t, about.Check())
		if change(about); about.Check() == nil {
			t.Errorf("a training with %s is taken", what)
		}
	}
}
