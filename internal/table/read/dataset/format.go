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
	CSV     Format = "csv" // in the schema's Dialect, plain, gzip or zstd
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
	lower := strings.ToLower(file)
	fault, ok := errors.AsType[*FaultError](checkFormat(file))
	switch {
	case ok:
		refused.Want, _, _ = strings.Cut(fault.Fault, ": ") // not how such a file becomes a table
	case unpackedName(lower) != lower:
		refused.Want = "must not end in " + path.Ext(lower) + ", since nothing is compressed"
		refused.Hint = "write another file and compress it"
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
	lower := strings.ToLower(end)
	if end != lower && (lower == ".parquet" || lower == ".gz" || lower == ".zst") {
		return &FaultError{File: file, Fault: "must have a name that ends in " + lower + " in small letters"}
	}
	if format := otherFormat(file, lower); format != "" {
		return &FaultError{File: file, Fault: "must be CSV or Parquet, and the name is that of " + format}
	}
	return nil
}

// otherFormat describes the format of tables or archives that a suffix belongs to, and says how a table is made
// of the file; "" if it is none that is known.
func otherFormat(file, suffix string) string {
	switch suffix {
	case ".xlsx", ".xlsm":
		return sheet + ", or run " + convert(file, "read_xlsx('FILE')")
	case ".xls", ".xlsb", ".ods", ".numbers":
		return sheet
	case ".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt", ".rds", ".rdata":
		return "a statistics package: export it as CSV in UTF-8 there"
	case ".feather", ".arrow", ".ipc":
		return `Arrow: run python -c "import polars; polars.read_ipc('` + file + `').write_parquet('table.parquet')"`
	case ".arff":
		return "ARFF: run " + strings.Replace(arffToCSV, "FILE", file, 1)
	case ".avro":
		return "Avro: run " + convert(file, "read_avro('FILE')")
	case ".orc", ".pkl", ".pickle":
		return "another format for columns: write it as Parquet, for example with pandas' to_parquet"
	case ".json", ".jsonl", ".ndjson":
		return "JSON: run " + convert(file, "read_json('FILE')")
	case ".xml", ".pdf", ".docx":
		return "a document: write its rows as CSV, one line each"
	case ".zip":
		return "an archive: run unzip -p " + file + " NAME.csv > NAME.csv"
	case ".tar", ".tgz", ".7z":
		return "an archive: unpack it"
	case ".xz":
		return "a compressed file: run xz -d " + file
	case ".bz2":
		return "a compressed file: run bunzip2 " + file
	case ".db", ".sqlite", ".sqlite3":
		return "a database: name a table of SQLite in it by sqlite:" + file + "?table=NAME"
	case ".duckdb", ".ddb":
		return "a database of DuckDB: run duckdb " + file + ` -c "COPY NAME TO 'NAME.parquet'"`
	}
	return ""
}

// arffToCSV prints the attributes' names as a header and the rows after @data.
const arffToCSV = `awk 'd && NF && !/^%/; tolower($1) == "@attribute" {n = $0; sub(/^[^ \t]+[ \t]+/, "", n); ` +
	`match(n, /^("[^"]*"|[^ \t{]+)/); h = h s substr(n, 1, RLENGTH); s = ","} tolower($1) ~ /^@data/ {print h; d = 1}' FILE > table.csv`

const sheet = `a workbook: save the sheet as "CSV UTF-8" in the spreadsheet program`

// describeForeign describes the fault of a file whose header begins like another format; "" if no
// known format begins so.
func describeForeign(file, first string) string {
	for mark, suffix := range map[string]string{
		"PK\x03\x04": ".xlsx", "\xd0\xcf\x11\xe0": ".xls", "ARROW1": ".arrow", "$FL2": ".sav", "<stata_dta>": ".dta",
		"@relation": ".arff", "@RELATION": ".arff", "{": ".json", "[{": ".json", "%PDF": ".pdf", "BZh": ".bz2", "\xfd7zXZ": ".xz", "7z\xbc\xaf": ".7z",
		"SQLite format 3": ".db", "Obj\x01": ".avro", "PAR1": ".parquet", "\x1f\x8b": ".gz", "\x28\xb5\x2f\xfd": ".zst",
	} {
		switch format := otherFormat(file, suffix); {
		case !strings.HasPrefix(first, mark):
		case format != "":
			return "must be CSV, and begins like " + format
		default: // one that is read
			return "must be CSV, and begins like a file whose name ends in " + suffix
		}
	}
	return ""
}
