// SPDX-License-Identifier: Apache-2.0

package train

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/dataset"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/blocks"
	"github.com/discreet-dp/discreet/internal/table/engine/spark"
)

// Engines says where the rows of a table are while a learner asks about them.
const (
	EngineAuto   = "auto"   // disk where a memory limit is given, else memory
	EngineMemory = "memory" // all at once
	EngineDisk   = "disk"   // in blocks, in a temporary file
	EngineSpark  = "spark"  // in a cluster, which is told questions and answers with sums
)

// DefaultMemory is the memory limit in bytes of EngineDisk if none is given.
const DefaultMemory = 2 << 30

// RowSource is the files of a table, and where their rows are kept.
type RowSource struct {
	Engine string // see Engines; "" for EngineAuto
	// Memory is the number of bytes that what is kept in memory about rows on disk may take; 0 for
	// DefaultMemory. That it is given has EngineAuto put them there: the size of the files would
	// decide by what protected cells hold.
	Memory  int64
	Files   []string
	Options dataset.Options
	// Show begins to show that this is being done, until done is called; nil for no one.
	Show func(what string) (done func())
	// Cluster is where EngineSpark finds the rows; its Data are Files.
	Cluster spark.Options
}

// ParseBytes reads a number of bytes: digits, and KiB, MiB, GiB or nothing.
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
	onSpark := r.Engine == EngineSpark
	if !onSpark && r.Cluster.Submit+r.Cluster.Master != "" {
		return &RequestError{&dp.ParamError{Op: op, Param: "engine", Want: "must be spark if a cluster is given",
			Got: strconv.Quote(r.Engine)}}
	}
	if onSpark {
		r.Cluster.Data = r.Files
		if err := r.Cluster.Check(op); err != nil {
			return &RequestError{err}
		}
		for _, path := range r.Files {
			if dataset.IsAddress(path) {
				return &RequestError{&dp.ParamError{Op: op, Param: "engine", Want: "must be memory, disk or auto if the " +
					"table is in a database", Got: r.Engine}}
			}
		}
	}
	return nil
}

// openRows is a table that answers, and the function that gives its space back.
type openRows struct {
	engine.Table
	close func() error
}

// blockRows is the number of rows that a block has, or a few more.
const blockRows = 1 << 20

// open reads the rows.
func (r *RowSource) open(ctx context.Context, t *Training) (*openRows, error) {
	if r.Engine == EngineSpark {
		t.sayLine("starting a session of Spark; its cluster codes the rows")
		hide := r.Cluster.ShowJobs(r.Show)
		r.Cluster.Rows = t.selection()
		sn, err := spark.Start(ctx, t.Schema, t.SchemaText, r.Cluster)
		if err != nil {
			hide()
			return nil, err
		}
		return &openRows{sn.Table(), func() error { hide(); return sn.Close() }}, nil
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
