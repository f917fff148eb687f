// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	sealed "github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/internal/serve/inference"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// doctor holds the flags of the command, and its findings.
type doctor struct {
	*app
	engine, submit, master string
	schema                 string
	models                 []string
	ledger                 commands.LedgerFlag
	listen                 string
	reach                  []string
	cert, key, tokens      string
	certs                  string
	json                   bool

	found []finding
}

// finding is a line of the command's output.
type finding struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

func (a *app) newDoctorCommand() *cobra.Command {
	d := &doctor{app: a}
	c := &cobra.Command{
		Use:   "doctor",
		Short: "check schemas, ledgers, models, ports, certificates and engines",
		Long: `Doctor checks what you name and prints one line for each check, ok or FAIL. It
reads no table and charges nothing. It exits with 1 if a check fails.

It checks that a schema is complete, that a ledger's entries are consistent and
match its anchor, that models can be loaded, that an address can be listened at
or reached, and that certificates are valid now.

With --engine spark it looks for Java, spark-submit and Python on this machine.
If they are found, it starts a session, checks Python, pyarrow and pandas on the
executors, and starts this program there.`,
		Example: `  discreet doctor --schema p.yaml --ledger l.db --model m.json
  discreet doctor --model m.json --listen :8443 --tls-cert c.pem --tls-key k.pem --tokens tokens.txt
  discreet doctor --certs certs --reach aggregator.example.org:8443 --json
  discreet doctor --engine spark --master spark://host:7077 --spark-submit "/opt/spark/bin/spark-submit"`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return d.examine(c.Context()) },
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
	f.StringVar(&d.certs, "certs", "", "the `folder` of certificates of discreet-net")
	f.BoolVar(&d.json, "json", false, "print one JSON object")
	cli.Reads(c, "schema", "model", "tls-cert", "tls-key", "tokens", "certs")
	return c
}

// note adds a check that failed with err, or passed if it is nil.
func (d *doctor) note(name, detail string, err error) {
	if err != nil {
		detail = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	d.found = append(d.found, finding{name, err == nil, detail})
}

func (d *doctor) examine(ctx context.Context) error {
	if (d.cert == "") != (d.key == "") {
		return cli.Refuse("doctor", "tls-cert", "and tls-key must be given together", nil)
	}
	err := train.Examine(ctx, d.engine, d.FindCluster(d.engine, d.master, d.submit), func(what, found, want string) {
		switch {
		case want != "" && found != "":
			d.note(what, "", fmt.Errorf("%s (needed: %s)", found, want))
		case want != "":
			d.note(what, "", fmt.Errorf("not found (needed: %s)", want))
		default:
			d.note(what, found, nil)
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
		d.note("ledger", fmt.Sprintf("%d entries, consistent", entries), err)
	}
	d.checkNetwork(ctx)
	return d.report()
}

// checkTable checks files that discreet wrote or reads.
func (d *doctor) checkTable() {
	if d.schema != "" {
		s, err := schema.Load(d.schema)
		detail := ""
		if err == nil {
			detail = fmt.Sprintf("%s: %s and the label %q", d.schema, plaintext.Count(len(s.FileColumns()), "column"), s.Label.Name)
		}
		d.note("schema", detail, err)
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
		d.note("model", detail, err)
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
			d.note("certificate", "", err)
		} else {
			detail, err := identity.DescribeLife(pair.Leaf, time.Now())
			d.note("certificate", d.cert+": "+detail, err)
		}
	}
	if d.tokens != "" {
		tokens, err := inference.ReadTokens(d.tokens)
		d.note("tokens", fmt.Sprintf("%s: %d", d.tokens, len(tokens)), err)
	}
	if d.certs != "" {
		lives, err := identity.Lives(d.certs, time.Now())
		if err != nil {
			d.note("certificates", "", err)
		}
		for _, l := range lives {
			d.note("certificate", l.Name+": "+l.Words, l.Err)
		}
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
		d.note("port", d.listen+": free", err)
	}
	for _, address := range d.reach {
		dial := net.Dialer{Timeout: 5 * time.Second}
		link, err := dial.DialContext(ctx, "tcp", address)
		if err == nil {
			err = link.Close()
		}
		d.note("reach", address+": answers", err)
	}
}

func (d *doctor) report() error {
	failed := 0
	for _, f := range d.found {
		if !f.OK {
			failed++
		}
	}
	if d.json {
		if err := cli.WriteJSON(d.Stdout, map[string]any{"ok": failed == 0, "checks": d.found}); err != nil {
			return err
		}
	} else {
		for _, f := range d.found {
			word := "ok  "
			if !f.OK {
				word = "FAIL"
			}
			plaintext.Fprintf(d.Stdout, "%s  %s: %s\n", word, f.Name, f.Detail)
		}
	}
	if failed > 0 {
		return fmt.Errorf("doctor: %d of %d checks failed", failed, len(d.found))
	}
	return nil
}
