// SPDX-License-Identifier: Apache-2.0

package plaintext

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// attacks are texts that rewrite a terminal, forge a line or hide their end.
var attacks = []string{"\x1b]0;title\x07", "\x1b[2J", "a\rb", "a\nerror: b", "\u009b2J", "\x9b2J", "\x7f\b", "\u202egpj", "\u2066x",
	"a\u2028b", "\ufeff", "\u200b", "\U000e0041", "\xe2\x80", "\x00", "a\vb\fc", "a\u0085b",
	"a\ufe0f", "\U000e0100", "\u3164", "\u034f", "\u2800", "\uffa0"}

func TestEscape(t *testing.T) {
	for _, text := range attacks {
		got := Escape(text)
		if !Is(got) || Is(text) || Escape(got) != got {
			t.Errorf("%q: escaped as %q", text, got)
		}
		if strings.ToValidUTF8(text, "") == text {
			var back string
			if err := json.Unmarshal([]byte(`"`+got+`"`), &back); err != nil || back != text {
				t.Errorf("%q: as JSON %s is %q, %v", text, got, back, err)
			}
		}
	}
	for _, text := range []string{"", "plain", "žluťoučký 数 é\u0301 🙂", `a\b "c"`} {
		if Escape(text) != text {
			t.Errorf("%q becomes %q", text, Escape(text))
		}
	}
}

// Of whatever is written in whatever pieces, only line breaks and tabs are not graphic.
func TestWriter(t *testing.T) {
	whole := strings.Join(attacks, "é数🙂\n\t")
	var want string
	for size := 1; size < 9; size++ {
		var b strings.Builder
		w := NewWriter(&b)
		for rest := whole; rest != ""; {
			n := min(size, len(rest))
			if k, err := w.Write([]byte(rest[:n])); k != n || err != nil {
				t.Fatal(k, err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got := b.String()
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("pieces of %d bytes give %q, of 1 byte %q", size, got, want)
		}
		for _, c := range got {
			if c != '\n' && c != '\t' && !isShown(c) {
				t.Errorf("pieces of %d bytes: %q passes", size, c)
			}
		}
		if !strings.Contains(got, "é数🙂\n\t") {
			t.Errorf("pieces of %d bytes change plain text", size)
		}
	}
}

func TestSprintf(t *testing.T) {
	got := Sprintf("%-6s|%5.2f|%q|%v|%d|%s\n", "a\nb", 1.5, "c\n\u202e", errors.New("d\r"), 7, []string{"e\x1b"})
	if want := "a\\nb   |" + " 1.50|\"c\\n\\u202e\"|d\\r|7|[e\\u001b]\n"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 rows", 1: "1 row", 2: "2 rows", 11: "11 rows"} {
		if got := Count(n, "row"); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	if got := Count(1, "entry") + Count(2, "entry") + Count(2, "day"); got != "1 entry2 entries2 days" {
		t.Error(got)
	}
}
