// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// A model file is one JSON document:
//
//	{
//	  "discreet_model": 1,
//	  "bytes": 4711,
//	  "sha256": "…",
//	  "body": {
//	    …
//	  }
//	}
//
// bytes and sha256 are of the body's text, from its opening to its closing
// brace, exactly as it stands in the file. The checksum catches damage, not
// malice: anyone who can change the body can change the sum.
const (
	version = 9        // the newest
	maxFile = 64 << 20 // bytes
)

// versionOf returns the oldest version that can hold m, so that older programs can read every file
// that does not need a newer version.
func versionOf(m *Model) int {
	switch {
	case m.Privacy.SchemaFile != "", len(m.Privacy.Ignored) > 0:
		return 9
	case m.Classifier.fileVersion() > 7:
		return m.Classifier.fileVersion()
	case len(m.Schema.Ignored) > 0, m.Schema.Dialect.Spelling() != "",
		slices.ContainsFunc(m.Schema.Columns, func(c schema.Column) bool {
			return c.Marks() > 0 || c.Date != "" || c.Buckets > 0 || hasPrefixes(c.Levels)
		}), hasPrefixes(m.Schema.Label.Levels):
		return 7
	case len(m.Schema.FileColumns()) < len(m.Schema.Columns): // derived ones
		return 5
	case m.Privacy.Delta != 0, m.Schema.MaxDelta != 0, m.Schema.Label.Weights != nil,
		slices.ContainsFunc(m.Schema.Columns, func(c schema.Column) bool { return c.Monotone != schema.Free }):
		return max(3, m.Classifier.fileVersion())
	}
	return m.Classifier.fileVersion()
}

func hasPrefixes(levels []schema.Level) bool {
	return slices.ContainsFunc(levels, func(l schema.Level) bool { return len(l.Prefixes) > 0 })
}

// The parts of the frame around the body.
const (
	frameVersion = "{\n  \"discreet_model\": "
	frameBytes   = ",\n  \"bytes\": "
	frameSum     = ",\n  \"sha256\": \""
	frameBody    = "\",\n  \"body\": "
	frameEnd     = "\n}\n"
)

// Marshal writes m as a model file. The same model always gives the same bytes. It refuses a model
// that is incomplete, not finite or inconsistent, and reads the result back to check it.
func Marshal(m *Model) ([]byte, error) {
	if err := m.checkAll(); err != nil {
		return nil, err
	}
	b, err := toBody(m)
	if err != nil {
		return nil, err
	}
	raw, err := b.encodeText()
	if err != nil {
		return nil, err
	}
	file := writeFrame(versionOf(m), raw)
	if _, err := Unmarshal(file); err != nil {
		return nil, fmt.Errorf("model: cannot be read back: %w", err)
	}
	return file, nil
}

func writeFrame(version int, raw []byte) []byte {
	return fmt.Appendf(nil, "%s%d%s%d%s%x%s%s%s", frameVersion, version, frameBytes, len(raw), frameSum,
		sha256.Sum256(raw), frameBody, raw, frameEnd)
}

// Unmarshal reads a model file. It accepts exactly what Marshal writes, or wrote in an older version.
// It verifies the checksum before it decodes the body, and allocates at most in proportion to
// len(file).
func Unmarshal(file []byte) (*Model, error) {
	v, raw, err := readFrame(file)
	if err != nil {
		return nil, err
	}
	b, err := decodeBody(raw)
	if err != nil {
		return nil, err
	}
	m, err := b.readModel()
	if err != nil {
		return nil, err
	}
	if err := m.checkAll(); err != nil {
		return nil, err
	}
	if v != versionOf(m) {
		return nil, fmt.Errorf("model: version must be %d for what the body holds (got %d)", versionOf(m), v)
	}
	return m, nil
}

// readFrame checks the frame around the body, and returns the version and the body's text.
func readFrame(file []byte) (v int, raw []byte, err error) {
	if len(file) > maxFile {
		return 0, nil, fmt.Errorf("model: a model file must have at most %d bytes", maxFile)
	}
	rest, ok := bytes.CutPrefix(file, []byte(frameVersion))
	if !ok {
		return 0, nil, fmt.Errorf("model: a model file must start with %q, as discreet writes it", frameVersion)
	}
	v, rest, ok = readNumber(rest, frameBytes)
	switch {
	case !ok:
		return 0, nil, fmt.Errorf("model: the version must be a whole number followed by the length of the body")
	case v > version:
		return 0, nil, fmt.Errorf("model: version must be at most %d, the newest this program reads (got %d); use a "+
			"newer discreet", version, v)
	case v < 1:
		return 0, nil, fmt.Errorf("model: version must be at least 1 (got %d)", v)
	}
	n, rest, ok := readNumber(rest, frameSum)
	if !ok {
		return 0, nil, fmt.Errorf("model: bytes must be a whole number followed by the checksum")
	}
	stated, rest, ok := bytes.Cut(rest, []byte(frameBody))
	if !ok {
		return 0, nil, fmt.Errorf("model: the checksum must be followed by the body")
	}
	raw, ok = bytes.CutSuffix(rest, []byte(frameEnd))
	if !ok || len(raw) != n {
		return 0, nil,
			fmt.Errorf("model: the body must have the stated %d bytes and end the file; it is cut short or was changed", n)
	}
	if fmt.Sprintf("%x", sha256.Sum256(raw)) != string(stated) {
		return 0, nil, fmt.Errorf("model: the body must match its checksum; the file is damaged or was edited")
	}
	return v, raw, nil
}

// readNumber parses a whole number in its only valid spelling, followed by after, and returns the rest
// of the text.
func readNumber(s []byte, after string) (n int, rest []byte, ok bool) {
	digits, rest, ok := bytes.Cut(s, []byte(after))
	if !ok || len(digits) > 9 {
		return 0, nil, false
	}
	n, err := strconv.Atoi(string(digits))
	return n, rest, err == nil && strconv.Itoa(n) == string(digits)
}

// Load reads the model file at path.
func Load(path string) (*Model, error) {
	f, err := openfile.Regular(path)
	if err != nil {
		return nil, fmt.Errorf("model: load: %w", err)
	}
	defer f.Close()
	file, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("model: load: %w", err)
	}
	m, err := Unmarshal(file)
	if err != nil {
		return nil, fmt.Errorf("%w (file %s)", err, path)
	}
	return m, nil
}
