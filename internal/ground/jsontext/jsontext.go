// SPDX-License-Identifier: Apache-2.0

// Package jsontext decodes JSON of other programs in bounded memory. Each element of a list and each object
// takes many times its bytes, so they are counted before any memory is taken for them.
package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Bounds are what a text may have.
type Bounds struct {
	Elements int // of all lists and objects together; each list counts, too
	Objects  int
}

// Usual are the bounds of texts of up to 16 MiB.
var Usual = Bounds{1 << 21, 1 << 17}

// Count returns how many elements and objects a text has.
func Count(text []byte) (has Bounds) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == ',' || c == '[':
			has.Elements++
		case c == '{':
			has.Objects++
		}
	}
	return has
}

// Check refuses a text with more than the bounds.
func (b Bounds) Check(text []byte) error {
	if has := Count(text); has.Elements > b.Elements || has.Objects > b.Objects {
		return fmt.Errorf("a text must have at most %d elements and %d objects", b.Elements, b.Objects)
	}
	return nil
}

// Decode decodes one value within the bounds. It refuses unknown fields and trailing data.
func (b Bounds) Decode(text []byte, to any) error {
	if err := b.Check(text); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("a text must end after its value")
	}
	return nil
}
