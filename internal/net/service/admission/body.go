// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/discreet-dp/discreet/internal/ground/jsontext"
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

// A message may have at most one part for a number of bytes, plus a constant. Parts are its fields, and
// messages and elements of lists within them. Even a short part costs memory, and parts of honest messages are not shorter.
const (
	bytesPerPart        = 128 // of a request
	bytesPerPartOfReply = 16
	fewParts            = 100
)

func checkParts(parts, size, perPart int) error {
	if most := fewParts + size/perPart; parts > most {
		return fmt.Errorf("a message of %d bytes has at most %d parts", size, most)
	}
	return nil
}

// codecs read messages whose number of parts is bounded.
var codecs = connect.WithHandlerOptions(connect.WithCodec(protobuf{bytesPerPart}), connect.WithCodec(text{"json"}),
	connect.WithCodec(text{"json; charset=utf-8"}))

// Replies bound the answers that a client reads: their bytes, packed and unpacked, and their parts.
func Replies(most int64) connect.ClientOption {
	return connect.WithClientOptions(connect.WithCodec(protobuf{bytesPerPartOfReply}), connect.WithReadMaxBytes(int(most)),
		connect.WithAcceptCompression("gzip", func() connect.Decompressor { return &unpacker{most: most} },
			func() connect.Compressor { return gzip.NewWriter(io.Discard) }))
}

// protobuf is the binary codec. Its parts have at least as many bytes on average.
type protobuf struct{ perPart int }

func (protobuf) Name() string { return "proto" }

func (protobuf) Marshal(m any) ([]byte, error) { return proto.Marshal(m.(proto.Message)) }

func (p protobuf) Unmarshal(b []byte, to any) error {
	m := to.(proto.Message)
	parts, err := countParts(b, m.ProtoReflect().Descriptor(), true)
	if err == nil {
		err = checkParts(parts, len(b), p.perPart)
	}
	if err != nil {
		return err
	}
	return proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(b, m)
}

// countParts returns the number of parts of a message. Numbers that are packed take at most eight times their
// bytes, and are not counted.
func countParts(b []byte, of protoreflect.MessageDescriptor, outermost bool) (parts int, err error) {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return 0, protowire.ParseError(n)
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(number, kind, b); n < 0 {
			return 0, protowire.ParseError(n)
		}
		value := b[:n]
		b = b[n:]
		f := of.Fields().ByNumber(number)
		if outermost || f != nil && (f.IsList() || f.Message() != nil) {
			parts++
		}
		if f != nil && f.Message() != nil && kind == protowire.BytesType {
			inner, _ := protowire.ConsumeBytes(value) // it was consumed above
			more, err := countParts(inner, f.Message(), false)
			if err != nil {
				return 0, err
			}
			parts += more
		}
	}
	return parts, nil
}

// text is the JSON codec under one of its names.
type text struct{ name string }

func (t text) Name() string { return t.name }

func (text) Marshal(m any) ([]byte, error) { return protojson.Marshal(m.(proto.Message)) }

func (text) Unmarshal(b []byte, to any) error {
	if len(b) == 0 {
		return errors.New("zero-length payload is not a JSON object")
	}
	if err := checkParts(jsontext.Count(b).Objects, len(b), bytesPerPart); err != nil {
		return err
	}
	if err := jsontext.Usual.Check(b); err != nil {
		return err
	}
	return protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(b, to.(proto.Message))
}
