// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/ledger"
)

// charging is the flags that name the budget to charge.
type charging struct {
	ledger       ledgerFlag
	dataset, job string
}

// add adds the flags; dataset and job say what they are.
func (f *charging) add(c *cobra.Command, dataset, job string) {
	f.ledger.add(c)
	c.Flags().StringVar(&f.dataset, "dataset", "", dataset)
	c.Flags().StringVar(&f.job, "job", "", job)
}

// together refuses a ledger without a data set, and flags that mean nothing without
// a ledger.
func (f *charging) together(c *cobra.Command, flags ...string) error {
	bad := func(param, other string) error {
		return &cli.UsageError{Err: &dp.ParamError{Op: c.Name(), Param: param, Want: "must be given together with --" + other}}
	}
	if f.ledger.address != "" {
		if f.dataset == "" {
			return bad("dataset", "ledger")
		}
		return nil
	}
	for _, name := range flags {
		if c.Flags().Changed(name) {
			return bad("ledger", name)
		}
	}
	return nil
}

// keep makes the model the job's one result and gives it its file.
func keep(ctx context.Context, j *ledger.Job, m *model.Model, path string) error {
	b, err := model.Marshal(m)
	if err != nil {
		return errors.Join(err, j.Abandon(ctx, "the model could not be written"))
	}
	if err := j.Commit(ctx, b); err != nil {
		return err
	}
	return j.Publish(ctx, path)
}
