// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// Every figure says what it is, and no two of its points are the same.
func TestFiguresAreComplete(t *testing.T) {
	names := map[string]bool{}
	for _, f := range All() {
		if names[f.Name] || strings.Count(f.Name, "/") != 1 {
			t.Errorf("name %q", f.Name)
		}
		names[f.Name] = true
		if f.Paper == "" || f.Title == "" || f.Protocol == "" || f.Data == "" || f.Repeats < 1 ||
			!strings.HasSuffix(f.Claim, ".") {
			t.Errorf("%s: incomplete", f.Name)
		}
		points, choices := map[frame.Point]bool{}, map[frame.Point]bool{}
		for _, p := range f.Points {
			if points[p] {
				t.Errorf("%s: %+v is there twice", f.Name, p)
			}
			points[p] = true
			// A summary tells lines apart by series and ε alone.
			key := frame.Point{Series: p.Series, Epsilon: p.Epsilon}
			if choices[key] {
				t.Errorf("%s: %q at ε = %s means two things", f.Name, p.Series, p.Epsilon)
			}
			choices[key] = true
		}
		if found, err := Find(f.Name); err != nil || found.Name != f.Name {
			t.Errorf("%s is not found: %v", f.Name, err)
		}
	}
}

func TestUnknownFigureIsRefused(t *testing.T) {
	_, err := Run(t.Context(), "shen/fig9", frame.Options{Out: t.TempDir()})
	if p, ok := errors.AsType[*dp.ParamError](err); !ok || p.Got != "shen/fig9" ||
		!strings.Contains(p.Want, "shen/fig2a") {
		t.Error(err)
	}
}
