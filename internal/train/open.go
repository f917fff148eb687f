// SPDX-License-Identifier: Apache-2.0

package train

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/blocks"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// Engines are the places that hold the rows of a table while a learner queries them.
const (
	EngineAuto   = "auto"   // disk if a memory limit is given, else memory
	EngineMemory = "memory" // all rows at once
	EngineDisk   = "disk"   // in blocks, in a temporary file
	EngineSpark  = "spark"  // in a cluster, which answers questions with sums
)

// DefaultMemory is the memory limit in bytes of EngineDisk if none is given.
const DefaultMemory = 2 << 30

// RowSource describes the files of a table and the engine for their rows.
type RowSource struct {
	Engine string // see Engines; "" for EngineAuto
	// Memory limits the bytes of memory that an engine on disk uses for rows; 0 for DefaultMemory. If
	// it is given, EngineAuto selects the disk. It does not use the size of the files, because that
	// depends on protected cells.
	Memory  int64
	Files   []string
	Options dataset.Options
	// Show displays an activity until done is called; may be nil.
	Show func(what string) (done func())
	// Cluster is the cluster of EngineSpark, which opens Files; nil for other engines.
	Cluster Cluster
}

// ParseBytes parses a number of bytes: digits, optionally followed by KiB, MiB or GiB.
func ParseBytes(op, param, text string) (int64, error) {
	digits, unit := strings.TrimSpace(text), int64(1)
	for k, name := range []string{"KiB", "MiB", "GiB"} {
		if rest, ok := strings.CutSuffix(digits, name); ok {
			digits, unit = strings.TrimSpace(rest), 1<<(10*(k+1))
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 1 || n > 1<<50/unit {
		return 0, &RequestError{&dp.ParamError{Op: op, Param: param,
			Want: "must be a number of bytes, such as 512MiB or 4GiB", Got: strconv.Quote(text)}}
	}
	return n * unit, nil
}

// check refuses what can be refused before files are opened.
func (r *RowSource) check(op string) error {
	if !slices.Contains([]string{"", EngineAuto, EngineMemory, EngineDisk, EngineSpark}, r.Engine) {
		return &RequestError{&dp.ParamError{Op: op, Param: "engine", Want: "must be auto, memory, disk or spark",
			Got: strconv.Quote(r.Engine)}}
	}
	err := checkCluster(op, r.Engine, r.Cluster)
	if err == nil && r.Cluster != nil {
		err = r.Cluster.Check(op, r.Files)
	}
	if err != nil {
		return &RequestError{err}
	}
	return nil
}

// openRows is a table that can be queried, and the function that releases its storage.
type openRows struct {
	engine.Table
	close func() error
}

// blockRows is the approximate number of rows per block.
const blockRows = 1 << 20

// open reads the rows.
func (r *RowSource) open(ctx context.Context, t *Training) (*openRows, error) {
	if r.Cluster != nil {
		tab, end, err := r.Cluster.Open(ctx, ClusterRows{Schema: t.Schema, Text: t.SchemaText, Data: r.Files,
			Keep: t.selection(), Say: t.sayLine, Show: r.Show})
		if err != nil {
			return nil, err
		}
		return &openRows{tab, end}, nil
	}
	if r.Show != nil {
		defer r.Show("reading")()
	}
	if r.Engine == EngineMemory || r.Engine != EngineDisk && r.Memory == 0 {
		tab, err := dataset.Read(ctx, t.Schema, r.Options, r.Files...)
		if err != nil {
			return nil, err
		}
		return t.openMemory(tab)
	}
	st, err := blocks.NewStore(t.Schema, t.SchemaText, "", cmp.Or(r.Memory, DefaultMemory)/2)
	if err != nil {
		return nil, err
	}
	_, err = dataset.ReadBlocks(ctx, t.Schema, r.Options, blockRows, func(k int, tab *dataset.Table) error {
		return st.Put(k, t.selection().Of(tab))
	}, r.Files...)
	if err != nil {
		st.Close()
		return nil, err
	}
	return &openRows{st.Table(), st.Close}, nil
}
