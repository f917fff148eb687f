// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// On either side of every number of rows at which files or tables are cut into pieces, every vote
// counts once: the statistic and the moments are those of rows one by one.
func TestEveryVoteCountsOnce(t *testing.T) {
	size.OnlyLong(t, "counts millions of votes; TestStatisticIsTheNaiveMean counts those of one piece")
	const distinct = 331 // no divisor of a piece
	base := censustest.Table(1, distinct)
	scale := 0.0
	var features [][]float64
	for _, n := range []int{momentRows - 1, momentRows, momentRows + 1, stripRows, stripRows + 1, 2*stripRows - 1,
		2 * stripRows, 2*stripRows + 1, readRows - 1, readRows, readRows + 1, 2*readRows + 1, maxStrips*stripRows - 1,
		maxStrips * stripRows, maxStrips*stripRows + 1} {
		rows := make([]int, n)
		votes := [2][]uint8{make([]uint8, n), make([]uint8, n)}
		soft := make([]float64, 2*n)
		for i := range rows {
			rows[i] = i % distinct
			votes[0][i], votes[1][i] = uint8(i/7%2), uint8(min(1, i%3))
			soft[2*i+i%2] = 1
		}
		tab := base.Subset(rows)
		p := params(func(p *Params) { p.Shape, p.Parties = Ball, 3 })
		pl := plan(t, p, tab)
		ta := tally(t, pl, tab, labelFile(t, tab, "a", votes[0]), labelFile(t, tab, "b", votes[1]),
			probabilityFile(t, tab, "c", soft))
		pub := newPublic(pl, auxiliary(tab))
		d := pl.countCoefficients()
		if features == nil {
			scale = 1 / math.Sqrt(float64(len(pl.space.Columns)+1))
			for i := range distinct {
				row := make([]float64, d)
				for k, j := range pl.space.Columns {
					f, x := pl.space.Cell(k, &base.Cols[j], int(base.Cols[j].Codes.At(i)))
					row[f] = x * scale
				}
				row[d-1] = scale
				features = append(features, row)
			}
		}
		positive := tab.Schema.Label.Positive
		shares, times := make([]int, distinct), make([]int, distinct)
		for i, at := range rows {
			times[at]++
			for _, v := range [3]int{int(votes[0][i]), int(votes[1][i]), i % 2} {
				if v == positive {
					shares[at]++
				}
			}
		}
		s, err := pub.computeStatistic(t.Context(), ta)
		if err != nil {
			t.Fatal(err)
		}
		g, err := pub.computeMoments(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for f := range d {
			mean, moment := 0.0, make([]float64, d)
			for at, row := range features {
				mean += float64(shares[at]) / 3 * row[f] / float64(n)
				for h := range d {
					moment[h] += float64(times[at]) * row[f] * row[h] / float64(n)
				}
			}
			if !(math.Abs(s[f]-mean) < 1e-10) {
				t.Fatalf("%d rows: the statistic of feature %d is %.12g, want %.12g", n, f, s[f], mean)
			}
			for h, want := range moment {
				if !(math.Abs(g.At(f, h)-want) < 1e-10) {
					t.Fatalf("%d rows: the moment of features %d and %d is %.12g, want %.12g", n, f, h, g.At(f, h), want)
				}
			}
		}
	}
}

// Every choice is taken up to its bounds and refused beyond.
func TestChoicesReachTheirBounds(t *testing.T) {
	s := census.Schema()
	try := func(name string, x float64, want bool, rows int, set func(*Params)) {
		t.Helper()
		if _, err := params(set).Plan(s, rows); (err == nil) != want {
			t.Errorf("%s %g: %v", name, x, err)
		}
	}
	below, above := func(x float64) float64 { return math.Nextafter(x, 0) }, func(x float64) float64 {
		return math.Nextafter(x, math.Inf(1))
	}
	for _, n := range []int{0, 1, 2, 255, 256, 257, 4999, 5000, 5001, maxParties - 1, maxParties, maxParties + 1} {
		try("parties", float64(n), n > 0 && n <= maxParties, 10, func(p *Params) { p.Parties = n })
	}
	for x, want := range map[float64]bool{below(minWidth): false, minWidth: true, maxWidth: true, above(maxWidth): false} {
		try("width", x, want, 10, func(p *Params) { p.Form, p.Loss, p.Width = Output, Huber, x })
	}
	for x, want := range map[float64]bool{below(minReg): false, minReg: true, maxReg: true, above(maxReg): false} {
		try("reg", x, want, 10, func(p *Params) { p.Reg = x })
	}
	for x, want := range map[float64]bool{below(minBound): false, minBound: true, maxBound: true, above(maxBound): false} {
		try("bound", x, want, 10, func(p *Params) { p.Bound = x })
	}
	for n, want := range map[int]bool{-1: false, 0: true, maxRows: true, maxRows + 1: false} {
		try("rows", float64(n), want, n, func(p *Params) { p.Parties = 1 })
	}
	const parties = maxParties
	for n, want := range map[int]bool{maxVotes / parties / 2: true, maxVotes/parties/2 + 1: false} {
		try("votes", float64(n), want, n, func(p *Params) { p.Parties = parties })
	}
	for _, form := range []Form{Statistic, Output} {
		for _, shape := range []Shape{Ball, Rows} {
			for _, eps := range []dp.Epsilon{1, dp.Nano / 1000, dp.Nano, dp.MaxEpsilon} {
				p := params(func(p *Params) { p.Form, p.Shape, p.Epsilon = form, shape, eps })
				reg := p.DefaultReg(8, 9)
				u := 9 * p.perVote() / eps.Float()
				want := max(1e-4, u*u/2) / 8
				switch {
				case form == Output && u >= 0.02:
					want = mostRidge
				case form == Output:
					want = max(1e-4, u)
				case shape == Ball:
					want = max(1e-4, min(10*u*u, mostRidge))
				}
				if reg != min(maxReg, max(minReg, want)) {
					t.Errorf("%s, %s, %s: a ridge of %g, want %g", form, shape, eps, reg, want)
				}
			}
		}
	}
	for _, levels := range []int{2, 255, maxDim - 3, maxDim - 2, maxDim - 1, maxDim} {
		s := *census.Schema()
		many := s.Columns[1]
		many.Levels = nil
		for k := range levels {
			many.Levels = append(many.Levels, schema.Level{Value: strconv.Itoa(k)})
		}
		s.Columns, s.Label.Position = []schema.Column{many}, 1
		pl, err := params(nil).Plan(&s, 10)
		if err == nil && pl.outputLength() > maxDim || err != nil && levels < maxDim-2 {
			t.Errorf("%d levels: %v", levels, err)
		}
		if dim := (&Plan{space: mustSpace(t, &s), s: &s}).outputLength(); (err == nil) != (dim <= maxDim) {
			t.Errorf("%d coefficients: %v", dim, err)
		}
	}
}

func mustSpace(t *testing.T, s *schema.Schema) *feature.Space {
	t.Helper()
	sp, err := feature.NewSpace(s, feature.OneHot, s.Features())
	if err != nil {
		t.Fatal(err)
	}
	return sp
}

// A header is written and read up to each of its bounds, and refused beyond.
func TestHeadersReachTheirBounds(t *testing.T) {
	good := Header{Party: "a", Kind: Labels, Levels: []string{"n", "y"}, Rows: 1}
	for _, n := range []int{0, 1, maxName - 1, maxName, maxName + 1} {
		h := good
		h.Party = strings.Repeat("p", n)
		if err := h.checkFields(); (err == nil) != (n > 0 && n <= maxName) {
			t.Errorf("a name of %d: %v", n, err)
		}
	}
	for n, want := range map[int]bool{0: false, 1: true, maxRows: true, maxRows + 1: false} {
		h := good
		h.Rows = n
		if err := h.checkFields(); (err == nil) != want {
			t.Errorf("%d rows: %v", n, err)
		}
	}
	for n, want := range map[int]bool{0: false, 1: true, maxLayout: true, maxLayout + 1: false} {
		h := good
		h.Kind, h.Encoder, h.Layout = Coefficients, "onehot", make([]string, n)
		if err := h.checkFields(); (err == nil) != want {
			t.Errorf("%d names: %v", n, err)
		}
	}
	h := good
	h.Kind, h.Encoder, h.Layout = Coefficients, "onehot", []string{""}
	text, err := h.encodeText()
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]bool{1: true, maxHeader - 1: true, maxHeader: true, maxHeader + 1: false} {
		h.Layout[0] = strings.Repeat("x", max(0, n-len(text)))
		_, err := NewWriter(io.Discard, h, party("a"))
		line, encoded := append(bytes.Repeat([]byte("x"), n-1), '\n'), 0
		if again, e := h.encodeText(); e == nil {
			encoded = len(again)
		}
		if (err == nil) != (encoded <= maxHeader) || n > 1 && encoded != n {
			t.Errorf("a header of %d bytes: %v", encoded, err)
		}
		v := &Reader{r: bufio.NewReader(bytes.NewReader(line))}
		if got, err := v.readLine(); (err == nil) != want || want && len(got) != n-1 {
			t.Errorf("a line of %d bytes is read as %d, %v", n, len(got), err)
		}
	}
}

// A descent that learns from more steps than it keeps ends at the minimum as well, and keeps no more.
func TestDescentBeyondItsMemory(t *testing.T) {
	const dim = 40
	bend := make([]float64, dim*dim)
	curve := func(i int) float64 { return 1 / float64(1+i*i) }
	for i := range dim {
		bend[i*dim+i] = 1
	}
	f := func(x []float64) ([]float64, error) {
		g := make([]float64, dim)
		for i := range g {
			g[i] = curve(i)*(x[i]-1) + 1e-3*math.Tanh(x[i]-1)
		}
		return g, nil
	}
	for _, steps := range []int{1, memory - 1, memory, memory + 1, memory + 2, 2*memory + 1, 4000} {
		calls := 0
		x, length, err := descendGradient(func(x []float64) ([]float64, error) { calls++; return f(x) }, bend, dim, 1e-9, steps)
		if err != nil {
			t.Fatal(err)
		}
		if g, _ := f(x); euclideanNorm(g) != length || calls > steps+1 {
			t.Errorf("%d steps: a gradient of %g is told as %g, after %d calls", steps, euclideanNorm(g), length, calls)
		}
		if steps == 4000 && length > 1e-9 {
			t.Errorf("a gradient of %g is left", length)
		}
	}
}
