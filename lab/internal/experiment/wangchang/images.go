// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/experiment/wangchang/features"
)

// images is one of the two sets of pictures.
type images struct{ name, long, folder string }

var (
	mnist   = images{"mnist", "MNIST", "mnist"}
	fashion = images{"fashion", "Fashion-MNIST", "fashion-mnist"}
)

const imageClasses = 10

// dictionaryNote goes into every record that a dictionary bears on.
func dictionaryNote(words int) string {
	return fmt.Sprintf("%d words, dictionary learned from unperturbed images", words)
}

// openImages returns the training and the test images as bags of words in
// [-1, 1]^words. The dictionary is learned once, from all training images.
func (s images) openImages(ctx context.Context, w *frame.World, words int) (train, test labelled, err error) {
	pixels, err := s.readFile(w, "train-images-idx3-ubyte.gz")
	if err != nil {
		return train, test, err
	}
	var dictionary *features.Dictionary // learned when the first bags are not kept
	bags := func(file string, of []byte) (matrix, error) {
		// Everything the bags follow from but the code, whose changes the number counts.
		origin := fmt.Appendf(nil, "1, %d words, %x, %x", words, sha256.Sum256(pixels), sha256.Sum256(of))
		m, _, err := features.Kept(w.Cache, fmt.Sprintf("%s-%s-%d", s.name, file, words), origin,
			func() (*features.Matrix, error) {
				if dictionary == nil {
					im, err := features.ReadImages(bytes.NewReader(pixels))
					if err != nil {
						return nil, err
					}
					dictionary = features.Learn(im, words, replay.Seeded(1, "wangchang, dictionary, "+s.name))
				}
				im, err := features.ReadImages(bytes.NewReader(of))
				if err != nil {
					return nil, err
				}
				return dictionary.Shares(ctx, im)
			})
		if err != nil {
			return matrix{}, fmt.Errorf("experiment: %s: %w", s.long, err)
		}
		return matrix{m.Width, rescaleShares(m.Cells)}, nil
	}
	trainBags, err := bags("train", pixels)
	if err != nil {
		return train, test, err
	}
	unseen, err := s.readFile(w, "t10k-images-idx3-ubyte.gz")
	if err != nil {
		return train, test, err
	}
	testBags, err := bags("test", unseen)
	if err != nil {
		return train, test, err
	}
	if train, err = s.labelBags(w, "train-labels-idx1-ubyte.gz", trainBags); err != nil {
		return train, test, err
	}
	test, err = s.labelBags(w, "t10k-labels-idx1-ubyte.gz", testBags)
	return train, test, err
}

// rescaleShares takes shares of blocks to [-1, 1], in place: their square roots, up to
// a tenth of the blocks. Both bounds are public.
func rescaleShares(shares []float32) []float32 {
	const most = 0.1
	for i, s := range shares {
		shares[i] = float32(2*math.Sqrt(min(1, float64(s)/most)) - 1)
	}
	return shares
}

func (s images) labelBags(w *frame.World, file string, bags matrix) (labelled, error) {
	text, err := s.readFile(w, file)
	if err != nil {
		return labelled{}, err
	}
	y, err := features.ReadLabels(bytes.NewReader(text), imageClasses)
	if err != nil {
		return labelled{}, fmt.Errorf("experiment: %s/%s: %w", s.folder, file, err)
	}
	if len(y) != bags.Len() {
		return labelled{}, fmt.Errorf("experiment: %s/%s: %d labels for %d images", s.folder, file, len(y), bags.Len())
	}
	w.PermuteLabels(y)
	return labelled{bags, y, imageClasses}, nil
}

// readFile unpacks a file of the data folder.
func (s images) readFile(w *frame.World, name string) ([]byte, error) {
	path, err := w.File(s.folder + "/" + name)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("experiment: %s/%s: %w", s.folder, name, err)
	}
	const most = 1 << 28 // unpacked bytes
	text, err := io.ReadAll(io.LimitReader(z, most))
	if err != nil {
		return nil, fmt.Errorf("experiment: %s/%s: %w", s.folder, name, err)
	}
	return text, nil
}
