// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/read/object"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// AddTypes completes a codebook with the types of ColumnTypes, for columns whose type it lacks.
func AddTypes(ctx context.Context, book schema.Codebook, path string) (schema.Codebook, error) {
	types, err := ColumnTypes(ctx, path)
	if types == nil || err != nil {
		return book, err
	}
	return book.AddTypes(types), nil
}

// ColumnTypes returns the types of columns, in the terms of a codebook, from the metadata of a Parquet
// file or the catalogue of a database; nil for other files. It reads no row.
func ColumnTypes(ctx context.Context, path string) (map[string]string, error) {
	ctx = Hold(ctx)
	file, err := firstFile(ctx, path)
	switch {
	case err != nil:
		return nil, err
	case IsAddress(path):
		return readSQLTypes(path)
	case FormatOf(file) == Parquet:
		return readParquetTypes(ctx, file)
	}
	return nil, nil
}

// readParquetTypes returns the types of a file's columns, in the terms of a codebook.
func readParquetTypes(ctx context.Context, path string) (map[string]string, error) {
	pf, f, err := openParquet(ctx, path)
	if err != nil {
		return nil, err
	}
	types := map[string]string{}
	for i, name := range pf.names {
		types[name] = termOf(typeOf(pf.columns[i].Type))
	}
	return types, f.Close()
}

// termOf returns a type in the terms of a codebook; "" if there is no similar one.
func termOf(t coding.Type) string {
	switch t.Form {
	case coding.Truth:
		return "yes_no"
	case coding.Integer:
		return "integer"
	case coding.Decimal:
		if t.Scale == 0 {
			return "integer"
		}
		return "number"
	case coding.Float, coding.Single:
		return "number"
	case coding.Day, coding.Instant:
		return "date"
	case coding.Text:
		return "category"
	}
	return ""
}

// AddSample completes a codebook from the rows of a public sample of the table at path, a CSV file of
// dialect d with the table's names. It refuses the table itself, and a sample with columns that the
// table lacks.
func AddSample(book schema.Codebook, sample, path string, names []string, d schema.Dialect) (schema.Codebook, error) {
	refuse := func(want string) (schema.Codebook, error) {
		return nil, &dp.ParamError{Op: "schema init", Param: "public-sample", Want: want,
			Hint: "its values are written into the schema, which is public"}
	}
	if IsAddress(sample) || object.IsAddress(sample) || FormatOf(sample) == Parquet {
		return refuse("must be a CSV file of this machine")
	}
	there, err := os.Stat(sample)
	if err != nil {
		return nil, err
	}
	if !there.Mode().IsRegular() { // it is read twice
		return refuse("must be a CSV file of this machine")
	}
	if CheckOnce(context.Background(), nil, path, sample) != nil {
		return refuse("must be another file than the table")
	}
	head, err := ReadHeader(context.Background(), sample, d)
	if err != nil {
		return nil, err
	}
	for i, name := range head {
		head[i] = strings.TrimSpace(name)
		if !slices.ContainsFunc(names, func(n string) bool { return strings.TrimSpace(n) == head[i] }) {
			return refuse("must have no columns that the table lacks") // not quoted: it may be a cell
		}
	}
	values, err := sampleValues(sample, len(head), d)
	if err != nil {
		return nil, err
	}
	says := schema.Codebook{}
	for i, name := range head {
		if e, known := book[name]; !known || e.Type != "ignored" && e.Role != "ignored" {
			says[name] = schema.SampleEntry(values[i])
		}
	}
	if book == nil {
		book = schema.Codebook{}
	}
	book.Complete(says)
	return book, nil
}

// sampleValues returns the cells of each column, without signs for missing cells.
func sampleValues(path string, columns int, d schema.Dialect) ([][]string, error) {
	f, err := openfile.Regular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rs, err := openRecords(path, f, d, 256<<10)
	if err != nil {
		return nil, err
	}
	if _, err := rs.readNames(); err != nil {
		return nil, err
	}
	values := make([][]string, columns)
	for {
		switch err := rs.readRecord(); {
		case err == io.EOF:
			return values, nil
		case err != nil:
			return nil, err
		}
		for i, field := range rs.fields {
			cell := strings.TrimSpace(string(field))
			switch {
			case !utf8.ValidString(cell):
				return nil, rs.fault("must be UTF-8")
			case !slices.Contains([]string{"", "?", "-", ".", "na", "n/a", "nan", "null", "none"}, strings.ToLower(cell)):
				values[i] = append(values[i], cell)
			}
		}
	}
}
