// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"errors"
	"path"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Format is the format of a table's file.
type Format string

const (
	CSV     Format = "csv" // in the schema's Dialect, plain or gzip
	Parquet Format = "parquet"
)

// FormatOf determines a file's format by its suffix: ".parquet", or CSV for all others.
func FormatOf(path string) Format {
	if !IsAddress(path) && strings.HasSuffix(path, ".parquet") {
		return Parquet
	}
	return CSV
}

// CheckOutput refuses an output file whose suffix belongs to another format than is written. Errors
// name the parameter param of the operation op.
func CheckOutput(op, param, file string) error {
	refused := &dp.ParamError{Op: op, Param: param, Got: file}
	fault, ok := errors.AsType[*FaultError](checkFormat(file))
	switch {
	case ok:
		refused.Want = fault.Fault
	case strings.HasSuffix(file, ".gz"):
		refused.Want = "must not end in .gz, since nothing is compressed"
		refused.Hint = "write another file and let gzip pack it"
	default:
		return nil
	}
	return refused
}

// checkFormat refuses a file whose suffix belongs to another format than FormatOf returns.
func checkFormat(file string) error {
	if IsAddress(file) || isStdin(file) {
		return nil
	}
	end := path.Ext(file)
	switch lower := strings.ToLower(end); {
	case end != lower && (lower == ".parquet" || lower == ".gz"):
		return &FaultError{File: file, Fault: "must have a name that ends in " + lower + " in small letters"}
	case otherFormats[lower] != "":
		return &FaultError{File: file, Fault: "must be CSV or Parquet, and the name is that of " + otherFormats[lower]}
	}
	return nil
}

// otherFormats are formats of tables and archives that cannot be read, by suffix.
var otherFormats = map[string]string{
	".xlsx": workbook, ".xls": workbook, ".xlsm": workbook, ".xlsb": workbook, ".ods": workbook, ".numbers": workbook,
	".sav": statistics, ".zsav": statistics, ".por": statistics, ".dta": statistics, ".sas7bdat": statistics,
	".xpt": statistics, ".rds": statistics, ".rdata": statistics,
	".feather": columnar, ".arrow": columnar, ".orc": columnar, ".avro": columnar, ".pkl": columnar, ".pickle": columnar,
	".json": documents, ".jsonl": documents, ".ndjson": documents, ".xml": documents, ".pdf": documents, ".docx": documents,
	".zip": archive, ".bz2": archive, ".xz": archive, ".zst": archive, ".7z": archive, ".tgz": archive, ".tar": archive,
}

const (
	workbook   = "a workbook: save the sheet as \"CSV UTF-8\" in the spreadsheet program"
	statistics = "a statistics package's file: export it as CSV in UTF-8 there"
	columnar   = "another format for columns: write it as Parquet, for example with pandas' to_parquet"
	documents  = "a document: write its rows as CSV, one line each"
	archive    = "an archive: unpack it; of packed files only gzip is read, under a name that ends in .gz"
)

// describeForeign describes the fault of a file whose header begins like another format; "" if no
// known format begins so.
func describeForeign(first string) string {
	for mark, format := range map[string]string{
		"PK\x03\x04": workbook, "\xd0\xcf\x11\xe0": workbook, "PAR1": "Parquet: give it a name that ends in .parquet",
		"\x1f\x8b": "gzip: give it a name that ends in .gz", "ARROW1": columnar, "$FL2": statistics, "<stata_dta>": statistics,
		"{": documents, "[{": documents, "%PDF": documents, "BZh": archive, "\xfd7zXZ": archive, "7z\xbc\xaf": archive, "SQLite format 3": "a database: " +
			"name a table in it by sqlite:FILE?table=NAME",
	} {
		if strings.HasPrefix(first, mark) {
			return "must be CSV, and begins like " + format
		}
	}
	return ""
}
