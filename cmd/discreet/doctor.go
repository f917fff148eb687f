// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/keyfile"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/model"
	sealed "github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/internal/serve/inference"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// doctor holds the flags of the command, and what it finds.
type doctor struct {
	*app
	engine, submit, master string
	schema                 string
	models                 []string
	ledger                 commands.LedgerFlag
	listen                 string
	reach                  []string
	cert, key, tokens      string
	json                   bool

	commands.Findings
}

func (a *app) newDoctorCommand() *cobra.Command {
	d := &doctor{app: a}
	c := &cobra.Command{
		Use:   "doctor",
		Short: "check schemas, ledgers, models, ports and engines",
		Long: `Doctor checks what you name and prints one line for each check, ok or FAIL. It
reads no table and charges nothing. It exits with 1 if a check fails.

It checks that a schema is complete, that a ledger's entries are consistent and
match its anchor, that models can be loaded, that an address can be listened at
or reached, and that a certificate is valid now.

With --engine spark it looks for Java, spark-submit and Python on this machine.
If they are found, it starts a session, checks Python, pyarrow and pandas on the
executors, and starts this program there.`,
		Example: `  discreet doctor --schema p.yaml --ledger l.db --model m.json
  discreet doctor --model m.json --listen :8443 --tls-cert c.pem --tls-key k.pem --tokens tokens.txt
  discreet doctor --reach aggregator.example.org:8443 --json
  discreet doctor --engine spark --master spark://host:7077 --spark-submit "/opt/spark/bin/spark-submit"`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return d.examine(c) },
	}
	f := c.Flags()
	f.StringVar(&d.engine, "engine", "disk", "which `engine` to look for: memory, disk or spark")
	f.StringVar(&d.master, "master", "", "with --engine spark, the cluster's `address`, as for train")
	f.StringVar(&d.submit, "spark-submit", "",
		"with --engine spark, the `command` that submits, as for train (default \"spark-submit\")")
	f.StringVar(&d.schema, "schema", "", "the schema `file` of a table")
	f.StringArrayVar(&d.models, "model", nil, "a model `file` or a release of it; may be repeated")
	d.ledger.AddFlag(c)
	f.StringVar(&d.listen, "listen", "", "the `address` to serve at, host:port")
	f.StringArrayVar(&d.reach, "reach", nil, "an `address` of another machine, host:port; may be repeated")
	f.StringVar(&d.cert, "tls-cert", "", "the certificate of serve, a PEM `file`")
	f.StringVar(&d.key, "tls-key", "", "its key, a PEM `file`")
	f.StringVar(&d.tokens, "tokens", "", "a `file` of tokens of serve, one a line")
	f.BoolVar(&d.json, "json", false, "print one JSON object")
	cli.Reads(c, "schema", "model", "tls-cert", "tls-key", "tokens")
	return c
}

func (d *doctor) examine(c *cobra.Command) error {
	ctx := c.Context()
	if (d.cert == "") != (d.key == "") {
		return cli.Refuse("doctor", "tls-cert", "and tls-key must be given together", nil)
	}
	err := train.Examine(ctx, d.engine, d.FindCluster(d.engine, d.master, d.submit), func(what, found, want string) {
		switch {
		case want != "" && found != "":
			d.Note(what, "", fmt.Errorf("%s (needed: %s)", found, want))
		case want != "":
			d.Note(what, "", fmt.Errorf("not found (needed: %s)", want))
		default:
			d.Note(what, found, nil)
		}
	})
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	d.checkTable()
	if d.ledger.Address != "" {
		entries := int64(0)
		err := d.ledger.UseLedger(ctx, func(l *ledger.Ledger) error {
			head, err := l.Verify(ctx, nil)
			entries = head.Seq
			return err
		})
		d.Note("ledger", plaintext.Count(int(entries), "entry")+", consistent", err)
	}
	d.checkNetwork(ctx)
	return d.Write(d.Stdout, c, d.json)
}

// checkTable checks files that discreet wrote or reads.
func (d *doctor) checkTable() {
	if d.schema != "" {
		s, err := schema.Load(d.schema)
		detail := ""
		if err == nil {
			detail = fmt.Sprintf("%s: %s and the label %q", d.schema, plaintext.Count(len(s.FileColumns()), "column"), s.Label.Name)
		}
		d.Note("schema", detail, err)
	}
	for _, path := range d.models {
		m, err := sealed.Trusted(nil).LoadModel(path)
		if err == nil {
			_, err = m.Bind(m.Schema)
		}
		detail := path
		if err == nil {
			detail += describeLoaded(m)
		}
		d.Note("model", detail, err)
	}
}

func describeLoaded(m *model.Model) string {
	return fmt.Sprintf(": learner %s, label %q, epsilon = %s", m.Learner, m.Schema.Label.Name, m.Privacy.Epsilon)
}

// checkNetwork checks addresses and certificates.
func (d *doctor) checkNetwork(ctx context.Context) {
	if d.cert != "" {
		pair, err := inference.ReadCertificate(d.cert, d.key)
		if err != nil {
			err = fmt.Errorf("%s and %s: must be a certificate and its key in PEM", d.cert, d.key)
			d.Note("certificate", "", err)
		} else {
			detail, err := keyfile.DescribeLife(pair.Leaf, time.Now())
			d.Note("certificate", d.cert+": "+detail, err)
		}
	}
	if d.tokens != "" {
		tokens, err := inference.ReadTokens(d.tokens)
		d.Note("tokens", fmt.Sprintf("%s: %d", d.tokens, len(tokens)), err)
	}
	if d.listen != "" {
		place := inference.Place{Address: d.listen, Cert: d.cert, Key: d.key}
		err := place.Check(d.tokens != "")
		if err == nil {
			var l net.Listener
			if l, err = new(net.ListenConfig).Listen(ctx, "tcp", d.listen); err == nil {
				err = l.Close()
			}
		}
		d.Note("port", d.listen+": free", err)
	}
	for _, address := range d.reach {
		dial := net.Dialer{Timeout: 5 * time.Second}
		link, err := dial.DialContext(ctx, "tcp", address)
		if err == nil {
			err = link.Close()
		}
		d.Note("reach", address+": answers", err)
	}
}
