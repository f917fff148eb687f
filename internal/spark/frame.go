// SPDX-License-Identifier: Apache-2.0

package spark

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// header is the beginning of a message; Parts parts follow it. Every part is preceded by its length in
// 8 bytes.
type header struct {
	Op      string   `json:"op"`
	Parts   int      `json:"parts"`
	Error   string   `json:"error,omitempty"`
	Program string   `json:"program,omitempty"` // SHA-256 of the executable file
	Name    string   `json:"name,omitempty"`
	Block   string   `json:"block,omitempty"`
	ID      string   `json:"id,omitempty"`
	Rows    int      `json:"rows,omitempty"`
	Data    []string `json:"data,omitempty"`
	Columns []string `json:"columns,omitempty"`
	Config  *config  `json:"config,omitempty"`
	Piece   *piece   `json:"piece,omitempty"`
	Pieces  []piece  `json:"pieces,omitempty"`
	Folder  string   `json:"folder,omitempty"` // where executors keep blocks

	Known  []string `json:"known,omitempty"` // permitted columns; nil: all
	Drop   bool     `json:"drop,omitempty"`  // drop other columns instead of refusing them
	Added  []Column `json:"added,omitempty"`
	Out    string   `json:"out,omitempty"`
	Counts []Count  `json:"counts,omitempty"`

	Keep    *dataset.Selection `json:"keep,omitempty"`
	Secret  string             `json:"secret,omitempty"`
	View    *view              `json:"view,omitempty"`
	Told    bool               `json:"told,omitempty"` // the worker has the weights of the piece's rows in the view
	Buckets int                `json:"buckets,omitempty"`
	Persons []personCount      `json:"persons,omitempty"`
	Lots    string             `json:"lots,omitempty"`   // the key, in hexadecimal
	First   int                `json:"first,omitempty"`  // position of a block's first row
	Firsts  map[string]int     `json:"firsts,omitempty"` // the same, by block
	Lens    []int              `json:"lens,omitempty"`   // lengths of concatenated lists
	Places  []int              `json:"places,omitempty"` // positions of blocks' first rows

	Local    bool `json:"local,omitempty"`    // executors may store blocks in files, and paths are files
	Parallel int  `json:"parallel,omitempty"` // simultaneous tasks

	Spark    string    `json:"spark,omitempty"`
	Machines []Machine `json:"machines,omitempty"`
}

// config is what every task needs to know.
type config struct {
	Session string `json:"session"` // a unique name
	Worker  string `json:"worker"`  // the file's name among the files that Spark sends to executors
	Program string `json:"program"`
	Schema  string `json:"schema"`
	Scoring bool   `json:"scoring,omitempty"` // rows are scored, and Schema is the argument of OpenScorer
	Rows    int    `json:"rows"`              // approximate number per block
	// Keep selects the rows that a worker uses; nil for all.
	Keep   *dataset.Selection `json:"keep,omitempty"`
	Secret string             `json:"secret,omitempty"` // key for hashing identifiers, in hexadecimal
}

// maxPart bounds the parts of a message; those of a block are the longest.
const maxPart = 1 << 31

// mostAtOnce is the largest number of bytes that are allocated before they arrive.
const mostAtOnce = 1 << 20

func send(w io.Writer, h header, parts ...[]byte) error {
	h.Parts = len(parts)
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	for _, part := range append([][]byte{text}, parts...) {
		if _, err := w.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part)))); err != nil {
			return err
		}
		if len(part) == 0 {
			continue
		}
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

var errMessage = errors.New("spark: malformed message")

func receive(r io.Reader) (h header, parts [][]byte, err error) {
	text, err := receivePart(r)
	if err != nil {
		return h, nil, err
	}
	if json.Unmarshal(text, &h) != nil || h.Parts < 0 || h.Parts > 3 {
		return h, nil, errMessage
	}
	for range h.Parts {
		part, err := receivePart(r)
		if err != nil {
			return h, nil, fmt.Errorf("spark: a message ended too early: %w", err)
		}
		parts = append(parts, part)
	}
	return h, parts, nil
}

func receivePart(r io.Reader) ([]byte, error) {
	var size [8]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint64(size[:])
	if n > maxPart {
		return nil, errMessage
	}
	if n <= mostAtOnce {
		part := make([]byte, n)
		_, err := io.ReadFull(r, part)
		return part, err
	}
	// Room is made for what arrives, not for what a length says.
	part, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err == nil && uint64(len(part)) < n {
		err = io.ErrUnexpectedEOF
	}
	return part, err
}
