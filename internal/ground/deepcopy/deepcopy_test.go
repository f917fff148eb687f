// SPDX-License-Identifier: Apache-2.0

package deepcopy

import (
	"reflect"
	"testing"
)

type leaf struct {
	Name string
	At   [2]int
}

type tree struct {
	Numbers []float64
	Leaves  []leaf
	Lists   [][]int
	Next    *tree
	Pair    [2][]int
	private int
}

// What is written to the original is not in the copy, nor the other way round.
func TestCopiesAreApart(t *testing.T) {
	make1 := func() tree {
		return tree{Numbers: []float64{1}, Leaves: []leaf{{"a", [2]int{1, 2}}}, Lists: [][]int{{1}, nil},
			Next: &tree{Lists: [][]int{{2}}}, Pair: [2][]int{{3}, {}}, private: 4}
	}
	from := make1()
	to := Of(from)
	if !reflect.DeepEqual(from, to) {
		t.Fatalf("%+v is copied as %+v", from, to)
	}
	from.Numbers[0], from.Leaves[0].Name, from.Lists[0][0], from.Next.Lists[0][0], from.Pair[0][0] = 9, "z", 9, 9, 9
	if !reflect.DeepEqual(to, make1()) {
		t.Errorf("what is written to the original is in the copy: %+v", to)
	}
	if from.Next = Of(from.Next); from.Next.Lists[0][0] != 9 || Of[*tree](nil) != nil || Of(3) != 3 {
		t.Error("pointers, nil and numbers are not copied")
	}
}

// What cannot be separated is refused, and not shared.
func TestWhatCannotBeCopiedIsRefused(t *testing.T) {
	type hidden struct{ list []int }
	for name, try := range map[string]func(){
		"a function":     func() { Of(struct{ F func() }{func() {}}) },
		"a channel":      func() { Of([]chan int{nil}) },
		"an interface":   func() { Of(struct{ X any }{1}) },
		"a map":          func() { Of(map[int]int{}) },
		"a hidden slice": func() { Of(hidden{[]int{1}}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is copied", name)
				}
			}()
			try()
		}()
	}
}
