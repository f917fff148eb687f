// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// log is a file of records, one JSON object per line, that only grows.
type log struct {
	file *os.File
	had  map[cell][]Record // what was there when it was opened
}

// openLog opens or creates the file. A last line without its end is what a
// killed run leaves behind: it is cut off together with the cell before it,
// which may be incomplete. Any other line that is no record is an error.
func openLog(path string) (*log, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l := &log{had: map[cell][]Record{}}
	var last cell
	lastFrom, from, line := 0, 0, 0
	cut := false
	for text := range bytes.Lines(text) {
		line++
		if text[len(text)-1] != '\n' {
			cut = true
			break
		}
		r, c, ok := parseRecord(text)
		if !ok {
			return nil, fmt.Errorf("experiment: %s:%d: must be a record; move the file away to start anew", path, line)
		}
		if c != last {
			last, lastFrom = c, from
		}
		l.had[c] = append(l.had[c], r)
		from += len(text)
	}
	if l.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644); err != nil {
		return nil, err
	}
	if cut {
		delete(l.had, last)
		if err := l.file.Truncate(int64(lastFrom)); err != nil {
			return nil, errors.Join(err, l.file.Close())
		}
	}
	return l, nil
}

// parseRecord reads one line; ok is false if it is no record of ours.
func parseRecord(line []byte) (r Record, c cell, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if dec.Decode(&r) != nil || r.Figure == "" || r.Metric == "" {
		return r, c, false
	}
	if _, err := dec.Token(); err != io.EOF {
		return r, c, false
	}
	c, ok = r.cellOf()
	return r, c, ok
}

// appendRecords appends the records of one cell in a single write.
func (l *log) appendRecords(records []Record) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for i := range records {
		if err := enc.Encode(&records[i]); err != nil {
			return err
		}
	}
	_, err := l.file.Write(b.Bytes())
	return err
}
