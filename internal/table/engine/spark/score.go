// SPDX-License-Identifier: Apache-2.0

package spark

import (
	"context"
)

// Scorer predicts rows in Parquet. It returns as many rows of the added columns, in
// Parquet. name stands for the rows in faults.
type Scorer func(ctx context.Context, name string, rows []byte) ([]byte, error)

// OpenScorer makes the scorer of a Scoring's Job.
type OpenScorer func(job []byte) (Scorer, error)

// Scoring is what is added to a table in a cluster, and where the table is written.
type Scoring struct {
	Job     []byte   // what OpenScorer takes
	Columns []string // that are read; the table must have them
	Known   []string // that the table may have besides; nil for any
	Drop    bool     // leave out columns that are not known, in place of refusing them
	Added   []Column
	// Out is the folder that Spark writes, as Parquet: one that is there is refused, and a job that
	// fails leaves none that is whole.
	Out string
}

// Column is a column that is added: a number or text.
type Column struct {
	Name   string `json:"name"`
	Number bool   `json:"number"`
}

// Count is the number of rows that have a value of the first added column, and their sum of the second.
type Count struct {
	Value string  `json:"value"`
	Rows  int     `json:"rows"`
	Sum   float64 `json:"sum"`
}

// Score adds columns to every row of the table that o names. Rows pass from executors to their
// workers and back; nothing but the counts comes here.
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
