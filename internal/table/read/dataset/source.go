// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"

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

// unpackText decompresses a file. Its name decides how it is compressed, and not its first bytes, which
// may belong to a cell if there is no header. The expansion is bounded by the format alone: a bound by the
// file's size would depend on the content of cells.
func unpackText(file string, src io.Reader, buffer int) (io.Reader, error) {
	if unpackedName(file) == file { // 1.3
		return src, nil
	}
	in := bufio.NewReaderSize(src, buffer)
	p := &packedText{file: file, format: "gzip"}
	var err error
	if strings.HasSuffix(file, ".zst") {
		p.format = "zstd"
		// Within the window that the format's own program takes by default, and in this goroutine alone.
		if p.z, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20)); err == nil {
			_, err = in.Peek(1) // nothing is a file of no text to the decoder
		}
	} else {
		p.z, err = gzip.NewReader(in)
	}
	if err != nil {
		return nil, p.fault(err)
	}
	return p, nil
}

// packedText is the text of a compressed file.
type packedText struct {
	file, format string
	z            io.Reader
}

func (p *packedText) Read(b []byte) (int, error) {
	n, err := p.z.Read(b)
	if err != nil && err != io.EOF {
		err = p.fault(err)
	}
	return n, err
}

// fault distinguishes damage of the file from disk errors. It does not include the text of an error of a
// decoder, which may be unsafe to show.
func (p *packedText) fault(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return &FaultError{File: p.file, Fault: "must be complete " + p.format + ", and is cut short"}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.As(err, new(*os.PathError)),
		errors.As(err, new(*object.Error)):
		return err
	}
	return &FaultError{File: p.file, Fault: "must be undamaged " + p.format}
}
