// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"context"
	"runtime"
	"sync"

	"github.com/discreet-dp/discreet/lab/internal/census"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/experiment/wangchang/features"
	"github.com/discreet-dp/discreet/lab/internal/experiment/wangchang/vectors"
)

// The Brazilian census may not be passed on. These invented people stand in
// for it: as many dimensions and rows, and not one statement about Brazil.
const (
	inventedPeople = "invented people"
	standInNote    = "invented people instead of the Brazilian census"
	standInOwners  = 100_000
	peoplePer      = 120 // each owner's share of 12 million
	peopleSeed     = 1
	testSeed       = 2
	testPeople     = 50_000
)

// signed are people's vectors with binary dimensions in {-1, 1}, which fill the
// range that mechanisms expect.
type signed struct {
	*vectors.People
	empty []float64 // -1 for each binary dimension
}

func newSigned(v *vectors.People) signed {
	s := signed{v, make([]float64, v.Dim())}
	for j := range s.empty {
		if v.Binary(j) {
			s.empty[j] = -1
		}
	}
	return s
}

func (s signed) Row(i int, out []float64) {
	var at [vectors.NonZeros]uint8
	var value [vectors.NonZeros]float64
	s.Sparse(i, &at, &value)
	copy(out, s.empty)
	for k, j := range at {
		out[j] = value[k]
	}
}

// standIn is so many people and the test people, with signed vectors.
func standIn(rows int) (train, test labelled) {
	of := func(seed uint64, rows int) labelled {
		t := census.Generate(seed, rows)
		return labelled{newSigned(vectors.New(t)), t.Labels, 2}
	}
	return of(peopleSeed, rows), of(testSeed, testPeople)
}

// standInFits are the local classifiers of the first owners of 12 million
// people, one a row. People are drawn alike and on their own, so consecutive
// ones are a random share.
func standInFits(ctx context.Context, w *frame.World, owners int) (matrix, error) {
	m, _, err := features.Kept(w.Cache, "census-owners", []byte("1, logistic, seed 1, 120 people each"),
		func() (*features.Matrix, error) {
			out := &features.Matrix{Rows: standInOwners, Width: vectors.Width, Cells: make([]float32, standInOwners*vectors.Width)}
			fitPeople(ctx, out)
			return out, ctx.Err()
		})
	if err != nil {
		return matrix{}, err
	}
	return matrix{m.Width, m.Cells[:owners*m.Width]}, nil
}

// fitPeople fits every owner. A part's last people, too few for an owner, are
// left out.
func fitPeople(ctx context.Context, out *features.Matrix) {
	next := 0
	for t := range census.Parts(peopleSeed, (standInOwners+1)*peoplePer+census.PartRows) {
		v := vectors.New(t)
		owners := min(t.Rows/peoplePer, out.Rows-next)
		eachInParallel(owners, func(l int) {
			if ctx.Err() != nil {
				return
			}
			from, to := l*peoplePer, (l+1)*peoplePer
			theta, _ := newFitter(newPeople(v, from, to), onesOf(peoplePer), vectors.Width).fitSigns(
				classSigns(t.Labels[from:to], 1))
			for j, x := range theta {
				out.Cells[(next+l)*out.Width+j] = float32(x)
			}
		})
		if next += owners; next == out.Rows || ctx.Err() != nil {
			return
		}
	}
}

// classSigns are +1 for one class and -1 for the others.
func classSigns(y []uint8, class uint8) []float64 {
	out := make([]float64, len(y))
	for i, c := range y {
		out[i] = -1
		if c == class {
			out[i] = 1
		}
	}
	return out
}

// eachInParallel calls f for 0..n-1 on all processors.
func eachInParallel(n int, f func(i int)) {
	const chunk = 16
	var workers sync.WaitGroup
	from := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for first := range from {
				for i := first; i < min(first+chunk, n); i++ {
					f(i)
				}
			}
		})
	}
	for i := 0; i < n; i += chunk {
		from <- i
	}
	close(from)
	workers.Wait()
}
