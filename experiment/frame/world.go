// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet/dataset"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/examples"
)

// World is where figures find their tables.
type World struct{ datasets string }

// NewWorld looks for data sets in the given folder; empty means
// $DISCREET_DATASETS or ../shared/datasets, what holds in the root of a checkout.
func NewWorld(datasets string) *World {
	if datasets == "" {
		datasets = os.Getenv("DISCREET_DATASETS")
	}
	if datasets == "" {
		datasets = filepath.Join("..", "shared", "datasets")
	}
	return &World{datasets}
}

// Read reads files of the data folder by a shipped schema, e.g. "adult.yaml".
func (w *World) Read(ctx context.Context, schemaName string, files ...string) (*dataset.Table, error) {
	if _, err := os.Stat(w.datasets); err != nil {
		return nil, &dp.ParamError{Op: "experiment", Param: "data sets", Want: "must be in a folder that exists", Got: w.datasets, Hint: "set DISCREET_DATASETS to it"}
	}
	s, err := examples.Schema(schemaName)
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = filepath.Join(w.datasets, filepath.FromSlash(f))
	}
	t, err := dataset.Read(ctx, s, dataset.Options{}, paths...)
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	return t, nil
}
