// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// unpacker decompresses a message up to most bytes, and does not read any further.
type unpacker struct {
	gzip.Reader
	most, left int64
}

func (u *unpacker) Reset(r io.Reader) error {
	u.left = u.most + 1 // one more, for who reads to notice
	return u.Reader.Reset(r)
}

func (u *unpacker) Read(p []byte) (int, error) {
	if u.left <= 0 {
		return 0, connect.NewError(connect.CodeResourceExhausted, errors.New("too large"))
	}
	n, err := u.Reader.Read(p[:min(int64(len(p)), u.left)])
	u.left -= int64(n)
	return n, err
}

// A message may have at most one part per bytesPerPart bytes, plus a constant. Even a short part costs
// memory, and parts of honest messages are not shorter.
const (
	bytesPerPart = 128
	fewParts     = 100
)

func checkParts(parts, size int) error {
	if most := fewParts + size/bytesPerPart; parts > most {
		return fmt.Errorf("a message of %d bytes has at most %d parts", size, most)
	}
	return nil
}

// codecs read messages whose number of parts is bounded.
var codecs = connect.WithHandlerOptions(connect.WithCodec(protobuf{}), connect.WithCodec(text{"json"}),
	connect.WithCodec(text{"json; charset=utf-8"}))

// protobuf is the binary codec.
type protobuf struct{}

func (protobuf) Name() string { return "proto" }

func (protobuf) Marshal(m any) ([]byte, error) { return proto.Marshal(m.(proto.Message)) }

func (protobuf) Unmarshal(b []byte, to any) error {
	parts := 0
	for rest := b; len(rest) > 0; parts++ {
		_, _, n := protowire.ConsumeField(rest)
		if n < 0 {
			return protowire.ParseError(n)
		}
		rest = rest[n:]
	}
	if err := checkParts(parts, len(b)); err != nil {
		return err
	}
	return proto.Unmarshal(b, to.(proto.Message))
}

// text is the JSON codec under one of its names. Bytes are base64, so that every brace begins an
// object.
type text struct{ name string }

func (t text) Name() string { return t.name }

func (text) Marshal(m any) ([]byte, error) { return protojson.Marshal(m.(proto.Message)) }

func (text) Unmarshal(b []byte, to any) error {
	if len(b) == 0 {
		return errors.New("zero-length payload is not a JSON object")
	}
	if err := checkParts(bytes.Count(b, []byte("{")), len(b)); err != nil {
		return err
	}
	return protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(b, to.(proto.Message))
}
