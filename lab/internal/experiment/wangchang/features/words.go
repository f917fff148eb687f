// SPDX-License-Identifier: Apache-2.0

package features

import (
	"context"
	"runtime"
	"sync"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// Dictionary is a set of visual words: centres of descriptors.
type Dictionary struct {
	words []float32 // K×descriptor
	half  []float32
	flat  int // the word of a block without any gradient, of which digits have many
}

// sampled is the number of descriptors that a dictionary is learned from.
const sampled = 20_000

// Learn finds a dictionary of so many words by k-means over descriptors drawn
// at random, with replacement, from all blocks of all images.
func Learn(im *Images, words int, src rng.Source) *Dictionary {
	blocks := uint64(blocksOf(im.Height) * blocksOf(im.Width))
	var points []float32
	for range max(sampled, words) {
		votes := orientPixels(im.pixelsOf(int(rng.Below(src, uint64(im.Count)))), im.Height, im.Width)
		points = describeBlock(votes, im.Width, int(rng.Below(src, blocks)), points)
	}
	centres := kMeans(points, descriptor, words, src)
	half := halfNorms(centres, descriptor)
	return &Dictionary{centres, half, nearestCentre(make([]float32, descriptor), centres, half)}
}

// nearestWord is the nearest word of a block.
func (d *Dictionary) nearestWord(block []float32) int {
	for _, v := range block {
		if v != 0 {
			return nearestCentre(block, d.words, d.half)
		}
	}
	return d.flat
}

// Shares are the bags of words of images, one a row: the share
// of an image's blocks that each word is nearest to. Rows add up to 1.
func (d *Dictionary) Shares(ctx context.Context, im *Images) (*Matrix, error) {
	const chunk = 256
	k := len(d.half)
	out := make([]float32, im.Count*k)
	chunks := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			var of []float32
			for from := range chunks {
				for i := from; i < min(from+chunk, im.Count); i++ {
					of = describeBlocks(im.pixelsOf(i), im.Height, im.Width, of[:0])
					row := out[i*k : (i+1)*k]
					for b := 0; b < len(of); b += descriptor {
						row[d.nearestWord(of[b:b+descriptor])] += float32(descriptor) / float32(len(of))
					}
				}
			}
		})
	}
	for from := 0; from < im.Count && ctx.Err() == nil; from += chunk {
		chunks <- from
	}
	close(chunks)
	workers.Wait()
	return &Matrix{im.Count, k, out}, ctx.Err()
}
