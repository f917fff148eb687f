// SPDX-License-Identifier: Apache-2.0

package sqldbtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
)

// FlipBits calls f with copies of a closed SQLite file in each of which one bit is flipped: at full size
// each bit of a byte that is not 0, else some of them, and those of the bytes at each of marks,
// wherever a table or an index holds it.
func FlipBits(t *testing.T, path string, f func(what, path string), marks ...[]byte) {
	t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bits := map[int]bool{}
	n := 0
	for at, b := range whole {
		if b == 0 {
			continue
		}
		for bit := range 8 {
			if n++; n%size.Of(331, 7) == 0 {
				bits[8*at+bit] = true
			}
		}
	}
	for _, mark := range marks {
		found := 0
		for from := 0; ; found++ {
			at := bytes.Index(whole[from:], mark)
			if at < 0 {
				break
			}
			from += at + len(mark)
			bits[8*(from-len(mark))+found%7] = true
			bits[8*(from-1)+3] = true
		}
		if found == 0 {
			t.Fatalf("the file holds no %x", mark)
		}
	}
	damaged := filepath.Join(t.TempDir(), "damaged.db")
	for bit := range bits {
		flipped := bytes.Clone(whole)
		flipped[bit/8] ^= 1 << (bit % 8)
		for _, log := range []string{"-wal", "-shm"} {
			_ = os.Remove(damaged + log)
		}
		if err := os.WriteFile(damaged, flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		f(fmt.Sprintf("bit %d of byte %d of %d", bit%8, bit/8, len(whole)), damaged)
	}
}
