// SPDX-License-Identifier: Apache-2.0

package release

import (
	"archive/zip"
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// MaxFile is the largest size of an archive in bytes, and so of all its files together.
const MaxFile = 256 << 20

// Names of the files that a release may hold.
const (
	AttestationName = "attestation.json"
	ModelName       = "model.json"
	StatementName   = "statement.txt"
	CardName        = "card.html"
	SchemaName      = "schema.json"
	LedgerName      = "ledger.jsonl"
	AuditName       = "audit.json"
	AttackName      = "attack.json"
	EvaluationName  = "evaluation.json"
	SacroName       = "sacro.json"
	PolicyName      = "policy.yaml"
)

var names = append([]string{AttestationName, ModelName, StatementName, CardName, SchemaName, LedgerName, AuditName,
	AttackName, EvaluationName, SacroName, PolicyName}, exportNames()...)

// ExportFormats lists the formats for other systems in which a release may hold the model.
func ExportFormats() []string { return []string{"onnx", "pmml", "sql"} }

// ExportName returns the file name of the model in a format.
func ExportName(format string) string { return "model." + format }

func exportNames() (names []string) {
	for _, format := range ExportFormats() {
		names = append(names, ExportName(format))
	}
	return names
}

// start is the first bytes of an archive: the header of its first file.
var start = []byte("PK\x03\x04")

// File is one file of a release.
type File struct {
	Name string
	Data []byte
}

// IsArchive reports whether a file is an archive, which may or may not be a release.
func IsArchive(file []byte) bool { return bytes.HasPrefix(file, start) }

// pack writes files, which are sorted by name, as an archive.
func pack(files []File) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		size := uint64(len(f.Data))
		raw, err := w.CreateRaw(&zip.FileHeader{Name: f.Name, Method: zip.Store, CRC32: crc32.ChecksumIEEE(f.Data),
			CompressedSize64: size, UncompressedSize64: size, CreatorVersion: 20, ReaderVersion: 20})
		if err != nil {
			return nil, fmt.Errorf("release: %w", err)
		}
		if _, err := raw.Write(f.Data); err != nil {
			return nil, fmt.Errorf("release: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	if b.Len() > MaxFile {
		return nil, fmt.Errorf("release: the archive must have at most %d bytes (got %d)", MaxFile, b.Len())
	}
	return b.Bytes(), nil
}

// unpack reads archives that pack writes, and refuses others. It allocates at most in proportion to
// the archive's length.
func unpack(archive []byte) ([]File, error) {
	if len(archive) > MaxFile {
		return nil, fmt.Errorf("release: the archive must have at most %d bytes", MaxFile)
	}
	if !IsArchive(archive) {
		return nil, fmt.Errorf("release: the file must be an archive that discreet release wrote")
	}
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, fmt.Errorf("release: the archive must be whole: its directory cannot be read; it is cut short or was changed")
	}
	var files []File
	for i, e := range z.File {
		if err := checkEntry(e, i); err != nil {
			return nil, err
		}
		if i > 0 && e.Name <= files[i-1].Name {
			if e.Name == files[i-1].Name {
				return nil, fmt.Errorf("release: the archive must not have two files of one name (%q)", e.Name)
			}
			return nil, fmt.Errorf("release: the archive must have its files in the order of their names")
		}
		if e.UncompressedSize64 > uint64(len(archive)) || e.CompressedSize64 != e.UncompressedSize64 {
			return nil, fmt.Errorf("release: the size of %q must be that of its bytes in the archive", e.Name)
		}
		data, err := readEntry(e)
		if err != nil {
			return nil, fmt.Errorf("release: file %q must be whole: it is damaged or was changed", e.Name)
		}
		files = append(files, File{e.Name, data})
	}
	again, err := pack(files)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(again, archive) {
		return nil, fmt.Errorf("release: the archive must be as discreet release writes it: bytes outside of its files were " +
			"changed or added")
	}
	return files, nil
}

// checkEntry refuses entries that no release has: folders, links, paths, compressed and encrypted
// files.
func checkEntry(e *zip.File, at int) error {
	switch {
	case !slices.Contains(names, e.Name): // what is not known is not quoted
		return fmt.Errorf("release: file %d of the archive must be one that a release may hold, in no folder: its name is "+
			"another", at+1)
	case e.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("release: %q must be a file and is a link", e.Name)
	case !e.Mode().IsRegular():
		return fmt.Errorf("release: %q must be a plain file", e.Name)
	case e.Flags&1 != 0:
		return fmt.Errorf("release: %q must not be encrypted", e.Name)
	case e.Method != zip.Store:
		return fmt.Errorf("release: %q must not be compressed", e.Name)
	}
	return nil
}

// readEntry reads an uncompressed file and verifies its checksum.
func readEntry(e *zip.File) ([]byte, error) {
	r, err := e.Open()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(r, int64(e.UncompressedSize64)+1))
	if err != nil {
		return nil, err
	}
	return data, r.Close()
}

// sortFiles sorts files by name.
func sortFiles(files []File) {
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
}
