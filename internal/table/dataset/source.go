// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"

	"github.com/discreet-dp/discreet/internal/table/object"
)

// watchingReader stops when the context ends.
type watchingReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *watchingReader) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(b)
}

// unpackText is the text of a file of gzip. Its name says so and not its first bytes, which in a
// file without a header may be a cell's. How far it expands is not bounded but by the format, 1,032
// times: a bound by its size would depend on cells.
func unpackText(file string, src io.Reader, buffer int) (io.Reader, error) {
	z, err := gzip.NewReader(bufio.NewReaderSize(src, buffer))
	if err != nil {
		return nil, gzipFault(file, err)
	}
	return &gzipText{file, z}, nil
}

type gzipText struct {
	file string
	z    *gzip.Reader
}

func (g *gzipText) Read(b []byte) (int, error) {
	n, err := g.z.Read(b)
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
