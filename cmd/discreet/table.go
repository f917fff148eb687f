// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"

	"github.com/discreet-dp/discreet/internal/table/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// tableWords say what --data may be.
const tableWords = "a `file` of the table: CSV (also gzip, named .gz) or Parquet, a folder of Parquet files, or " +
	"an address (docs/scale.md)"

// readTable reads labelled rows.
func (a *app) readTable(ctx context.Context, s *schema.Schema, paths []string) (*dataset.Table, error) {
	defer a.ShowBusy("reading")()
	return dataset.Read(ctx, s, dataset.Options{Stdin: a.Stdin}, paths...)
}

// loadSchema reads a schema file, and returns its text too.
func loadSchema(path string) (*schema.Schema, []byte, error) {
	s, err := schema.Load(path)
	if err != nil {
		return nil, nil, err
	}
	text, err := os.ReadFile(path)
	return s, text, err
}
