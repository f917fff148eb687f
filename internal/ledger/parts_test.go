// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// onPart is a request for one part.
func onPart(id, part string) Request {
	req := request(id)
	req.Part, req.PartsBy, req.Definition = part, towns.By, towns.Definition
	return req
}

// By hand: of two parts the dearer counts, beside what all of the data set cost.
func TestPartsCountThroughTheirMaximum(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		l := create(t, fresh(t))
		ctx := context.Background()
		must(t, l.Declare(ctx, Dataset{Name: "d", Epsilon: 10, Parts: towns}))
		must(t, charge(t.Context(), mustJob(t, l, request("all")), 2))
		must(t, charge(t.Context(), mustJob(t, l, onPart("n1", "north")), 3))
		must(t, charge(t.Context(), mustJob(t, l, onPart("s1", "south")), 7))
		must(t, charge(t.Context(), mustJob(t, l, onPart("n2", "north")), 4))
		bs, err := l.Balances(ctx, "d")
		must(t, err)
		b := bs[0]
		if b.Spent != 9 || b.Left != 1 || b.Reserved != 0 || len(b.ByPart) != 2 {
			t.Fatalf("balance %+v", b)
		}
		for i, want := range []PartBalance{
			{"north", Use{Spent: dp.Price{Epsilon: 7}}, dp.Price{Epsilon: 1}},
			{"south", Use{Spent: dp.Price{Epsilon: 7}}, dp.Price{Epsilon: 1}},
		} {
			if b.ByPart[i] != want {
				t.Errorf("part %+v, want %+v", b.ByPart[i], want)
			}
		}
		var exceeded *Exceeded
		err = charge(t.Context(), mustJob(t, l, onPart("s2", "south")), 2)
		if !errors.As(err, &exceeded) || exceeded.Part != "south" || exceeded.Spent != 9 || exceeded.Asked != 2 ||
			!strings.Contains(err.Error(), `part "south"`) {
			t.Errorf("beyond what is left of a part: %v", err)
		}
		must(t, charge(t.Context(), mustJob(t, l, onPart("s2", "south")), 1))
		must(t, charge(t.Context(), mustJob(t, l, onPart("n3", "north")), 1)) // south is spent, north was not
		if err := charge(t.Context(), mustJob(t, l, request("all2")), 1); !errors.As(err, &exceeded) {
			t.Errorf("all of the data set after its parts: %v", err)
		}
		verify(t, l)
	})
}

// A part is what the data set's owner declared, and a row must not change it.
func TestPartsAreRefusedWhereTheyAreNotProven(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		l := create(t, fresh(t))
		ctx := context.Background()
		must(t, l.Declare(ctx, Dataset{Name: "d", Epsilon: 10, Parts: towns}))
		must(t, l.Declare(ctx, Dataset{Name: "whole", Epsilon: 10}))
		for name, change := range map[string]func(*Request){
			"no parts declared":  func(r *Request) { r.Dataset = "whole" },
			"unknown part":       func(r *Request) { r.Part = "west" },
			"another column":     func(r *Request) { r.PartsBy = "street" },
			"another definition": func(r *Request) { r.Definition = "y" },
			"protected column":   func(r *Request) { r.Terms.Protected = []string{"a", "b", "town"} },
		} {
			req := onPart("x", "north")
			change(&req)
			var p *dp.ParamError
			if _, err := l.Job(ctx, req); !errors.As(err, &p) {
				t.Errorf("%s: %v", name, err)
			}
		}
		// With one whole row more or less the column may be protected: the row is in
		// one part.
		must(t, l.Declare(ctx, Dataset{Name: "counted", Epsilon: 10, Parts: towns}))
		req := onPart("x", "north")
		req.Dataset, req.Terms.Relation, req.Terms.Protected = "counted", dp.AddRemove, []string{"a", "b", "town"}
		must(t, charge(t.Context(), mustJob(t, l, req), 1))
		for name, parts := range map[string]*Parts{
			"one part":     {By: "town", Names: []string{"north"}, Definition: "x"},
			"twice":        {By: "town", Names: []string{"north", "north"}, Definition: "x"},
			"nameless":     {By: "town", Names: []string{"north", ""}, Definition: "x"},
			"no column":    {Names: []string{"north", "south"}, Definition: "x"},
			"undefined":    {By: "town", Names: []string{"north", "south"}},
			"line break":   {By: "town", Names: []string{"north", "so\nuth"}, Definition: "x"},
			"far too many": {By: "town", Names: make([]string, maxParts+1), Definition: "x"},
		} {
			var p *dp.ParamError
			if err := l.Declare(ctx, Dataset{Name: "e", Epsilon: 10, Parts: parts}); !errors.As(err, &p) {
				t.Errorf("%s: %v", name, err)
			}
		}
		verify(t, l)
	})
}
