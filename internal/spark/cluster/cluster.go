// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"strconv"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/spark"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/train"
)

// Cluster is a cluster of Spark.
type Cluster struct{ options spark.Options }

var _ train.Cluster = (*Cluster)(nil)

// New returns the cluster of an address in Spark's form, or the default of the command that submits. See
// spark.Options.
func New(master, submit string) train.Cluster {
	return &Cluster{spark.Options{Master: master, Submit: submit}}
}

// Check implements train.Cluster.
func (cl *Cluster) Check(op string, data []string) error {
	o := cl.options
	o.Data = data
	if err := o.Check(op); err != nil {
		return err
	}
	for _, path := range data {
		if dataset.IsAddress(path) {
			return &dp.ParamError{Op: op, Param: "engine", Want: "must be memory, disk or auto if the table is in a database",
				Got: strconv.Quote(train.EngineSpark)}
		}
	}
	return nil
}

// Open implements train.Cluster.
func (cl *Cluster) Open(ctx context.Context, rows train.ClusterRows) (engine.Table, func() error, error) {
	rows.Say("starting a session of Spark; its cluster codes the rows")
	o := cl.options
	o.Data, o.Rows = rows.Data, rows.Keep
	hide := o.ShowJobs(rows.Show)
	sn, err := spark.Start(ctx, rows.Schema, rows.Text, o)
	if err != nil {
		hide()
		return nil, nil, err
	}
	return sn.Table(), func() error { hide(); return sn.Close() }, nil
}

// Examine implements train.Cluster.
func (cl *Cluster) Examine(ctx context.Context, note func(what, found, want string)) {
	spark.Examine(ctx, cl.options, note)
}
