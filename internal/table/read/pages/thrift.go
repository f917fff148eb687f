// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"encoding/binary"
	"errors"
)

var errThrift = errors.New("dataset: malformed thrift")

// ThriftLength returns the length in bytes of the compact-protocol struct at the start of data. The
// struct is checked before the Parquet library decodes it, because the library allocates memory for as
// many elements as a list claims to have. A list may not claim more elements than its bytes can hold.
func ThriftLength(data []byte) (int, error) {
	w := thriftWalker{data: data}
	err := w.walkStructure(0)
	return w.at, err
}

// Types of the compact protocol, numbered as in thrift-compact-protocol.md.
const (
	thriftStop   = 0
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftStruct = 12

	maxThriftDepth = 16
	// minListedStruct is the smallest encoding of a struct in a list of a Parquet footer: a
	// ColumnOrder.
	minListedStruct = 3
)

type thriftWalker struct {
	data []byte
	at   int
}

func (w *thriftWalker) walkStructure(depth int) error {
	if depth > maxThriftDepth {
		return errThrift
	}
	for {
		head, err := w.takeBytes(1)
		if err != nil {
			return err
		}
		if head[0] == thriftStop {
			return nil
		}
		if head[0]>>4 == 0 { // the field's number follows
			if _, err := w.uvarint(); err != nil {
				return err
			}
		}
		if err := w.walkValue(head[0]&15, depth); err != nil {
			return err
		}
	}
}

func (w *thriftWalker) walkValue(kind byte, depth int) error {
	switch kind {
	case thriftTrue, thriftFalse: // the value is the type
		return nil
	case thriftByte:
		_, err := w.takeBytes(1)
		return err
	case thriftI16, thriftI32, thriftI64:
		_, err := w.uvarint()
		return err
	case thriftDouble:
		_, err := w.takeBytes(8)
		return err
	case thriftBinary:
		n, err := w.uvarint()
		if err == nil {
			_, err = w.takeBytes(n)
		}
		return err
	case thriftList, thriftSet:
		return w.walkList(depth)
	case thriftStruct:
		return w.walkStructure(depth + 1)
	}
	return errThrift // maps do not occur in Parquet
}

func (w *thriftWalker) walkList(depth int) error {
	head, err := w.takeBytes(1)
	if err != nil {
		return err
	}
	kind, size := head[0]&15, uint64(head[0]>>4)
	if size == 15 {
		if size, err = w.uvarint(); err != nil {
			return err
		}
	}
	least := uint64(1)
	if kind == thriftStruct {
		least = minListedStruct
	}
	if size > uint64(len(w.data)-w.at)/least {
		return errThrift
	}
	for range size {
		if kind == thriftTrue || kind == thriftFalse { // a byte each in a list
			_, err = w.takeBytes(1)
		} else {
			err = w.walkValue(kind, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *thriftWalker) uvarint() (uint64, error) {
	x, n := binary.Uvarint(w.data[w.at:])
	if n <= 0 {
		return 0, errThrift
	}
	w.at += n
	return x, nil
}

func (w *thriftWalker) takeBytes(n uint64) ([]byte, error) {
	if n > uint64(len(w.data)-w.at) {
		return nil, errThrift
	}
	from := w.at
	w.at += int(n)
	return w.data[from:w.at], nil
}
