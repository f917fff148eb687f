// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"os"
	"reflect"
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
	f.Add([]byte(strings.NewReplacer("edges: [20, 40]", "bins: quantiles", "missing: true", `missing: true, groups: {"a or b": [b, a]}`).Replace(valid)))
	f.Add([]byte(months))
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
