// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// FuzzParse: no text makes Parse panic, and what it accepts survives both
// notations unchanged.
func FuzzParse(f *testing.F) {
	f.Add([]byte(valid))
	f.Add([]byte(validJSON)) // JSON is YAML
	f.Add([]byte(strings.Replace(valid, "default: no}", `default: no, weights: {"no": 1, "yes": 2.5}}`, 1)))
	f.Add([]byte(strings.Replace(valid, "max_epsilon: 1.5", "pairs: [[age, town], [pay, age]]", 1)))
	f.Add([]byte(strings.NewReplacer("edges: [20, 40]", "bins: quantiles", "missing: true",
		`missing: true, groups: {"a or b": [b, a]}`).Replace(valid)))
	f.Add([]byte(strings.Replace(valid, "edges: [20, 40]", "integer: true, missing: true, special: [96, 98]", 1)))
	f.Add([]byte(spelled))
	f.Add([]byte(datedText))
	f.Add([]byte(months))
	f.Add([]byte(coded))
	for _, path := range examples(f) {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse(text)
		if err != nil {
			if s != nil || err.Error() == "" {
				t.Errorf("refused with %+v and %q", s, err)
			}
			return
		}
		checkRoundTrip(t, s)
	})
}

// FuzzUnmarshalJSON is FuzzParse for the notation of model files.
func FuzzUnmarshalJSON(f *testing.F) {
	f.Add([]byte(validJSON))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := &Schema{}
		if err := s.UnmarshalJSON(text); err != nil {
			if !reflect.DeepEqual(s, &Schema{}) {
				t.Error("a refused schema overwrote the receiver")
			}
			return
		}
		checkRoundTrip(t, s)
	})
}

// FuzzTablesAreNotQuoted: of a text that is no schema, such as a table given in place
// of one, no message repeats a word.
func FuzzTablesAreNotQuoted(f *testing.F) {
	f.Add(valid, uint64(0))
	f.Add(validJSON, uint64(1<<63))
	f.Add("39,State-gov,77516\n50,Private,83311\n", uint64(0))
	f.Add("name: Ada\nunit: ward 3\ncolumns: [[Ada, 39]]\n", uint64(7))
	word := regexp.MustCompile(`[A-Za-z0-9_]+`)
	f.Fuzz(func(t *testing.T, text string, keep uint64) {
		// The bits of keep let words be; never the one that makes a schema of it.
		n := 0
		text = word.ReplaceAllStringFunc(text, func(w string) string {
			n++
			if keep>>(n%64)&1 == 1 && w != "columns" {
				return w
			}
			return "canary" + w
		})
		for _, err := range []error{errorOf(Parse([]byte(text))), new(Schema).UnmarshalJSON([]byte(text))} {
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}

func errorOf(_ *Schema, err error) error { return err }
