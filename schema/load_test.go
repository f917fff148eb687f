// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"testing"
)

func examples(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("../examples/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	return paths
}

func mustLoad(t testing.TB, path string) *Schema {
	t.Helper()
	s, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestExamplesSurviveBothNotations(t *testing.T) {
	for _, path := range examples(t) {
		s := mustLoad(t, path)
		text, err := s.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v\n%s", path, err, text)
		}
		if !reflect.DeepEqual(s, again) {
			t.Errorf("%s: YAML changed it:\n%s", path, text)
		}
		text, err = json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		again = &Schema{}
		if err := json.Unmarshal(text, again); err != nil {
			t.Fatalf("%s: %v\n%s", path, err, text)
		}
		if !reflect.DeepEqual(s, again) {
			t.Errorf("%s: JSON changed it:\n%s", path, text)
		}
	}
}
