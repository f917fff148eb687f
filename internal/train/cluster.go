// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"strconv"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Cluster keeps the rows of a table in other processes, which answer questions about them with sums. A
// program hands one in; this package has none of its own.
type Cluster interface {
	// Check returns a *dp.ParamError for what can be refused before anything is read.
	Check(op string, data []string) error
	// Open codes the rows in the cluster. end releases them.
	Open(ctx context.Context, rows ClusterRows) (t engine.Table, end func() error, err error)
	// Examine calls note for each requirement with what is missing, "" if nothing is. It reads no table.
	Examine(ctx context.Context, note func(what, found, want string))
}

// ClusterRows describes the rows of a training to a cluster.
type ClusterRows struct {
	Schema *schema.Schema
	Text   []byte             // the schema as it stands in its file
	Data   []string           // what the cluster opens
	Keep   *dataset.Selection // the rows to use, nil for all
	Say    func(format string, args ...any)
	Show   func(what string) (done func()) // displays an activity until done is called; may be nil
}

// checkCluster refuses an engine that is not the one that cl is for, and EngineSpark without a cluster.
func checkCluster(op, engine string, cl Cluster) error {
	refuse := func(want string) error {
		return &dp.ParamError{Op: op, Param: "engine", Want: want, Got: strconv.Quote(engine)}
	}
	switch {
	case engine == EngineSpark && cl == nil:
		return refuse("must be memory or disk, because Spark is not part of this program")
	case engine != EngineSpark && cl != nil:
		return refuse("must be spark if a cluster is given")
	}
	return nil
}
