// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// ParquetPart is row groups From..To-1 of a Parquet file.
type ParquetPart struct {
	Path string `json:"path"`
	From int    `json:"from"`
	To   int    `json:"to"`
	Rows int    `json:"rows"`
	// Footer identifies the file's metadata, which contain the positions and lengths of its row
	// groups.
	Footer string `json:"footer"`
}

// CutParquet divides a Parquet file into parts of whole row groups, with rows rows or a few more.
func CutParquet(path string, rows int) (parts []ParquetPart, err error) {
	pf, f, err := openParquet(context.Background(), path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	footer, err := pf.footerID()
	if err != nil {
		return nil, err
	}
	part := ParquetPart{Path: path, Footer: footer}
	for g := range pf.groups {
		part.To = g + 1
		part.Rows += int(pf.groups[g].NumRows)
		if part.Rows >= rows || part.To == len(pf.groups) && part.Rows > 0 {
			parts = append(parts, part)
			part = ParquetPart{Path: path, Footer: footer, From: g + 1}
		}
	}
	return parts, nil
}

// footerID returns the SHA-256 of the file's metadata and their length.
func (pf *parquetFile) footerID() (string, error) {
	const tail = 8
	var end [tail]byte
	if _, err := pf.file.ReadAt(end[:], pf.size-tail); err != nil {
		return "", err
	}
	n := int64(binary.LittleEndian.Uint32(end[:4])) // which checkFooter found to fit
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(pf.file, pf.size-tail-n, n+tail)); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// ReadParquetPart reads a part of a Parquet file as ReadBlocks reads files, one block at a time. It
// refuses a file other than the one that was divided, or one that is modified meanwhile, because the
// other parts would then come from other rows.
func ReadParquetPart(ctx context.Context, s *schema.Schema, opts Options, part ParquetPart, rows int,
	keep func(block int, t *Table) error) (err error) {
	changed := &FaultError{File: part.Path, Fault: "must not change while it is read"}
	f, err := openfile.Regular(part.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return err
	}
	pf, err := newParquetFile(part.Path, f, before.Size())
	if err != nil {
		return err
	}
	footer, err := pf.footerID()
	if err != nil {
		return err
	}
	if footer != part.Footer {
		return changed
	}
	if part.From < 0 || part.From > part.To || part.To > len(pf.groups) {
		return &dp.ParamError{Op: "dataset", Param: "part of a file", Want: "must be row groups that it has"}
	}
	r, err := newReader(ctx, s, opts, []string{part.Path})
	if err != nil {
		return err
	}
	r.blockRows = rows
	return r.readBlocksOf(pf, groupRange{from: part.From, to: part.To}, func(k int, t *Table) error {
		after, err := f.Stat()
		switch {
		case err != nil:
			return err
		case after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()):
			return changed
		}
		return keep(k, t)
	})
}
