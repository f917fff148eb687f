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

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/learn/additive"
	"github.com/discreet-dp/discreet/internal/net/service/combine"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/site"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// coordinating holds the flags of a command that asks sites.
type coordinating struct {
	*app
	as
	sites, schema, model, state string
	epsilon, delta              string
	honest                      int
	wait                        time.Duration
}

// addFlags adds the flags; what is the work that sites are asked for.
func (f *coordinating) addFlags(c *cobra.Command, what string) {
	f.as.addFlags(c, "combiner/uni")
	c.Flags().StringVar(&f.sites, "sites", "", "the `file` of sites: an address, a public key and a name on each line")
	c.Flags().StringVar(&f.schema, "schema", "", "the schema `file` that all sites have")
	c.Flags().StringVar(&f.state, "state", "", "the `folder` for an interrupted "+what)
	c.Flags().StringVar(&f.epsilon, "epsilon", "", "the `ε` of the "+what)
	c.Flags().StringVar(&f.delta, "delta", "", "the `δ` of the "+what+" (default 0, a pure guarantee)")
	c.Flags().IntVar(&f.honest, "honest", 0, "the smallest `number` of honest sites")
	c.Flags().DurationVar(&f.wait, "wait", 10*time.Minute, "the `time` that a site may be absent")
	cli.AddSection(c, connection, "wait")
	cli.Reads(c, "sites", "schema")
	cli.KeepsFolder(c, "state", site.CoordinatorNames)
	cli.Require(c, "sites", "schema")
}

// price parses the flags of a price, which must be within the schema's limits.
func (f *coordinating) price(op string, s *schema.Schema) (p train.Price, err error) {
	if p.Epsilon, err = dp.ParseEpsilon(f.epsilon); err == nil && f.delta != "" {
		p.Delta, err = dp.ParseDelta(f.delta)
	}
	if err != nil {
		return p, &cli.UsageError{Err: err}
	}
	if excess := p.Excess(s); excess != "" {
		return p, commands.AsUsageError(&train.ExcessError{Op: op, Why: excess, Final: true})
	}
	return p, nil
}

// coordinator returns the coordinator of the sites.
func (f *coordinating) coordinator(op string) (*site.Coordinator, error) {
	peers, err := readSites(op, f.sites)
	if err != nil {
		return nil, err
	}
	self, err := f.loadIdentity()
	if err != nil {
		return nil, err
	}
	return &site.Coordinator{Self: self, Peers: peers, Honest: f.honest, State: f.state, Wait: f.wait, Say: f.Say}, nil
}

// siteTrain holds the flags of the command.
type siteTrain struct {
	coordinating
	rows, mayLeave int
	plan           bool
}

func (a *app) newSiteTrainCommand() *cobra.Command {
	t := &siteTrain{coordinating: coordinating{app: a}}
	c := &cobra.Command{
		Use:   "train",
		Short: "train one model over the rows of several sites",
		Long: `Train runs the learner additive over the rows of sites. The model has the
guarantee of a training on one table, for each row of each site, if at least
--honest of the sites add their noise and keep it to themselves. With fewer, the
noise is larger (see --plan).

If a site is absent for --wait, the training ends, and its price stays spent; with
--may-leave it goes on. A coordinator that was killed goes on with the same
command.`,
		Example: `  discreet-net site train --certs certs --as combiner/uni --sites sites.txt --schema clinics.yaml --epsilon 1 --delta 1e-6 \
    --honest 2 --declared-rows 10000 --state run --model m.json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return t.runTrain(c.Context()) },
	}
	t.addFlags(c, "training")
	f := c.Flags()
	f.StringVar(&t.model, "model", "", "the `file` to write the model to")
	f.IntVar(&t.rows, "declared-rows", 0, "the assumed `number` of rows or persons of all sites together; under replace-one the public one")
	f.IntVar(&t.mayLeave, "may-leave", 0, "the `number` of sites that may leave; --honest is then 1")
	f.BoolVar(&t.plan, "plan", false, "print what the training would measure, and ask no site")
	cli.WritesResult(c, "model")
	cli.Require(c, "model", "state", "epsilon", "honest", "declared-rows")
	return c
}

func (t *siteTrain) runTrain(ctx context.Context) error {
	s, err := schema.Load(t.schema)
	if err != nil {
		return err
	}
	price, err := t.price("site train", s)
	if err != nil {
		return err
	}
	pl, err := additive.Params{Epsilon: price.Epsilon, Delta: price.Delta, Rows: t.rows, TakeAll: true}.Plan(s, 0)
	if err != nil {
		return commands.AsRefusal(err)
	}
	c, err := t.coordinator("site train")
	if err != nil {
		return err
	}
	c.Rows, c.MayLeave = t.rows, t.mayLeave
	if err := c.Check(s, pl); err != nil {
		return commands.AsRefusal(err)
	}
	for _, f := range pl.Facts() {
		if f.Text != "" {
			t.Say("  %s", f.Text)
		}
	}
	t.Say("  %d measurements; the noise of %d honest of %d sites is enough, so each number has %.2f times the noise of one table",
		len(pl.Terms().Bill), t.honest, len(c.Peers), math.Sqrt(float64(len(c.Peers))/float64(t.honest)))
	if t.mayLeave > 0 {
		t.Say("  %d of them may leave; you see the sums of each site, with all noise that its rows need", t.mayLeave)
	}
	if t.plan {
		return nil
	}
	out := train.Output{Path: t.model, Force: t.Force()}
	if !c.Interrupted() {
		if err := out.Check(); err != nil {
			return commands.AsUsageError(err)
		}
	}
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
		took.Sent/int64(len(c.Peers)), took.Received/int64(len(c.Peers)), time.Since(began).Seconds())
	_, err = io.WriteString(t.Stdout, m.Privacy.Card())
	return err
}

// readSites reads the list of sites that take part.
func readSites(op, file string) (peers []site.Peer, err error) {
	text, err := openfile.Read(file)
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
