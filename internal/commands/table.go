// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"context"

	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// CopiedWords describes the values of --data of a command that copies rows, and TableWords those of all others.
const (
	CopiedWords = fileWords + "; or an address in an object store (docs/schema.md)"
	TableWords  = fileWords + "; or an address (docs/schema.md)"
	fileWords   = "a `file` of the table, CSV (also .gz or .zst) or Parquet; a folder of either; a quoted pattern " +
		"such as 'visits/*.csv'"
)

// ReadTable reads labelled rows.
func (a *App) ReadTable(ctx context.Context, s *schema.Schema, paths []string) (*dataset.Table, error) {
	defer a.ShowBusy("reading")()
	return dataset.Read(ctx, s, dataset.Options{Stdin: a.Stdin}, paths...)
}

// LoadModels reads model files; "" is none.
func LoadModels(paths ...string) (models []*model.Model, err error) {
	for _, path := range paths {
		if path == "" {
			continue
		}
		m, err := model.Load(path)
		if err != nil {
			return nil, err
		}
		models = append(models, m)
	}
	return models, nil
}

// LoadSchema reads a schema file, and returns the schema and its text.
func LoadSchema(path string) (*schema.Schema, []byte, error) {
	s, err := schema.Load(path)
	if err != nil {
		return nil, nil, err
	}
	text, err := openfile.Read(path)
	return s, text, err
}
