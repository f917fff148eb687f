// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// LevelCells counts rows by the level of their label and their bin.
type LevelCells struct {
	Rows [][]uint64 // by level, then bin
}

// LevelScores holds a score per row and level, and says in which direction a
// step function moves the likelihood of the labels, whose probabilities are the
// softmax of a row's scores. Scores are integers in units of 1/feature.ScoreOne
// nat, kept within ±2^30 of them, so they do not depend on the machine.
//
// Memory 4 bytes per row and level. It is not for several goroutines at once.
type LevelScores struct {
	cols   []column.Column
	labels []uint8
	levels int
	z      []int32 // by row, then level
}

// NewLevelScores starts every row at the given scores, one per level, in nats.
// cols is parallel to the schema's Columns. It keeps cols and labels.
func NewLevelScores(cols []column.Column, labels []uint8, start []float64) *LevelScores {
	s := &LevelScores{cols: cols, labels: labels, levels: len(start), z: make([]int32, len(labels)*len(start))}
	for at := 0; at < len(s.z); at += s.levels {
		for k, x := range start {
			s.z[at+k] = clampUnits(feature.Units(x))
		}
	}
	return s
}

const mostScore = 1 << 30

func clampUnits(units int64) int32 { return int32(min(max(units, -mostScore), mostScore)) }

// levelBlock is how many rows one piece of work covers.
const levelBlock = 1 << 12

// eachBlock calls do for every block of rows on all cores, with scratch for its
// codes. It fails only when ctx ends.
func (s *LevelScores) eachBlock(ctx context.Context, do func(from, to int, codes []uint32)) error {
	var next atomic.Int64
	var workers sync.WaitGroup
	blocks := (len(s.labels) + levelBlock - 1) / levelBlock
	for range min(runtime.GOMAXPROCS(0), blocks) {
		workers.Go(func() {
			codes := make([]uint32, levelBlock)
			for b := int(next.Add(1) - 1); b < blocks && ctx.Err() == nil; b = int(next.Add(1) - 1) {
				from, to := b*levelBlock, min((b+1)*levelBlock, len(s.labels))
				do(from, to, codes[:to-from])
			}
		})
	}
	workers.Wait()
	return ctx.Err()
}

// Add adds times the steps of sh to the scores. One pass over the rows.
func (s *LevelScores) Add(ctx context.Context, sh *feature.LevelShape, times float64) error {
	bins := sh.ByCode(&s.cols[sh.Column])
	units := make([]int64, len(bins)*s.levels) // by code, then level
	for code, b := range bins {
		for k := range s.levels {
			units[code*s.levels+k] = feature.Units(times * sh.Steps[k][b])
		}
	}
	return s.eachBlock(ctx, func(from, to int, codes []uint32) {
		s.cols[sh.Column].Codes.Read(from, codes)
		for i, c := range codes {
			row := s.z[(from+i)*s.levels:][:s.levels]
			for k, u := range units[int(c)*s.levels:][:s.levels] {
				row[k] = clampUnits(int64(row[k]) + u)
			}
		}
	})
}

// LevelSlope is how the log-likelihood of the labels changes when a multiple of a
// shape is added to the scores, at none of it: a row whose label scores above
// the others gains, and the gain falls off by the curve. Both are in units of
// most/WeightOne, half the curve in units of that: it counts for half of what a
// row may say, since it is only asked how far to go.
type LevelSlope struct{ Gain, HalfCurve int64 }

// Slope adds up, over the rows, the first derivative of log p(label) along sh and
// half its second, negated. What a row adds is shortened so that the sizes of
// both together are at most most nats > 0: at most WeightOne units. The sums are
// exact, hence the same for any order of the rows. One pass.
func (s *LevelScores) Slope(ctx context.Context, sh *feature.LevelShape, most float64) (LevelSlope, error) {
	bins := sh.ByCode(&s.cols[sh.Column])
	steps := make([]float64, len(bins)*s.levels) // by code, then level
	for code, b := range bins {
		for k := range s.levels {
			steps[code*s.levels+k] = sh.Steps[k][b]
		}
	}
	var gain, curve atomic.Int64
	err := s.eachBlock(ctx, func(from, to int, codes []uint32) {
		s.cols[sh.Column].Codes.Read(from, codes)
		p := make([]float64, s.levels)
		var g, c int64
		for i, code := range codes {
			s.writeSoftmax(from+i, p)
			row := steps[int(code)*s.levels:][:s.levels]
			mean, square := 0.0, 0.0
			for k, x := range row {
				mean += float64(p[k] * x)
				square += float64(p[k] * float64(x*x))
			}
			first := row[s.labels[from+i]] - mean
			half := math.Max(0, square-float64(mean*mean)) / 2
			scale := 1 / math.Max(most, math.Abs(first)+half)
			// Truncated, so that their sizes add up to WeightOne at most.
			g += int64(float64(first*scale) * WeightOne)
			c += int64(float64(half*scale) * WeightOne)
		}
		gain.Add(g)
		curve.Add(c)
	})
	return LevelSlope{gain.Load(), curve.Load()}, err
}

// Residuals adds up, by level and bin, what the labels say beyond the scores: a
// row of level y adds 1 − p(y) to above[y] in its bin and p(k) to below[k] for
// every other level k. Where the scores are right the two balance. In units of
// 1/WeightOne; a row adds at most 2·WeightOne over all cells of one column. The
// sums are exact. One pass.
func (s *LevelScores) Residuals(ctx context.Context, bins *feature.Bins) (above, below [][]uint64, err error) {
	byCode := bins.ByCode(&s.cols[bins.Column])
	n := bins.Len()
	sums := make([]uint64, 2*s.levels*n) // above, then below; by level, then bin
	var all sync.Mutex
	err = s.eachBlock(ctx, func(from, to int, codes []uint32) {
		s.cols[bins.Column].Codes.Read(from, codes)
		p := make([]float64, s.levels)
		own := make([]uint64, len(sums))
		for i, code := range codes {
			s.writeSoftmax(from+i, p)
			b := int(byCode[code])
			for k, x := range p {
				units := uint64(x * WeightOne) // rounded down, so that all of them together are at most WeightOne
				if k == int(s.labels[from+i]) {
					own[k*n+b] += WeightOne - units
				} else {
					own[(s.levels+k)*n+b] += units
				}
			}
		}
		all.Lock()
		defer all.Unlock()
		for i, x := range own {
			sums[i] += x
		}
	})
	for k := range s.levels {
		above, below = append(above, sums[k*n:][:n]), append(below, sums[(s.levels+k)*n:][:n])
	}
	return above, below, err
}

// writeSoftmax writes the softmax of a row's scores.
func (s *LevelScores) writeSoftmax(row int, p []float64) {
	z := s.z[row*s.levels:][:s.levels]
	most := z[0]
	for _, x := range z[1:] {
		most = max(most, x)
	}
	sum := 0.0
	for k, x := range z {
		p[k] = math.Exp(float64(x-most) / feature.ScoreOne)
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
}
