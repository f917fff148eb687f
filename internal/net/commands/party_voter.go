// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/net/service/ballot"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// voter holds the flags of party vote and party serve that select the model which votes.
type voter struct {
	*app
	ballot.Voter
}

func newVoter(a *app) voter {
	return voter{a, ballot.Voter{Env: a.Env, Read: a.readUnlabelled}}
}

func (v *voter) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&v.Model, "model", "", "the party's model `file`")
	cli.Reads(c, "model")
	c.Flags().StringVar(&v.Command, "command", "", "the `command` of another classifier")
	c.Flags().StringVar(&v.Encoding, "encoding", "onehot",
		"encoding of categories, for coefficients: onehot or ordinal")
	commands.CompleteFlag(c, "encoding", "onehot", "ordinal")
}

// readUnlabelled reads rows without their labels.
func (a *app) readUnlabelled(ctx context.Context, s *schema.Schema, paths []string) (*dataset.Table, error) {
	defer a.ShowBusy("reading")()
	return dataset.Read(ctx, s, dataset.Options{Labels: dataset.LabelsIgnored}, paths...)
}
