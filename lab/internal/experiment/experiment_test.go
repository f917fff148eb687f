// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/datasets"
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
		checkNeeds(t, f)
		if found, err := Find(f.Name); err != nil || found.Name != f.Name {
			t.Errorf("%s is not found: %v", f.Name, err)
		}
	}
}

// checkNeeds opens a figure over an empty folder: the file that it asks for first is one of those that are listed for it.
func checkNeeds(t *testing.T, f *frame.Figure) {
	files, ok := datasets.Needs(f.Data)
	if !ok {
		t.Errorf("%s: nothing lists the files of %s", f.Name, f.Data)
	}
	if len(files) == 0 {
		return // nothing is read; inventing it takes long
	}
	setup, err := f.Open(t.Context(), frame.NewWorld(t.TempDir()))
	if err == nil { // tables that are opened one by one
		var measure frame.Measure
		if measure, err = setup(t.Context(), frame.Repeat{}); err == nil {
			_, err = measure(t.Context(), f.Points[0])
		}
	}
	if err == nil || !slices.ContainsFunc(files, func(file datasets.File) bool {
		return strings.Contains(err.Error(), file.Name)
	}) {
		t.Errorf("%s asks for none of the files that are listed for %s: %v", f.Name, f.Data, err)
	}
}

func TestUnknownFigureIsRefused(t *testing.T) {
	_, err := Run(t.Context(), "shen/fig9", frame.Options{Out: t.TempDir()})
	if p, ok := errors.AsType[*dp.ParamError](err); !ok || p.Got != "shen/fig9" ||
		!strings.Contains(p.Want, "shen/fig2a") {
		t.Error(err)
	}
}
