// SPDX-License-Identifier: Apache-2.0

package jsontext

import (
	"strings"
	"testing"
)

func TestCount(t *testing.T) {
	for text, want := range map[string]Bounds{
		`{}`: {0, 1}, `[]`: {1, 0}, `[1,2,[{"a":1,"b":{}}]]`: {5, 2}, `"[,{"`: {}, `"\",{"`: {}, `["\\",1]`: {2, 0},
	} {
		if has := Count([]byte(text)); has != want {
			t.Errorf("%s has %+v, want %+v", text, has, want)
		}
	}
}

func TestBoundsAreReached(t *testing.T) {
	b := Bounds{Elements: 4, Objects: 3}
	for text, taken := range map[string]bool{
		`[{},{},{}]`: true, `[{},{},{},{}]`: false, `[1,2,3,4]`: true, `[1,2,3,4,5]`: false, `[[[[]]]]`: true, `[[[[[]]]]]`: false,
		`["` + strings.Repeat(",{", 10) + `"]`: true,
	} {
		var to any
		if err := b.Decode([]byte(text), &to); (err == nil) != taken {
			t.Errorf("%s: %v", text, err)
		}
	}
	var to struct{ A int }
	for _, bad := range []string{``, `{`, `{"a":1}2`, `{"a":1} {}`, `{"b":1}`, `{"a":"x"}`} {
		if b.Decode([]byte(bad), &to) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	if err := b.Decode([]byte(" {\"a\": 1}\n"), &to); err != nil || to.A != 1 {
		t.Errorf("%+v, %v", to, err)
	}
}
