// SPDX-License-Identifier: Apache-2.0

package census

import (
	"compress/gzip"
	"io"
)

// WriteSchema writes the schema as a file.
func WriteSchema(w io.Writer) error {
	_, err := w.Write(schemaYAML())
	return err
}

// WritePeople writes the table Generate(seed, rows) as compressed CSV.
func WritePeople(w io.Writer, seed uint64, rows int) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := WriteCSV(z, Generate(seed, rows)); err != nil {
		return err
	}
	return z.Close()
}
