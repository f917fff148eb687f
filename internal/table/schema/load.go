// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/ground/yamltext"
)

// Limits on the content of a schema. They bound the memory for reading a hostile file, and are far
// above what real tables need.
const (
	MaxBytes   = yamltext.MaxBytes // size of a schema in either notation
	MaxColumns = 1 << 14           // the label included
	MaxLevels  = 65536             // levels of one category, bin edges of one number
	MaxMissing = 64                // tokens that mean a missing cell
	MaxClasses = 256               // of the label: tables keep a label in one byte
	MaxGroups  = 256               // declared groups of one category
	MaxPairs   = 64                // declared pairs
	MaxSpecial = 64                // declared special values of one number
	// MaxPairCells bounds the cells of a pair: a category has one bin per code, a number at most
	// PairBins.
	MaxPairCells = 4096
	PairBins     = 16
)

// Load reads a schema file. See Parse.
func Load(path string) (*Schema, error) {
	f, err := openfile.Regular(path)
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
	root, err := fromYAML(text)
	if err != nil {
		return nil, err
	}
	return readSchema(root, dir)
}

// ReadAll reads a schema as Parse does, from a text that is parsed already, and reports every fault. It is
// for editors.
func ReadAll(root *yamltext.Node) (*Schema, error) {
	return (&reader{most: maxAll}).readSchema(fromTree(root))
}

// maxAll is the largest number of faults that ReadAll reports, several per column.
const maxAll = 4 * MaxColumns
