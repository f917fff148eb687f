// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"fmt"
	"net/http"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
)

// The largest amounts that a request allocates while it is read, answered and written, in bytes.
// TestRequestsStayWithinTheirShare searches for a request that takes more.
const (
	callMemory  = 128 << 10 // for any request
	byteMemory  = 8         // per byte of its body, which is stored, decompressed and copied into texts
	partMemory  = 512       // per input, output, name or parameter of its body
	cellMemory  = 144       // per cell, read and coded
	scoreMemory = 48        // per number of the answer: computed, then written in up to 25 bytes
	countMemory = 512       // per number of undeclared cells of a column, plus eight times the column's name
	labelMemory = 96        // per text of the answer, plus four times its length
)

// The largest number of parts of a request that are not cells.
const (
	partsPerInput = 16
	fewParts      = 128
)

// memoryFor returns the largest amount of memory for a request with this many bytes and rows.
func (s *served) memoryFor(size, rows int64, splits bool) int64 {
	row := int64(len(s.columns))*cellMemory + int64(s.scorer.Width())*scoreMemory + s.labelMemory
	if splits {
		row += int64(len(s.split.parts)*s.split.classes) * scoreMemory
	}
	return s.fixedMemory + byteMemory*size + rows*row
}

// measure computes everything that does not depend on a request.
func (s *served) measure() {
	s.fixedMemory = callMemory + partMemory*int64(mostParts(len(s.columns)))
	for _, name := range s.columns {
		s.fixedMemory += int64(coding.Fates) * (countMemory + 8*int64(len(name)))
	}
	if s.split != nil {
		for _, term := range s.split.terms {
			s.fixedMemory += labelMemory + 8*int64(len(term))
		}
	}
	for k, class := range s.classes {
		s.labelMemory = max(s.labelMemory, labelMemory+4*int64(max(len(class), len(s.quoted[k]))))
	}
}

// mostParts is the largest number of parts in a request with this number of columns.
func mostParts(columns int) int { return fewParts + partsPerInput*columns }

// memoryFor returns the largest amount of memory for a request of size bytes with any model and any
// content: a cell has at least one byte.
func (s *Server) memoryFor(size int64) (most int64) {
	for _, slot := range s.models {
		m := slot.now.Load()
		rows := min(int64(s.opts.MaxRows), size/int64(max(1, len(m.columns))))
		most = max(most, m.memoryFor(size, rows, m.split != nil))
	}
	return most
}

// shape is the number of cells and parts that a request may have.
type shape struct{ cells, parts int }

// largestShape is the shape of the largest request: as many cells as the rows of the widest model
// have, if a caller's share of the memory is large enough.
func (s *Server) largestShape() (most shape) {
	_, share := s.places.Share()
	for _, slot := range s.models {
		m := slot.now.Load()
		fits := (share - m.fixedMemory - byteMemory*s.opts.MaxBody) / cellMemory
		most.cells = max(most.cells, int(min(int64(s.opts.MaxRows*len(m.columns)), max(fits, 1))))
		most.parts = max(most.parts, mostParts(len(m.columns)))
	}
	return most
}

// checkMemory refuses an amount of memory whose shares cannot hold a request with the largest body.
func (s *Server) checkMemory() error {
	_, share := s.places.Share()
	for _, slot := range s.models {
		if need := slot.now.Load().memoryFor(s.opts.MaxBody, 1, slot.now.Load().split != nil); share < need {
			return dp.Refuse("serve", "memory",
				fmt.Sprintf("must be at least %d, %d for each of %d shares, for bodies of %d bytes", need*int64(s.shares()),
					need, s.shares(), s.opts.MaxBody), s.opts.Memory)
		}
	}
	return nil
}

var errTooMuch = &problem{http.StatusRequestEntityTooLarge, fmt.Errorf("the request must take less memory than this " +
	"server gives to one caller: send fewer rows at a time")}

// check refuses a request that exceeds the shape.
func (s shape) check(of shape) error {
	if of.cells > s.cells || of.parts > s.parts {
		return refuse("the request must have at most %d cells, and %d names and parameters", s.cells, s.parts)
	}
	return nil
}

// partsDepth is the depth in a request's JSON of its inputs' fields; deeper levels are their contents.
const partsDepth = 3

// checkJSON refuses a body that would be decoded into more cells or parts than permitted. It counts
// commas, because every element of a list or object except the first follows one. Invalid JSON may be
// counted in any way, since it is not decoded.
func (s shape) checkJSON(body []byte) error {
	var has shape
	depth := 0
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '"':
			i += textEnd(body[i:]) - 1
		case '[':
			depth++
		case '{':
			depth++
			has.parts++
		case ']', '}':
			depth--
		case ',':
			if depth > partsDepth {
				has.cells++
			} else {
				has.parts++
			}
		}
	}
	return s.check(has)
}

// messages decodes the calls' messages within a shape.
type messages struct{ s *Server }

// Name implements connect.Codec.
func (messages) Name() string { return "proto" }

// Marshal implements connect.Codec.
func (messages) Marshal(m any) ([]byte, error) { return proto.Marshal(m.(proto.Message)) }

// Unmarshal implements connect.Codec. It drops unknown fields.
func (c messages) Unmarshal(b []byte, to any) error {
	var has shape
	if err := has.count(b, requestLevel); err != nil {
		return err
	}
	if err := c.s.largestShape().check(has); err != nil {
		return err
	}
	return proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(b, to.(proto.Message))
}

// level is a message of the protocol within ModelInferRequest.
type level int

const (
	requestLevel level = iota
	inputLevel
	contentsLevel
)

// Numbers of the fields of those messages that have their own level or can be repeated.
const (
	inputsField   = 5 // of a request
	shapeField    = 3 // of an input
	contentsField = 5 // of an input
	fp32Field     = 6 // of contents
	fp64Field     = 7
	bytesField    = 8
)

// count adds the cells and parts into which a message is decoded. It counts messages of other calls as
// if they were ModelInferRequest, which only overestimates them.
func (s *shape) count(b []byte, at level) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(number, kind, b); n < 0 {
			return protowire.ParseError(n)
		}
		var inner []byte
		if kind == protowire.BytesType {
			inner, _ = protowire.ConsumeBytes(b) // it was consumed above
		}
		b = b[n:]
		var err error
		switch {
		case at == contentsLevel && number <= bytesField:
			s.cells += countElements(int(number), inner, kind == protowire.BytesType)
		case at == requestLevel && number == inputsField:
			s.parts++
			err = s.count(inner, inputLevel)
		case at == inputLevel && number == contentsField:
			s.parts++
			err = s.count(inner, contentsLevel)
		case at == inputLevel && number == shapeField:
			s.parts += 1 + countElements(int(number), inner, kind == protowire.BytesType)
		default:
			s.parts++
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// countElements returns the number of elements in a repeated field: one, or the number packed into its
// bytes.
func countElements(field int, packed []byte, isPacked bool) (n int) {
	switch {
	case !isPacked || field == bytesField:
		return 1
	case field == fp32Field:
		return len(packed) / 4
	case field == fp64Field:
		return len(packed) / 8
	}
	for _, c := range packed {
		if c < 0x80 { // a number's last byte
			n++
		}
	}
	return n
}
