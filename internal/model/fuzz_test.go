// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// Any bytes, as a file and as the body of a file with a right checksum: no
// panic, and what is read can be used, written and read again.
func FuzzUnmarshal(f *testing.F) {
	for _, m := range full() {
		file := mustMarshal(f, m)
		_, raw, err := readFrame(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file)
		f.Add(raw)
		f.Add(raw[:len(raw)/2])
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, file := range [][]byte{text, writeFrame(1, text), writeFrame(2, text), writeFrame(3, text),
			writeFrame(4, text)} {
			m, err := Unmarshal(file)
			if err != nil {
				continue
			}
			again := mustMarshal(t, m)
			back, err := Unmarshal(again)
			if err != nil {
				t.Fatalf("what was read and written cannot be read: %v", err)
			}
			if !bytes.Equal(mustMarshal(t, back), again) {
				t.Fatal("what was read and written changes when it is written again")
			}
			scores, err := m.Scores(patients(rand.New(rand.NewPCG(1, 1)), m.Schema, 8), 8)
			if err != nil {
				t.Fatalf("what was read cannot predict: %v", err)
			}
			for _, s := range scores {
				if !(s >= 0 && s <= 1) {
					t.Fatalf("score %g is outside [0, 1]", s)
				}
			}
			m.Privacy.Card()
		}
	})
}
