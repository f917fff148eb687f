// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/discreet-dp/discreet/examples"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// World is where figures find their tables, and keep what takes long to derive
// from them.
type World struct {
	datasets string
	// Cache is a folder that the figures of one paper share, which need not
	// exist; empty for none. What it holds may be deleted at any time.
	Cache string
	// permute deals labels again, see PermuteLabels; nil leaves them.
	permute  func() rng.Source
	permuted atomic.Bool
}

// PermuteLabels deals labels again among their rows, in place, in a run that asks for
// permuted labels, and leaves them otherwise. Anyone who reads labels without Read calls it.
func (w *World) PermuteLabels(labels []uint8) {
	if w.permute == nil {
		return
	}
	rng.Shuffle(w.permute(), len(labels), func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
	w.permuted.Store(true)
}

// CannotPermute is an error in a run that asks for permuted labels: what it names has
// labels that are not read but follow from its rows.
func (w *World) CannotPermute(what string) error {
	if w.permute == nil {
		return nil
	}
	return &dp.ParamError{Op: "experiment", Param: "labels",
		Want: "must be read from files to be permuted, and " + what + " have theirs computed",
		Hint: "the figure's other null runs stand in its verdict"}
}

// NewWorld looks for data sets in the given folder; empty means
// $DISCREET_DATASETS or ../shared/datasets, what holds in the root of a checkout.
func NewWorld(datasets string) *World {
	if datasets == "" {
		datasets = os.Getenv("DISCREET_DATASETS")
	}
	if datasets == "" {
		datasets = filepath.Join("..", "shared", "datasets")
	}
	return &World{datasets: datasets}
}

// File is the path of a file of the data folder. The folder must exist.
func (w *World) File(name string) (string, error) {
	if err := w.checkExists(); err != nil {
		return "", err
	}
	return filepath.Join(w.datasets, filepath.FromSlash(name)), nil
}

func (w *World) checkExists() error {
	if _, err := os.Stat(w.datasets); err != nil {
		return &dp.ParamError{Op: "experiment", Param: "data sets", Want: "must be in a folder that exists", Got: w.datasets,
			Hint: "set DISCREET_DATASETS to it"}
	}
	return nil
}

// Read reads files of the data folder by a shipped schema, e.g. "adult.yaml". A row of the table is
// a unit of its own, as the protocols of figures have it, whatever the schema says of persons.
func (w *World) Read(ctx context.Context, schemaName string, files ...string) (*dataset.Table, error) {
	if err := w.checkExists(); err != nil {
		return nil, err
	}
	text, err := examples.Schema(schemaName)
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	s, err := schema.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	s.Person = nil
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = filepath.Join(w.datasets, filepath.FromSlash(f))
	}
	t, err := dataset.Read(ctx, s, dataset.Options{}, paths...)
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	w.PermuteLabels(t.Labels)
	return t, nil
}
