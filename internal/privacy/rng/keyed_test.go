// SPDX-License-Identifier: Apache-2.0

package rng

import (
	"bytes"
	"crypto/aes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
)

// naiveWords are words of Keyed by RFC 5869 and counter mode, written out.
func naiveWords(key []byte, purpose string, subject []byte, n int) (out []uint64) {
	mac := func(key, text []byte) []byte {
		h := hmac.New(sha256.New, key)
		h.Write(text)
		return h.Sum(nil)
	}
	digest := sha256.Sum256(subject)
	info := append([]byte("discreet coins 1\x00"+purpose+"\x00"), digest[:]...)
	block, err := aes.NewCipher(mac(mac(make([]byte, 32), key), append(info, 1)))
	if err != nil {
		panic(err)
	}
	for at := uint64(0); len(out) < n; at++ {
		var in, text [aes.BlockSize]byte
		binary.BigEndian.PutUint64(in[8:], at)
		block.Encrypt(text[:], in[:])
		out = append(out, binary.LittleEndian.Uint64(text[:8]), binary.LittleEndian.Uint64(text[8:]))
	}
	return out[:n]
}

// TestKeyedWords holds keyed words to the twin, and to uniform ones; another key, purpose or
// subject has others.
func TestKeyedWords(t *testing.T) {
	key := bytes.Repeat([]byte{7}, 32)
	const n = 1 << 16
	first := words(Keyed(key, "a", []byte("b")), n)
	for i, w := range naiveWords(key, "a", []byte("b"), n) {
		if w != first[i] {
			t.Fatalf("word %d is %x, the twin's %x", i, first[i], w)
		}
	}
	var all []uint64
	for _, s := range []Source{Keyed(key, "a", []byte("b")), Keyed(key, "a", []byte("c")), Keyed(key, "ab", nil),
		Keyed(bytes.Repeat([]byte{8}, 32), "a", []byte("b"))} {
		if s.Seeded() {
			t.Error("what only the key's owner reproduces counts as seeded")
		}
		all = append(all, words(s, n/4)...)
	}
	checkUniform(t, all)
	stattest.Rejects(t, func(t stattest.T) {
		checkUniform(t, append(words(Keyed(key, "a", nil), n/2), words(Keyed(key, "a", nil), n/2)...))
	})
	defer func() {
		if recover() == nil {
			t.Error("a short key is taken")
		}
	}()
	Keyed(key[:31], "a", nil)
}
