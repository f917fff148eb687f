// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"reflect"
	"testing"
)

func TestPartKeepsLayoutAndForgetsFacts(t *testing.T) {
	s := whole()
	part := s.Part([]int{2})
	if !reflect.DeepEqual(s, whole()) {
		t.Error("Part changed the schema it was taken from")
	}
	want := whole()
	for _, j := range []int{0, 1, 3} {
		want.Columns[j] = Column{Name: want.Columns[j].Name, Role: Ignored}
	}
	if !reflect.DeepEqual(part, want) {
		t.Errorf("got  %+v\nwant %+v", part, want)
	}
	checkRoundTrip(t, part)
	if got := part.Features(); !reflect.DeepEqual(got, []int{2}) {
		t.Errorf("features %v, want [2]", got)
	}
}

func TestPartOfEveryColumnIsTheSchema(t *testing.T) {
	for _, path := range examples(t) {
		s := mustLoad(t, path)
		all := make([]int, len(s.Columns))
		for j := range all {
			all[j] = j
		}
		part := s.Part(all)
		part.Person = s.Person      // whom training protects is not for models
		if s.Label.Role == Public { // what its label becomes in training is not for models
			part.Label.Default = s.Label.Default
		}
		for j := range s.Columns {
			part.Columns[j].Integer = s.Columns[j].Integer // nor how columns ask to be cut
		}
		if !reflect.DeepEqual(part, s) {
			t.Errorf("%s: got %+v", path, part)
		}
	}
}

func TestWritingASchemaThatPointsNowhere(t *testing.T) {
	for name, spoil := range map[string]func(*Schema){
		"position":  func(s *Schema) { s.Label.Position = len(s.Columns) + 1 },
		"position<": func(s *Schema) { s.Label.Position = -1 },
		"positive":  func(s *Schema) { s.Label.Positive = 2 },
		"default":   func(s *Schema) { s.Label.Default = 2 },
		"weights":   func(s *Schema) { s.Label.Weights = []float64{1} },
		"nothing":   func(s *Schema) { *s = Schema{} },
	} {
		s := whole()
		spoil(s)
		if text, err := s.YAML(); err == nil {
			t.Errorf("%s: YAML wrote %s", name, text)
		}
		if text, err := s.MarshalJSON(); err == nil {
			t.Errorf("%s: JSON wrote %s", name, text)
		}
	}
}
