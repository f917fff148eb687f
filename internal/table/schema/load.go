// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"unicode/utf8"
)

// What a schema may hold at most. The limits bound the memory that reading a
// hostile file can take; no table this program is meant for comes near them.
const (
	MaxBytes   = 2 << 20 // size of a schema in either notation
	MaxColumns = 4096    // the label included
	MaxLevels  = 65536   // levels of one category, bin edges of one number
	MaxMissing = 64      // tokens that mean "missing"
	MaxClasses = 256     // of the label: tables keep a label in one byte
	MaxGroups  = 256     // declared groups of one category
	MaxPairs   = 64      // declared pairs
	MaxSpecial = 64      // declared special values of one number
	// MaxPairCells bounds the cells of a pair: a category has one per code, a
	// number PairBins at most.
	MaxPairCells = 4096
	PairBins     = 16
)

// Load reads a schema file. See Parse.
func Load(path string) (*Schema, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	s, err := parseIn(text, filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Parse reads a schema in YAML and checks it whole: what it returns is
// complete and valid. Nothing that carries privacy has a default. Every fault
// found is reported, up to a couple of dozen, each as a *dp.ParamError that
// says on which line to write what; errors.As reaches them. Unknown and
// duplicate keys are faults. Time and memory
// are linear in the text.
func Parse(text []byte) (*Schema, error) { return parseIn(text, "") }

// parseIn is Parse of a text whose files lie in dir.
func parseIn(text []byte, dir string) (*Schema, error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	root, err := fromYAML(trimMark(text))
	if err != nil {
		return nil, err
	}
	return readSchema(root, dir)
}

// trimMark is a text without the mark that some editors begin one with.
func trimMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }

func checkText(text []byte) error {
	switch {
	case len(text) > MaxBytes:
		return refuseForm(0, fmt.Sprintf("must not be longer than %d bytes", MaxBytes), "more", "")
	case !utf8.Valid(text):
		return refuseForm(0, "must be UTF-8", "another encoding", "save the file as UTF-8; a file in Latin-1 or Windows-1252 "+
			"is converted by iconv -f WINDOWS-1252 -t UTF-8, one in UTF-16 by iconv -f UTF-16 -t UTF-8")
	case bytes.IndexByte(text, 0) >= 0:
		return refuseForm(0, "must not hold a NUL byte", "one", "save the file as plain UTF-8 text")
	}
	return nil
}
