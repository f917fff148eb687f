// SPDX-License-Identifier: Apache-2.0

package yamltext

import (
	"runtime"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
)

// TestTokensTakeLittle: a text of the largest size takes bounded memory, whatever it repeats.
func TestTokensTakeLittle(t *testing.T) {
	const most = 768 << 20 // allocated in total, most of it freed meanwhile
	for name, c := range size.Some(map[string]struct{ before, unit, after string }{
		"list on lines":   {"", "- a\n", ""},
		"list in a line":  {"[a", ",a", "]"},
		"list in a list":  {"a: [[]", ",[]", "]"},
		"empty entries":   {"", "-\n", ""},
		"commas":          {"[", ",", "]"},
		"quoted":          {"['a'", ",''", "]"},
		"comments":        {"", "#\n", ""},
		"pairs in a list": {"[a: 1", ",a: 1", "]"},
	}, 1) {
		text := []byte(c.before + strings.Repeat(c.unit, (MaxBytes-len(c.before)-len(c.after))/len(c.unit)) + c.after)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse("file", text)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > most {
			t.Errorf("%s: takes %d MB, %v; must be refused within %d MB", name, took>>20, err, most>>20)
		}
	}
	if size.Long() {
		if _, err := Parse("file", []byte(strings.Repeat("- a\n", maxTokens/2))); err != nil {
			t.Errorf("a list of %d entries: %v", maxTokens/2, err)
		}
	}
}
