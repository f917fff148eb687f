// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"runtime"
	"strings"
	"testing"
)

// TestHostileTextsTakeLittle: lists of empty objects are refused before memory is taken for them.
func TestHostileTextsTakeLittle(t *testing.T) {
	const length = 3 << 20
	for name, c := range map[string]struct {
		before, unit string
		to           any
	}{
		"rounds":    {`{"rounds":[{}`, ",{}", new(taskBody)},
		"questions": {`{"questions":[{}`, ",{}", new(taskBody)},
		"asks":      {`{"asks":[{}`, ",{}", new(roundBody)},
		"members":   {`{"members":[{}`, ",{}", new(roundBody)},
		"shapes":    {`{"members":[{"shapes":[{}`, ",{}", new(roundBody)},
	} {
		text := []byte(c.before + strings.Repeat(c.unit, (length-len(c.before)-4)/len(c.unit)) + "]}")
		if strings.Count(c.before, "[") > 1 {
			text = append(text, "]}"...)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := decodeJSON("a text", text, c.to)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > length {
			t.Errorf("%s: takes %d MB, %v; must be refused within %d MB", name, took>>20, err, length>>20)
		}
	}
}
