// SPDX-License-Identifier: Apache-2.0

package dataset

import "strings"

// Format is the format of a table's file.
type Format string

const (
	CSV     Format = "csv" // of the schema's Dialect, plain or gzip
	Parquet Format = "parquet"
)

// FormatOf tells a file's format by its suffix: ".parquet"; all else is CSV.
func FormatOf(path string) Format {
	if !IsAddress(path) && strings.HasSuffix(path, ".parquet") {
		return Parquet
	}
	return CSV
}
