// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// As many parts as a data set may have are declared and charged, the last like the first, and one
// more is refused.
func TestAsManyPartsAsThereMayBe(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		l := create(t, fresh(t))
		names := make([]string, maxParts+1)
		for i := range names {
			names[i] = fmt.Sprint("part ", i)
		}
		for n, want := range map[int]bool{1: false, 2: true, maxParts - 1: true, maxParts: true, maxParts + 1: false} {
			parts, name := *towns, fmt.Sprint("d-", n)
			parts.Names = names[:n]
			err := l.Declare(t.Context(), Dataset{Name: name, Epsilon: 10, Parts: &parts})
			if (err == nil) != want {
				t.Fatalf("%d parts: %v", n, err)
			}
			if err != nil {
				continue
			}
			for i, part := range []string{names[0], names[n-1]} {
				req := onPart(part[len("part "):], part)
				req.Dataset = name
				must(t, charge(t.Context(), mustJob(t, l, req), dp.Epsilon(3+i)))
			}
			bs, err := l.Balances(t.Context(), name)
			must(t, err)
			if b := bs[0]; b.Spent != 4 || b.Left != 6 || b.ByPart[n-1].Left.Epsilon != 6 || b.ByPart[0].Left.Epsilon != 7 {
				t.Errorf("%d parts: spent %s, left %s", n, b.Spent, b.Left)
			}
		}
	})
}

// Every job and every line of its bill is charged, to the last unit of the total.
func TestEveryLineAndJobIsCharged(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		l := create(t, fresh(t))
		lines := []int{63, 64, 65, 255, 256, 257, 4999, 5000, 5001}
		total, spent := dp.Epsilon(0), dp.Epsilon(0)
		for _, n := range lines {
			total += dp.Epsilon(n)
		}
		const small = 130
		total += small
		must(t, l.Declare(t.Context(), Dataset{Name: "d", Epsilon: total}))
		for i := range len(lines) + small {
			n := 1
			if i < len(lines) {
				n = lines[i]
			}
			must(t, charge(t.Context(), mustJob(t, l, request(fmt.Sprint(i))), slices.Repeat([]dp.Epsilon{1}, n)...))
			spent += dp.Epsilon(n)
			if bs, err := l.Balances(t.Context(), "d"); err != nil || bs[0].Spent != spent || bs[0].Left != total-spent {
				t.Fatalf("after %d jobs, the last of %d lines: %+v, want %s spent of %s (error %v)", i+1, n, bs, spent, total, err)
			}
		}
		if err := charge(t.Context(), mustJob(t, l, request("more")), 1); err == nil {
			t.Error("a unit more than the total is charged")
		}
	})
}

// Names and texts are taken up to their longest, and refused beyond.
func TestLongestTexts(t *testing.T) {
	for n, want := range map[int]bool{0: false, 1: true, 127: true, 128: true, 129: false} {
		if isWord(strings.Repeat("n", n)) != want {
			t.Errorf("a name of %d bytes: want %v", n, want)
		}
	}
	for n, want := range map[int]bool{0: true, 999: true, 1000: true, 1001: false} {
		if isPlain(strings.Repeat("n", n)) != want {
			t.Errorf("a text of %d bytes: want %v", n, want)
		}
	}
	parts := Parts{By: "b", Definition: "x", Names: []string{"a", strings.Repeat("n", 1001)}}
	var refused *dp.ParamError
	if err := parts.checkParts(); !errors.As(err, &refused) {
		t.Errorf("a name of 1001 bytes: %v", err)
	}
}

// Names and texts are taken up to their lengths and refused beyond.
func TestTextsReachTheirLengths(t *testing.T) {
	for _, n := range []int{0, 1, maxWord - 1, maxWord, maxWord + 1, maxPlain - 1, maxPlain, maxPlain + 1} {
		text := strings.Repeat("x", n)
		if isWord(text) != (n > 0 && n <= maxWord) || isPlain(text) != (n <= maxPlain) {
			t.Errorf("%d letters: a word %v, plain %v", n, isWord(text), isPlain(text))
		}
	}
}

// crowded is a folder in which so many parts are left already.
type crowded struct {
	files
	left int
}

func (c *crowded) create(string) (file, error) {
	if c.left--; c.left >= 0 {
		return nil, fs.ErrExist
	}
	return nil, nil
}

// Parts that crashes have left stand in no one's way, up to so many; then a file is refused, and not
// searched for without end.
func TestPartsOfCrashesReachTheirNumber(t *testing.T) {
	for n, want := range map[int]bool{0: true, 1: true, maxLeftovers: true, maxLeftovers + 1: false, 1000: false} {
		l := &Ledger{files: &crowded{left: n}}
		part, _, err := l.createBeside("x")
		if (err == nil) != want || want && part != fmt.Sprintf("x.part%d", n) {
			t.Errorf("%d parts are left: %s, %v", n, part, err)
		}
	}
}

// Months beyond four digits of a year are named as the last of those.
func TestMonthsHaveFourDigits(t *testing.T) {
	for i, want := range map[int]string{12: "0001-01", lastMonth - 1: "9999-11", lastMonth: "9999-12", lastMonth + 1: "9999-12"} {
		if got := indexMonth(i); got != want {
			t.Errorf("month %d is %s, want %s", i, got, want)
		}
	}
}
