// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"bufio"
	"crypto"
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"math"
)

// Reader reads one votes file. Its header can be trusted only after Rest has returned nil, which
// checks the signature.
type Reader struct {
	Header Header
	r      *bufio.Reader
	sum    hash.Hash
	left   int
	buf    []byte
}

// readRows is the largest number of rows that Next returns.
const readRows = 1 << 14

// NewReader reads the header. It allocates at most in proportion to the header's own length.
func NewReader(r io.Reader) (*Reader, error) {
	v := &Reader{r: bufio.NewReaderSize(r, 1<<16), sum: sha512.New()}
	start := make([]byte, len(magic))
	if _, err := io.ReadFull(v.r, start); err != nil || string(start) != magic {
		return nil, fmt.Errorf("multiparty: votes: must begin with the line %q", magic[:len(magic)-1])
	}
	line, err := v.readLine()
	if err != nil {
		return nil, err
	}
	h, err := parseHeader(line)
	if err != nil {
		return nil, err
	}
	v.sum.Write(start)
	v.sum.Write(line)
	v.sum.Write([]byte{'\n'})
	v.Header, v.left = *h, h.countItems()
	v.buf = make([]byte, min(v.left, readRows)*h.itemBytes())
	return v, nil
}

func (v *Reader) readLine() (line []byte, err error) {
	for {
		part, err := v.r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxHeader:
			return nil, fmt.Errorf("multiparty: votes: the header must fit %d bytes", maxHeader)
		case err == nil:
			return line[:len(line)-1], nil
		case err != bufio.ErrBufferFull:
			return nil, fmt.Errorf("multiparty: votes: the header must end in a line break")
		}
	}
}

// Rest reads the file to its end, and refuses everything that no Writer can make.
func (v *Reader) Rest() error {
	for {
		if _, _, err := v.nextPart(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// nextPart returns the checked bytes of the next rows, or io.EOF once the whole file has been read and
// its signature is valid.
func (v *Reader) nextPart() (body []byte, rows int, err error) {
	if v.left == 0 {
		return nil, 0, v.checkEnd()
	}
	rows = min(v.left, readRows)
	body = v.buf[:rows*v.Header.itemBytes()]
	if _, err := io.ReadFull(v.r, body); err != nil {
		return nil, 0, fmt.Errorf("multiparty: votes: the file must hold %d more items", v.left)
	}
	v.sum.Write(body)
	v.left -= rows
	return body, rows, v.Header.checkBody(body)
}

// checkBody refuses bytes that no Writer can make.
func (h *Header) checkBody(body []byte) error {
	switch h.Kind {
	case Labels:
		most := byte(0)
		for _, c := range body {
			most = max(most, c)
		}
		if int(most) >= len(h.Levels) {
			return fmt.Errorf("multiparty: votes: a label's code must be below %d", len(h.Levels))
		}
	case Probabilities:
		per := len(h.Levels) - 1
		for ; len(body) > 0; body = body[2*per:] {
			sum := 0
			for k := range per {
				sum += int(binary.LittleEndian.Uint16(body[2*k:]))
			}
			if sum > One {
				return fmt.Errorf("multiparty: votes: a row's probabilities must add up to at most %d units", One)
			}
		}
	default:
		for ; len(body) > 0; body = body[8:] {
			if x := math.Float64frombits(binary.LittleEndian.Uint64(body)); math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("multiparty: votes: coefficients must be finite")
			}
		}
	}
	return nil
}

func (v *Reader) checkEnd() error {
	signature := make([]byte, ed25519.SignatureSize)
	if _, err := io.ReadFull(v.r, signature); err != nil {
		return fmt.Errorf("multiparty: votes: the file must end in a signature")
	}
	if _, err := v.r.ReadByte(); err != io.EOF {
		return fmt.Errorf("multiparty: votes: nothing may follow the signature")
	}
	if err := ed25519.VerifyWithOptions(v.Header.Key[:], v.sum.Sum(nil), signature,
		&ed25519.Options{Hash: crypto.SHA512}); err != nil {
		return fmt.Errorf("multiparty: votes: the signature must be the key's for these bytes")
	}
	return io.EOF
}
