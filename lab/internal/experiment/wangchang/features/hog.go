// SPDX-License-Identifier: Apache-2.0

package features

import "math"

// The descriptor of Dalal and Triggs (2005): unsigned gradients, voted into
// nine orientations a cell, blocks of two by two cells of four by four pixels,
// one block at every second pixel.
const (
	cellSide     = 4
	orientations = 9
	blockSide    = 2 * cellSide
	stride       = 2
	descriptor   = 4 * orientations
)

// blocksOf is the number of blocks that fit on one side.
func blocksOf(side int) int { return (side-blockSide)/stride + 1 }

// describeBlocks appends the descriptors of all blocks of one image, row by row,
// descriptor numbers each. A block without any gradient is the zero vector.
func describeBlocks(pixels []uint8, height, width int, out []float32) []float32 {
	votes := orientPixels(pixels, height, width)
	for b := range blocksOf(height) * blocksOf(width) {
		out = describeBlock(votes, width, b, out)
	}
	return out
}

// describeBlock appends the descriptor of block b of an image so wide.
func describeBlock(votes []vote, width, b int, out []float32) []float32 {
	y, x := b/blocksOf(width)*stride, b%blocksOf(width)*stride
	from := len(out)
	out = append(out, make([]float32, descriptor)...)
	block := out[from:]
	for dy := range blockSide {
		for dx := range blockSide {
			v := &votes[(y+dy)*width+x+dx]
			cell := block[(dy/cellSide*2+dx/cellSide)*orientations:][:orientations]
			cell[v.bin] += v.low
			cell[(v.bin+1)%orientations] += v.high
		}
	}
	normaliseBlock(block)
	return out
}

// vote is one pixel's gradient, shared between an orientation and the next.
type vote struct {
	bin       int
	low, high float32
}

// orientPixels takes central differences, with the border repeated outside.
func orientPixels(pixels []uint8, height, width int) []vote {
	at := func(y, x int) float64 {
		return float64(pixels[min(max(y, 0), height-1)*width+min(max(x, 0), width-1)]) / 255
	}
	out := make([]vote, height*width)
	for y := range height {
		for x := range width {
			gy, gx := at(y+1, x)-at(y-1, x), at(y, x+1)-at(y, x-1)
			length := math.Hypot(gy, gx)
			if length == 0 {
				continue
			}
			angle := math.Atan2(gy, gx)
			if angle < 0 {
				angle += math.Pi
			}
			place := angle / math.Pi * orientations
			bin := math.Floor(place)
			share := place - bin
			out[y*width+x] = vote{int(bin) % orientations, float32(length * (1 - share)), float32(length * share)}
		}
	}
	return out
}

// normaliseBlock scales a block to a norm just below 1, so that strong and faint
// strokes look alike; what is all but flat stays short.
func normaliseBlock(block []float32) {
	const faint = 0.1
	sum := faint * faint
	for _, v := range block {
		sum += float64(v) * float64(v)
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range block {
		block[i] *= scale
	}
}
