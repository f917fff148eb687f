// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

var errUnpack = errors.New("dataset: malformed compressed page")

// unpackInto decompresses src into dst with codec. It fails unless the result has exactly len(dst)
// bytes, and never allocates more. The Parquet library's codecs let their output grow as long as the
// input demands.
func unpackInto(dst, src []byte, codec format.CompressionCodec) error {
	switch codec {
	case format.Snappy:
		n, used := binary.Uvarint(src)
		if used <= 0 || n != uint64(len(dst)) {
			return errUnpack
		}
		_, err := snappy.Decode(dst, src)
		return err
	case format.Zstd:
		d, _ := zstdDecoders.Get().(*zstd.Decoder)
		defer zstdDecoders.Put(d)
		out, err := d.DecodeAll(src, dst[:0:len(dst)])
		if err == nil && len(out) != len(dst) {
			err = errUnpack
		}
		return err
	case format.Lz4Raw:
		n, err := lz4.UncompressBlock(src, dst)
		if err == nil && n != len(dst) {
			err = errUnpack
		}
		return err
	case format.Gzip:
		z, err := gzip.NewReader(bytes.NewReader(src))
		if err != nil {
			return err
		}
		return readExactly(dst, z)
	case format.Brotli:
		return readExactly(dst, brotli.NewReader(bytes.NewReader(src)))
	}
	return ErrEncoding
}

// largePage is the largest size of a page in bytes for which the file's claim is trusted.
const largePage = 64 << 20

// unpackLarge decompresses src to size bytes. It allocates memory as the bytes arrive, or after
// checking that src can hold so many.
func unpackLarge(src []byte, size int, codec format.CompressionCodec) ([]byte, error) {
	var from io.Reader
	switch codec {
	case format.Zstd:
		d, err := zstd.NewReader(bytes.NewReader(src), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer d.Close()
		from = d
	case format.Gzip:
		z, err := gzip.NewReader(bytes.NewReader(src))
		if err != nil {
			return nil, err
		}
		from = z
	case format.Brotli:
		from = brotli.NewReader(bytes.NewReader(src))
	default: // no byte of Snappy or LZ4 stands for more than 255
		if size > 256*len(src) {
			return nil, errUnpack
		}
		out := make([]byte, size)
		return out, unpackInto(out, src, codec)
	}
	var out bytes.Buffer
	if n, err := io.Copy(&out, io.LimitReader(from, int64(size)+1)); err != nil || n != int64(size) {
		return nil, errUnpack
	}
	return out.Bytes(), nil
}

func canUnpack(codec format.CompressionCodec) bool {
	switch codec {
	case format.Uncompressed, format.Snappy, format.Zstd, format.Lz4Raw, format.Gzip, format.Brotli:
		return true
	}
	return false // LZO, and the LZ4 that Parquet has given up
}

// zstdDecoders holds *zstd.Decoder, whose buffers are worth reusing.
var zstdDecoders = sync.Pool{New: func() any {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic(err) // the options above are valid
	}
	return d
}}

func readExactly(dst []byte, r io.Reader) error {
	if _, err := io.ReadFull(r, dst); err != nil {
		return err
	}
	if n, err := r.Read(make([]byte, 1)); n > 0 || err != io.EOF {
		return errUnpack
	}
	return nil
}
