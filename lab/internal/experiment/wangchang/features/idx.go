// SPDX-License-Identifier: Apache-2.0

package features

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// Images are greyscale pictures of one size.
type Images struct {
	Count, Height, Width int
	Pixels               []uint8 // Count×Height×Width, 0 black to 255 white
}

// pixelsOf returns the pixels of image i.
func (im *Images) pixelsOf(i int) []uint8 {
	size := im.Height * im.Width
	return im.Pixels[i*size : (i+1)*size]
}

// The magic numbers of the idx format: unsigned bytes in three and in one
// dimension.
const (
	imagesMagic = 0x0803
	labelsMagic = 0x0801
	maxItems    = 1 << 20
	maxSide     = 1 << 10
	maxPixels   = 1 << 28
)

// ReadImages reads an idx file of images, unpacked. A wrong magic number, a
// size beyond 2^28 pixels, a missing or a further byte is an error.
func ReadImages(r io.Reader) (*Images, error) {
	var head [4]uint32
	if err := binary.Read(r, binary.BigEndian, &head); err != nil {
		return nil, fmt.Errorf("images: read header: %w", err)
	}
	n, h, w := uint64(head[1]), uint64(head[2]), uint64(head[3])
	switch {
	case head[0] != imagesMagic:
		return nil, fmt.Errorf("images: magic number must be %#x, is %#x", imagesMagic, head[0])
	case n == 0 || n > maxItems || h == 0 || h > maxSide || w == 0 || w > maxSide || n*h*w > maxPixels:
		return nil, fmt.Errorf("images: size must be 1 to %d images of 1 to %d pixels a side and %d pixels in all, is "+
			"%d of %d×%d", maxItems, maxSide, maxPixels, n, h, w)
	}
	pixels, err := readExactly(r, n*h*w)
	if err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	return &Images{int(n), int(h), int(w), pixels}, nil
}

// ReadLabels reads an idx file of labels below classes, unpacked.
func ReadLabels(r io.Reader, classes int) ([]uint8, error) {
	var head [2]uint32
	if err := binary.Read(r, binary.BigEndian, &head); err != nil {
		return nil, fmt.Errorf("labels: read header: %w", err)
	}
	switch {
	case head[0] != labelsMagic:
		return nil, fmt.Errorf("labels: magic number must be %#x, is %#x", labelsMagic, head[0])
	case head[1] == 0 || head[1] > maxItems:
		return nil, fmt.Errorf("labels: there must be 1 to %d, are %d", maxItems, head[1])
	}
	labels, err := readExactly(r, uint64(head[1]))
	if err != nil {
		return nil, fmt.Errorf("labels: %w", err)
	}
	for i, l := range labels {
		if int(l) >= classes {
			return nil, fmt.Errorf("labels: each must be below %d, number %d is not", classes, i)
		}
	}
	return labels, nil
}

// readExactly reads n bytes, after which there must be none. Memory grows with what
// is read, not with what the header claims.
func readExactly(r io.Reader, n uint64) ([]uint8, error) {
	var b bytes.Buffer
	got, err := io.Copy(&b, io.LimitReader(r, int64(n)+1))
	switch {
	case err != nil:
		return nil, err
	case uint64(got) != n:
		return nil, fmt.Errorf("%d bytes must follow the header, at least %d do", n, got)
	}
	return b.Bytes(), nil
}
