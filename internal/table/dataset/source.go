// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"

	"github.com/discreet-dp/discreet/internal/table/object"
)

const (
	// maxRatio is how many bytes of text one byte of gzip, or Parquet, may stand
	// for on average. Tables of text seldom reach 50; the format allows 1,032.
	maxRatio = 500
	// freeText is how much text is let through before the ratio counts.
	freeText = 16 << 20
	expands  = "must not expand to more than 500 times its size"
)

// progress adds up what was read of all files. Calls are made one at a time.
type progress struct {
	done, total int64
	report      func(done, total int64)
}

func (p *progress) add(n int) {
	p.done += int64(n)
	if p.report != nil && n > 0 {
		p.report(p.done, p.total)
	}
}

// totalSize is the size of the files together, "-" and tables of databases not counted.
func totalSize(ctx context.Context, paths []string) (sum int64, err error) {
	for _, path := range paths {
		if path == "-" || IsAddress(path) {
			continue
		}
		size, err := sizeOf(ctx, path)
		if err != nil {
			return 0, err
		}
		sum += size
	}
	return sum, nil
}

// countingReader counts what is read and stops when the context ends.
type countingReader struct {
	ctx context.Context
	r   io.Reader
	n   int64
	p   *progress
}

func (c *countingReader) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(b)
	c.n += int64(n)
	if c.p != nil {
		c.p.add(n)
	}
	return n, err
}

// openText returns the text of a CSV file, unpacked where it is gzip. What is
// gzip is told by its first two bytes, which no text has.
func openText(file string, src *countingReader) (io.Reader, error) {
	packed := bufio.NewReaderSize(src, 64<<10)
	if head, _ := packed.Peek(2); !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return packed, nil
	}
	z, err := gzip.NewReader(packed)
	if err != nil {
		return nil, gzipFault(file, err)
	}
	return &gzipText{file: file, packed: src, z: z}, nil
}

// gzipText unpacks gzip and refuses what expands beyond reason.
type gzipText struct {
	file   string
	packed *countingReader
	z      *gzip.Reader
	n      int64
}

func (g *gzipText) Read(b []byte) (int, error) {
	n, err := g.z.Read(b)
	g.n += int64(n)
	if g.n > freeText && g.n/maxRatio > g.packed.n {
		return 0, &FaultError{File: g.file, Fault: expands}
	}
	if err != nil && err != io.EOF {
		err = gzipFault(g.file, err)
	}
	return n, err
}

// gzipFault tells damage of the file from failures of the disk. The text of an
// error of package gzip is not passed on: it is not ours to vouch for.
func gzipFault(file string, err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return &FaultError{File: file, Fault: "must be complete gzip, and is cut short"}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.As(err, new(*os.PathError)),
		errors.As(err, new(*object.Error)):
		return err
	}
	return &FaultError{File: file, Fault: "must be undamaged gzip"}
}
