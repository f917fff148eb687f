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
	first := map[string]int{} // mode of each family
	for i, m := range modes() {
		if _, ok := first[m.family()]; !ok {
			first[m.family()] = i
		}
	}
	for family, i := range first {
		for _, rows := range []int{5_100, 66_000}[:size.Of(1, 2)] {
			tried := 0
			for attempt := 0; tried < 1 && attempt < 100; attempt++ {
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
