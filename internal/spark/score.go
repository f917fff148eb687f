// SPDX-License-Identifier: Apache-2.0

package spark

import (
	"context"
)

// Scorer predicts rows in Parquet. It returns the added columns for these rows, in Parquet. name is
// the rows' name in faults.
type Scorer func(ctx context.Context, name string, rows []byte) ([]byte, error)

// OpenScorer makes the scorer for a Scoring's Job.
type OpenScorer func(job []byte) (Scorer, error)

// Scoring describes what is added to a table in a cluster, and where the result is written.
type Scoring struct {
	Job     []byte   // argument of OpenScorer
	Columns []string // columns to read, which the table must have
	Known   []string // other permitted columns; nil for all
	Drop    bool     // drop other columns instead of refusing them
	Added   []Column
	// Out is the folder that Spark writes, in Parquet. An existing folder is refused, and a failed job
	// leaves no complete one.
	Out string
}

// Column is an added column: a number or text.
type Column struct {
	Name   string `json:"name"`
	Number bool   `json:"number"`
}

// Count is the number of rows with one value of the first added column, and the sum of their second
// added column.
type Count struct {
	Value string  `json:"value"`
	Rows  int     `json:"rows"`
	Sum   float64 `json:"sum"`
}

// Score adds columns to every row of the table that o names. Rows are passed between executors and
// their workers; only the counts are returned.
func Score(ctx context.Context, o Options, sc Scoring) (counts []Count, err error) {
	if err := o.Check("predict"); err != nil {
		return nil, err
	}
	o.passesRows = true
	sn, cfg, err := begin(ctx, &o)
	if err != nil {
		return nil, err
	}
	defer func() {
		sn.failed = sn.failed || err != nil
		if end := sn.Close(); err == nil {
			err = end
		}
	}()
	cfg.Schema, cfg.Scoring = string(sc.Job), true
	ask := header{Op: "score", Data: o.Data, Columns: sc.Columns, Known: sc.Known, Drop: sc.Drop, Added: sc.Added,
		Out: sc.Out, Config: cfg}
	if err := send(sn.link, ask); err != nil {
		return nil, sn.lost(ctx)
	}
	for {
		h, _, err := sn.next(ctx, "scoring the rows")
		if err != nil {
			return nil, err
		}
		switch {
		case h.Op == "scored":
			counts = h.Counts
		case h.Op == "done":
			return counts, nil
		default:
			return nil, sn.refused("the session answered what nobody asked")
		}
	}
}
