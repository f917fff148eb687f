// SPDX-License-Identifier: Apache-2.0

package sites

import (
	"runtime"
	"strings"
	"testing"
)

// TestHostileMessagesTakeLittle: a message takes memory in proportion to its bytes, whatever it repeats.
func TestHostileMessagesTakeLittle(t *testing.T) {
	const length, most = 6 << 20, 32 << 20
	for name, c := range map[string]struct {
		before, unit string
		to           any
	}{
		"lines of a bill": {`{"bill":[{}`, ",{}", new(Training)},
		"sites":           {`{"sites":[{}`, ",{}", new(Training)},
		"joined":          {`{"joined":[{}`, ",{}", new(Set)},
		"questions":       {`{"questions":[1`, ",1", new(Ask)},
		"forms":           {`{"forms":[{}`, ",{}", new(Ask)},
		"lists":           {`{"questions":[[`, "[", new(Ask)},
	} {
		text := []byte(c.before + strings.Repeat(c.unit, (length-len(c.before)-2)/len(c.unit)) + "]}")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := Decode(text, c.to)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > most {
			t.Errorf("%s: takes %d MB, %v; must be refused within %d MB", name, took>>20, err, most>>20)
		}
	}
}
