// SPDX-License-Identifier: Apache-2.0

package secretsum_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/net/federated/secsum"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

var update = flag.Bool("update", false, "write the vectors of sums anew")

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// seed is that of a vector's key.
func seed(i int) []byte {
	s := sha256.Sum256(fmt.Appendf(nil, "discreet vector owner %d", i))
	return s[:]
}

func example() *secretsum.Sum {
	s := &secretsum.Sum{
		Round: "an example", Topic: sha256.Sum256([]byte("what is asked")),
		Collector: identity.Caller{Role: identity.Aggregator, Name: "main"},
		Helpers: []secretsum.Helper{{"one", secretsum.Memory{1}}, {"two", secretsum.Memory{2}}, {"three", secretsum.Memory{}},
			{"four", secretsum.Memory{4}}},
		Length: 9, Range: 1000, AtLeast: 2, Ends: time.Unix(2_000_000_000, 0),
	}
	for i := range 3 {
		s.Roster = append(s.Roster, secretsum.Key(ed25519.NewKeyFromSeed(seed(i)).Public().(ed25519.PublicKey)))
	}
	return s
}

func TestBytesComeBack(t *testing.T) {
	b, err := example().Bytes()
	must(t, err)
	s, err := secretsum.Parse(b)
	must(t, err)
	again, err := s.Bytes()
	must(t, err)
	if !bytes.Equal(b, again) || fmt.Sprint(s) != fmt.Sprint(example()) {
		t.Errorf("%v came back as %v", example(), s)
	}
	for i := range b {
		if _, err := secretsum.Parse(b[:i]); err == nil {
			t.Errorf("the first %d bytes are a sum", i)
		}
	}
	if _, err := secretsum.Parse(append(b, 0)); err == nil {
		t.Error("a byte too many is no matter")
	}
}

// TestUnsafeSums are those that a collector may not begin.
func TestUnsafeSums(t *testing.T) {
	for name, change := range map[string]func(*secretsum.Sum){
		"no round":            func(s *secretsum.Sum) { s.Round = "" },
		"a long round":        func(s *secretsum.Sum) { s.Round = strings.Repeat("x", 256) },
		"a nameless":          func(s *secretsum.Sum) { s.Collector.Name = "" },
		"two helpers":         func(s *secretsum.Sum) { s.Helpers = s.Helpers[:2] },
		"a helper twice":      func(s *secretsum.Sum) { s.Helpers[1].Name = "one" },
		"a helper unnamed":    func(s *secretsum.Sum) { s.Helpers[1].Name = "a/b" },
		"a participant twice": func(s *secretsum.Sum) { s.Roster[1] = s.Roster[0] },
		"one participant":     func(s *secretsum.Sum) { s.Roster = s.Roster[:1] },
		"a sum of one":        func(s *secretsum.Sum) { s.AtLeast = 1 },
		"more than there are": func(s *secretsum.Sum) { s.AtLeast = 4 },
		"no range":            func(s *secretsum.Sum) { s.Range = 1 },
		"an overflow":         func(s *secretsum.Sum) { s.Range = 1 << 62 },
		"no numbers":          func(s *secretsum.Sum) { s.Length = 0 },
		"too many numbers":    func(s *secretsum.Sum) { s.Length = secretsum.MaxNumbers },
		"no end":              func(s *secretsum.Sum) { s.Ends = time.Time{} },
		"an end in parts":     func(s *secretsum.Sum) { s.Ends = s.Ends.Add(time.Millisecond) },
	} {
		s := example()
		change(s)
		if _, err := s.Bytes(); err == nil {
			t.Errorf("%s: has bytes", name)
		}
	}
}

// TestSignatures: a sum is its collector's alone, and for a time.
func TestSignatures(t *testing.T) {
	a, err := identity.NewAuthority(time.Now(), 24*time.Hour)
	must(t, err)
	id := func(role identity.Role, name string) *identity.Identity {
		i, err := a.Issue(identity.Caller{Role: role, Name: name}, []string{"127.0.0.1"}, time.Now(), 12*time.Hour)
		must(t, err)
		return i
	}
	main, other, reader := id(identity.Aggregator, "main"), id(identity.Aggregator, "other"), id(identity.Owner, "o")
	s := example()
	s.Ends = time.Now().Add(time.Hour).Truncate(time.Second)
	signed, err := s.Sign(main)
	must(t, err)
	if _, _, err := signed.Open(reader, time.Now()); err != nil {
		t.Error(err)
	}
	if _, _, err := signed.Open(reader, s.Ends); err == nil {
		t.Error("a sum that has ended is opened")
	}
	stolen := signed
	stolen.Signature, err = other.Sign(secretsum.Purpose, signed.Bytes)
	must(t, err)
	if _, _, err := stolen.Open(reader, time.Now()); err == nil {
		t.Error("another's signature is taken for the collector's")
	}
	lent := signed
	lent.Signature, err = main.Sign("discreet announcement 1", signed.Bytes)
	must(t, err)
	if _, _, err := lent.Open(reader, time.Now()); err == nil {
		t.Error("a signature for another purpose is taken")
	}
	back, _, err := secretsum.FromProto(signed.Proto()).Open(reader, time.Now())
	must(t, err)
	if back.Collector != main.Caller {
		t.Errorf("the collector is %s", back.Collector)
	}
}

// vectors are a sum and one participant's shares as another implementation must
// write them.
type vectors struct {
	Round   string     `json:"round"`
	Sum     string     `json:"sum"` // hexadecimal
	SumID   string     `json:"sum_id"`
	Tag     string     `json:"tag"`      // in every message
	ShareOf int        `json:"share_of"` // whose shares these are
	Values  []uint64   `json:"values"`   // what they are shares of
	Shares  []shareHex `json:"shares"`   // one to each helper
}

type shareHex struct {
	Message   string `json:"message"`
	Signature string `json:"signature"`
}

// TestVectors holds the code against internal/net/testkit/protocol/sum.json, which -update
// writes.
func TestVectors(t *testing.T) {
	const path = "../../testkit/protocol/sum.json"
	s := example()
	b, err := s.Bytes()
	must(t, err)
	id, err := s.ID()
	must(t, err)
	p, err := s.Protocol()
	must(t, err)
	v := vectors{Round: s.Round, Sum: hex.EncodeToString(b), SumID: id.String(), ShareOf: 1,
		Values: []uint64{0, 1, 2, 3, 500, 996, 997, 998, 999}}
	nothing, err := p.Split(rng.System(), 0, make([]uint64, s.Length))
	must(t, err)
	v.Tag = hex.EncodeToString(nothing[0].Task[:])
	if *update {
		ms, err := p.Split(rng.System(), v.ShareOf, v.Values)
		must(t, err)
		for _, m := range ms {
			share, err := secretsum.Seal(m, ed25519.NewKeyFromSeed(seed(v.ShareOf)))
			must(t, err)
			v.Shares = append(v.Shares, shareHex{hex.EncodeToString(share.Message), hex.EncodeToString(share.Signature)})
		}
		text, err := json.MarshalIndent(v, "", "  ")
		must(t, err)
		must(t, os.WriteFile(path, append(text, '\n'), 0o644))
	}
	text, err := os.ReadFile(path)
	must(t, err)
	var have vectors
	must(t, json.Unmarshal(text, &have))
	v.Shares = have.Shares // random, but shares of what they should be
	if fmt.Sprint(v) != fmt.Sprint(have) || len(v.Shares) != len(s.Helpers) {
		t.Fatalf("sums have other bytes than %s:\n%v\n%v", path, v, have)
	}
	collector := p.NewCollector()
	holders := make([]*secsum.Holder, len(v.Shares))
	var asked []secsum.Message
	for h, x := range v.Shares {
		message, err := hex.DecodeString(x.Message)
		must(t, err)
		signature, err := hex.DecodeString(x.Signature)
		must(t, err)
		share := secretsum.Share{Message: message, Signature: signature}
		if !share.By(s.Roster[v.ShareOf]) || share.By(s.Roster[0]) {
			t.Errorf("share %d is not signed by its participant alone", h)
		}
		var m secsum.Message
		must(t, m.UnmarshalBinary(message))
		holders[h], err = p.NewHolder(h)
		must(t, err)
		for _, m := range []secsum.Message{m, nothing[h]} {
			_, err := holders[h].Handle(m)
			must(t, err)
		}
		for _, m := range holders[h].Close() {
			follow, err := collector.Handle(m)
			must(t, err)
			asked = append(asked, follow...)
		}
	}
	for ; len(asked) > 0; asked = asked[1:] {
		answers, err := holders[asked[0].To].Handle(asked[0])
		must(t, err)
		follow, err := collector.Handle(answers[0])
		must(t, err)
		asked = append(asked, follow...)
	}
	total, _, ok, err := collector.Sum()
	must(t, err)
	if !ok || !slices.Equal(total, v.Values) {
		t.Errorf("the shares are of %v, not of %v", total, v.Values)
	}
}

// TestPacksComeBack: what a book keeps is what was put into it.
func TestPacksComeBack(t *testing.T) {
	for _, messages := range [][][]byte{nil, {{}}, {[]byte("a"), {}, []byte("bcd")}} {
		b := secretsum.Pack(messages)
		back, err := secretsum.Unpack(b)
		must(t, err)
		if len(back) != len(messages) || !bytes.Equal(bytes.Join(back, []byte("|")), bytes.Join(messages, []byte("|"))) {
			t.Errorf("%q came back as %q", messages, back)
		}
	}
	b := secretsum.Pack([][]byte{[]byte("abc"), []byte("d")})
	for _, damaged := range [][]byte{b[:len(b)-1], b[:9], append([]byte{255, 255, 255, 255}, b...)} {
		if m, err := secretsum.Unpack(damaged); err == nil {
			t.Errorf("%x is %q", damaged, m)
		}
	}
}

func FuzzParse(f *testing.F) {
	b, err := example().Bytes()
	must(f, err)
	f.Add(b)
	f.Add(b[:40])
	f.Add([]byte("DSS2"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := secretsum.Parse(b)
		if err != nil {
			return
		}
		again, err := s.Bytes()
		if err != nil || !bytes.Equal(again, b) {
			t.Errorf("%x was read and is written as %x, %v", b, again, err)
		}
	})
}
