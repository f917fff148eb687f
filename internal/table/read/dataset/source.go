// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"

	"github.com/discreet-dp/discreet/internal/table/read/object"
)

// watchingReader stops reading when its context ends.
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

// unpackText decompresses a gzip file. The file's name decides that it is gzip, and not its first
// bytes, which may belong to a cell if there is no header. The expansion is bounded by the format
// only, 1,032 times: another bound would depend on cells.
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

// gzipFault distinguishes damage of the file from disk errors. It does not include the text of an
// error from package gzip, which may be unsafe to show.
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
