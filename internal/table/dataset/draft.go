// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// AddTypes has a codebook say what the metadata of a Parquet file say of columns about which it
// says no more. Of other files it adds nothing. No row is read.
func AddTypes(book schema.Codebook, path string) (schema.Codebook, error) {
	if IsAddress(path) || FormatOf(path) != Parquet {
		return book, nil
	}
	pf, f, err := openParquet(path)
	if err != nil {
		return nil, err
	}
	types := schema.Codebook{}
	for i, name := range pf.names {
		if kind := typeOf(pf.leaves[i]); kind != "" {
			types[name] = schema.TypeEntry(kind)
		}
	}
	if book == nil {
		book = schema.Codebook{}
	}
	book.Complete(types)
	return book, f.Close()
}

// typeOf is the type of a column as a codebook names it; "" for what none is like.
func typeOf(leaf *parquet.Column) string {
	t, ok := cellTypeOf(leaf)
	switch {
	case !ok && leaf != nil:
		if logical := leaf.Type().LogicalType(); logical != nil {
			if _, isDate := logical.Value.(*format.DateType); isDate {
				return "date"
			}
		}
		return ""
	case !ok:
		return ""
	}
	switch t.physical {
	case format.Boolean:
		return "yes_no"
	case format.Int32, format.Int64:
		return "integer"
	case format.Float, format.Double:
		return "number"
	}
	return "category"
}
