// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// Blocks adds one noise vector to a vector that consists of blocks, if neighbours differ little within
// each block in L1. It is the K-norm mechanism (Hardt and Talwar 2010; Awan and Slavković 2021) for
// ‖x‖ = the largest L1 length of a block. Its density is proportional to exp(-‖η‖/scale).
//
// It suits data with one cell in each of many columns: L1 and L2 of the whole vector both allow for
// changes that no row can cause. Compared with Gamma for the largest L2 length of a change, its noise
// is √3 times shorter for blocks of one number, and √(m/2) times shorter for blocks of m numbers if m
// is large.
//
// Claim G-MECH-8. A release of values whose blocks each move by at most Sensitivity in L1 between
// neighbours is (Loss, 0)-DP for real-valued noise; it is drawn and snapped like Gamma's.
type Blocks struct {
	vector
	sizes []int
}

// BlocksFor makes the noise for one release of blocks of the given sizes, in their order in the
// vector. It keeps a reference to sizes.
func BlocksFor(eps dp.Epsilon, sens float64, sizes []int) (Blocks, error) {
	v, err := vectorFor("blocks", eps, eps.Float(), sens, sumSizes(sizes), releaseBits)
	return Blocks{v, sizes}, err
}

func (Blocks) Name() string     { return "blocks" }
func (Blocks) Norm() Norm       { return BlockL1 }
func (b Blocks) Blocks() []int  { return b.sizes }
func (b Blocks) Width() float64 { return rootMeanSquare(b.sizes) * b.scale }

// ObjectiveBlocks is Objective with the noise of Blocks: in the statement of G-MECH-5, L2 is replaced
// by the norm of Blocks.
type ObjectiveBlocks struct {
	vector
	sizes []int
}

// ObjectiveBlocksFor makes the noise. It fails unless jacobian is in [0, ε). It keeps a reference to
// sizes.
func ObjectiveBlocksFor(eps dp.Epsilon, sens, jacobian float64, sizes []int) (ObjectiveBlocks, error) {
	left, err := afterJacobian(eps, jacobian)
	if err != nil {
		return ObjectiveBlocks{}, err
	}
	v, err := vectorFor("objective blocks", eps, left, sens, sumSizes(sizes), termBits)
	return ObjectiveBlocks{v, sizes}, err
}

func (ObjectiveBlocks) Name() string     { return "objective blocks" }
func (ObjectiveBlocks) Norm() Norm       { return BlockL1 }
func (b ObjectiveBlocks) Blocks() []int  { return b.sizes }
func (b ObjectiveBlocks) Width() float64 { return rootMeanSquare(b.sizes) * b.scale }

func (b Blocks) draw(src rng.Source, values []Ratio) []float64 {
	return b.addOnGrid(inBlocks(src, b.sizes), values)
}

func (b ObjectiveBlocks) draw(src rng.Source, values []Ratio) []float64 {
	return b.addOnGrid(inBlocks(src, b.sizes), values)
}

// inBlocks draws a vector with density proportional to exp(-‖x‖), where ‖x‖ is the largest L1 length
// of a block: a uniform point of the unit ball times a length with the gamma distribution of shape
// d+1.
func inBlocks(src rng.Source, sizes []int) []float64 {
	x := drawBall(src, sizes)
	length := drawExponential(src)
	for range x {
		length += drawExponential(src)
	}
	for i := range x {
		x[i] *= length // 8.2
	}
	return x
}

// drawBall draws a uniform point of the unit ball, the product of its blocks' L1 balls. For an L1 ball
// of dimension m, it divides m of m+1 exponential variables by the sum of all and gives them random
// signs.
func drawBall(src rng.Source, sizes []int) []float64 {
	x := make([]float64, 0, sumSizes(sizes))
	for _, m := range sizes {
		total := drawExponential(src)
		for range m {
			e := drawExponential(src)
			total += e
			x = append(x, e)
		}
		block := x[len(x)-m:]
		for i := range block {
			if block[i] /= total; src.Uint64()&1 == 0 {
				block[i] = -block[i]
			}
		}
	}
	return x
}

// rootMeanSquare is the root mean square of the Euclidean length of inBlocks.
func rootMeanSquare(sizes []int) float64 {
	square := 0.0 // of a uniform point of the ball
	for _, m := range sizes {
		square += 2 * float64(m) / float64((m+1)*(m+2))
	}
	d := float64(sumSizes(sizes))
	return math.Sqrt((d + 1) * (d + 2) * square)
}

func sumSizes(sizes []int) (d int) {
	for _, m := range sizes {
		d += m
	}
	return d
}
