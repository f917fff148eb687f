// SPDX-License-Identifier: Apache-2.0

package noninterference

import (
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
)

// Code takes other ways from 4,096, 5,000 and 65,536 rows on: pairs of such tables show
// no more than small ones do.
func TestLargeTables(t *testing.T) {
	src := rand.New(rand.NewPCG(18, 0))
	seen := map[string]bool{}
	for i, m := range modes() {
		family := m.family()
		if seen[family] { // the first mode of each stands for it
			continue
		}
		seen[family] = true
		for _, rows := range []int{5_100, 66_000}[:size.Of(1, 2)] {
			tried := 0
			for attempt := 0; tried < size.Of(1, 5) && attempt < 100; attempt++ {
				c := drawn(i, src)
				what, m, ok := interference(c, rows, false)
				if !ok {
					continue
				}
				tried++
				if what != "" {
					t.Errorf("%s, %d rows: neighbours differ in %s (choices %v)", m, rows, what, []byte(c))
				}
			}
			if tried == 0 {
				t.Errorf("%s, %d rows: no case", family, rows)
			}
		}
	}
}
