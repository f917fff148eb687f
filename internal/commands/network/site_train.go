// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/learn/additive"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/service/combine"
	"github.com/discreet-dp/discreet/internal/service/identity"
	"github.com/discreet-dp/discreet/internal/service/site"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// siteTrain holds the flags of the command.
type siteTrain struct {
	*app
	as
	sites, schema, model, state string
	epsilon, delta              string
	honest, rows                int
	wait                        time.Duration
	plan                        bool
}

func (a *app) newSiteTrainCommand() *cobra.Command {
	t := &siteTrain{app: a}
	c := &cobra.Command{
		Use:   "train",
		Short: "train one model over the rows of several sites",
		Long: `Train runs the learner additive over the rows of sites. The model has the
guarantee of a training on one table, for each row of each site, if at least
--honest of the sites add their noise and keep it to themselves. With fewer, the
noise is larger (see --plan).

If a site is absent for --wait, the training ends, and its price stays spent. A
coordinator that was killed continues if it is started again with the same
command.`,
		Example: `  discreet-net site train --certs certs --as combiner/uni --sites sites.txt --schema clinics.yaml --epsilon 1 --delta 1e-6 \
    --honest 2 --declared-rows 10000 --state run --model m.json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return t.runTrain(c.Context()) },
	}
	t.as.addFlags(c, "combiner/uni")
	f := c.Flags()
	f.StringVar(&t.sites, "sites", "", "the `file` of sites: an address, a public key and a name on each line")
	f.StringVar(&t.schema, "schema", "", "the schema `file` that all sites have")
	f.StringVar(&t.model, "model", "", "the `file` to write the model to")
	f.StringVar(&t.state, "state", "", "the `folder` for an interrupted training")
	f.StringVar(&t.epsilon, "epsilon", "", "the `ε` of the training")
	f.StringVar(&t.delta, "delta", "", "the `δ` of the training (default 0, a pure guarantee)")
	f.IntVar(&t.honest, "honest", 0, "the smallest `number` of honest sites")
	f.IntVar(&t.rows, "declared-rows", 0, "the assumed `number` of rows or persons of all sites together; under replace-one the public one")
	f.DurationVar(&t.wait, "wait", 10*time.Minute, "the `time` that a site may be absent")
	f.BoolVar(&t.plan, "plan", false, "print what the training would measure, and ask no site")
	cli.AddSection(c, connection, "wait")
	cli.Reads(c, "sites", "schema")
	cli.Writes(c, "model")
	cli.KeepsFolder(c, "state", site.CoordinatorNames)
	cli.Require(c, "sites", "schema", "model", "state", "epsilon", "honest", "declared-rows")
	return c
}

func (t *siteTrain) runTrain(ctx context.Context) error {
	price, err := parsePrice(t.epsilon, t.delta)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	s, err := schema.Load(t.schema)
	if err != nil {
		return err
	}
	if excess := price.Excess(s); excess != "" {
		return commands.AsUsageError(&train.ExcessError{Op: "site train", Why: excess, Final: true})
	}
	pl, err := additive.Params{Epsilon: price.Epsilon, Delta: price.Delta, Rows: t.rows, TakeAll: true}.Plan(s, 0)
	if err != nil {
		return commands.AsRefusal(err)
	}
	peers, err := readSites("site train", t.sites)
	if err != nil {
		return err
	}
	self, err := t.loadIdentity()
	if err != nil {
		return err
	}
	c := &site.Coordinator{Self: self, Peers: peers, Honest: t.honest, Rows: t.rows, State: t.state, Wait: t.wait, Say: t.Say}
	if err := c.Check(s, pl); err != nil {
		return commands.AsRefusal(err)
	}
	for _, f := range pl.Facts() {
		if f.Text != "" {
			t.Say("  %s", f.Text)
		}
	}
	t.Say("  %d measurements; the noise of %d honest of %d sites is enough, so each number has %.2f times the noise of one table",
		len(pl.Terms().Bill), t.honest, len(peers), math.Sqrt(float64(len(peers))/float64(t.honest)))
	if t.plan {
		return nil
	}
	out := train.Output{Path: t.model, Force: t.Force()}
	if err := cli.CheckWritable(t.model); err != nil {
		return fmt.Errorf("site train: model %w", err)
	}
	if err := os.MkdirAll(t.state, 0o700); err != nil {
		return err
	}
	began := time.Now()
	m, err := c.Train(ctx, s, pl, out.SaveUncounted)
	if err != nil {
		return commands.AsRefusal(err)
	}
	took := c.Traffic()
	t.Say("wrote %s; %d measurements, %d bytes to each site and %d from each, %.1f s", t.model, took.Measurements,
		took.Sent/int64(len(peers)), took.Received/int64(len(peers)), time.Since(began).Seconds())
	_, err = io.WriteString(t.Stdout, m.Privacy.Card())
	return err
}

// readSites reads the list of sites that take part.
func readSites(op, file string) (peers []site.Peer, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for n, line := range strings.Split(string(text), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) != 3 || !combine.IsAddress(words[0]) || (identity.Caller{Role: identity.Party, Name: words[2]}).Check() != nil {
			return nil, fmt.Errorf("%s: %s: line %d: must be an address like https://host:port, a public key and a name", op, file,
				n+1)
		}
		key, err := parseKey(words[1])
		if err != nil {
			return nil, fmt.Errorf("%s: %s: line %d: %w", op, file, n+1, err)
		}
		peers = append(peers, site.Peer{URL: strings.TrimSuffix(words[0], "/"), Key: key, Name: words[2]})
	}
	if len(peers) == 0 {
		return nil, dp.Refuse(op, "sites", "must name at least two sites", 0)
	}
	return peers, nil
}
