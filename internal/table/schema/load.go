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

// Limits on the content of a schema. They bound the memory for reading a hostile file, and are far
// above what real tables need.
const (
	MaxBytes   = 2 << 20 // size of a schema in either notation
	MaxColumns = 4096    // the label included
	MaxLevels  = 65536   // levels of one category, bin edges of one number
	MaxMissing = 64      // tokens that mean a missing cell
	MaxClasses = 256     // of the label: tables keep a label in one byte
	MaxGroups  = 256     // declared groups of one category
	MaxPairs   = 64      // declared pairs
	MaxSpecial = 64      // declared special values of one number
	// MaxPairCells bounds the cells of a pair: a category has one bin per code, a number at most
	// PairBins.
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

// Parse reads a schema in YAML and checks it completely: the result is complete and valid. Facts that
// affect privacy have no default. It reports every fault, up to a limit, each as a *dp.ParamError with
// the line and the correction, which errors.As finds. Unknown and duplicate keys are faults. Time and
// memory are linear in the text.
func Parse(text []byte) (*Schema, error) { return parseIn(text, "") }

// parseIn is Parse for a text that refers to files in dir.
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

// trimMark removes a byte-order mark, which some editors write.
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
