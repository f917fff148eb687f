// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/train/heldout"
)

// demo is a federation on this machine: its folder, what runs there, and what its models came to.
type demo struct {
	*app
	demoTable
	save, epsilon string
	members       int

	script   strings.Builder // the commands that have run
	services []*demoService
	models   []demoModel
}

// demoModel is a line of the result: the mean of some models, or of none.
type demoModel struct {
	name    string
	files   []string
	meaning string
}

// Files of a demo's folder that its commands name.
const (
	schemaFile  = "schema.yaml"
	membersFile = "members.txt"
)

func (a *app) newDemoCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "demo",
		Short: "try a federation on this machine with one command",
		Long: `Demo runs a whole federation on this machine over real TLS, on free ports, with
an invented table or one of yours, and compares its model with others. It leaves
a folder with all files and, in commands.sh, each command of each member.`,
		Example: `  discreet-net demo sites
  discreet-net demo sites --data adult.data.gz --schema adult.yaml`,
	}
	return cli.Group(c,
		a.newDemoOf("sites", "train one model over the rows of three institutions", "1", 3, (*demo).runSites),
		a.newDemoOf("votes", "combine the votes of 30 institutions, in the clear and in secret sums", "20", 30, (*demo).runVotes),
		a.newDemoOf("people", "collect reports of people, perturbed at home and in secret sums", "2", 0, (*demo).runPeople))
}

// newDemoOf returns the demo of one kind of federation. members is how many take part by default; 0 if that follows from
// the rows.
func (a *app) newDemoOf(kind, short, epsilon string, members int, run func(*demo, context.Context) error) *cobra.Command {
	d := &demo{app: a}
	c := &cobra.Command{
		Use:   kind,
		Short: short,
		Long: "Demo " + kind + ` uses one half of the rows for members and the other half to measure models.
Each command that it runs is in commands.sh of its folder.`,
		Example: "  discreet-net demo " + kind + "\n  discreet-net demo " + kind + " --data mine.csv --schema mine.yaml --save trial",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if members > 0 && (d.members < 3 || d.members > 100) {
				return cli.Refuse("demo", "members", "must be 3 to 100", d.members)
			}
			if _, err := dp.ParseEpsilon(d.epsilon); err != nil {
				return &cli.UsageError{Err: err}
			}
			if err := d.prepare(c.Context(), kind == "votes"); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, d.stop()) }()
			if err := run(d, c.Context()); err != nil {
				return err
			}
			return d.compare(c.Context())
		},
	}
	f := c.Flags()
	f.StringArrayVar(&d.data, "data", nil, "a `file` of the table, CSV (also .gz or .zst) or Parquet; may be repeated (default an invented one)")
	f.StringVar(&d.schema, "schema", "", "the schema `file` of the table")
	f.StringVar(&d.epsilon, "epsilon", epsilon, "the `ε` of each private model")
	f.StringVar(&d.save, "save", "discreet-"+kind, "the `folder` to make")
	if members > 0 {
		f.IntVar(&d.members, "members", members, "the `number` of institutions")
	}
	c.MarkFlagsRequiredTogether("data", "schema")
	cli.Reads(c, "data", "schema")
	cli.WritesNew(c, "save")
	return c
}

// names are those of institutions.
func (d *demo) names() (names []string) {
	for i := range d.members {
		if first := []string{"north", "south", "west"}; i < len(first) {
			names = append(names, first[i])
		} else {
			names = append(names, "site"+strconv.Itoa(i+1))
		}
	}
	return names
}

// certify makes the certificates of a trial.
func (d *demo) certify(ctx context.Context, callers ...string) error {
	d.say("An authority and everyone's certificates. In a federation each makes a request (certs request), and an authority signs.")
	_, err := d.run(ctx, append([]string{"certs", "trial", "--dir", "certs"}, callers...)...)
	return err
}

// listMembers makes the signing key of each institution, and the list of members.
func (d *demo) listMembers(ctx context.Context, addresses []string) error {
	d.say("Each institution makes a key, and tells the others its address and public key: " + membersFile + ".")
	var members strings.Builder
	for i, name := range d.names() {
		key, err := d.run(ctx, "keygen", "--out", name+".pem")
		if err != nil {
			return err
		}
		members.WriteString("https://" + addresses[i] + " " + strings.TrimSpace(key) + " " + name + "\n")
	}
	return d.write(membersFile, members.String())
}

// honest is the number of institutions that the others rely on.
func (d *demo) honest() string { return strconv.Itoa(d.members - max(d.members/15, 1)) }

// lifetime is what an institution gives altogether.
func (d *demo) lifetime() string {
	each, _ := dp.ParseEpsilon(d.epsilon) // newDemoOf has parsed it
	return (3 * each).String()
}

func (d *demo) path(name string) string { return filepath.Join(d.save, name) }

func (d *demo) write(name, text string) error {
	return os.WriteFile(d.path(name), []byte(text), 0o600)
}

// compare prints the AUC of each model on rows that none was trained on.
func (d *demo) compare(ctx context.Context) error {
	t := tabwriter.NewWriter(d.Stdout, 0, 0, 3, ' ', 0)
	for _, m := range d.models {
		auc, sum := "-", 0.0
		for _, file := range m.files {
			one, err := d.judge(ctx, file)
			if err != nil {
				return err
			}
			sum += one
		}
		if m.files != nil {
			auc = fmt.Sprintf("%.3f", sum/float64(len(m.files)))
		}
		plaintext.Fprintf(t, "  AUC %s\t%s\t%s\n", auc, m.name, m.meaning)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(d.Stdout, plaintext.Sprintf("\nLeft in %s: the files of everyone, logs of services, and\n"+
		"  %s  each command, in order, by whom\n", d.save, d.path("commands.sh")))
	return err
}

// judge returns a model's AUC on the rows that are held out.
func (d *demo) judge(ctx context.Context, file string) (float64, error) {
	m, err := model.Load(d.path(file))
	if err != nil {
		return 0, err
	}
	tab, err := dataset.Read(ctx, m.Schema, dataset.Options{}, d.path("held-out.csv"))
	if err != nil {
		return 0, err
	}
	e, err := heldout.Evaluate(m, tab, nil)
	if err != nil {
		return 0, err
	}
	if e.AUC == nil {
		return 0, fmt.Errorf("demo: the held-out rows must have two classes")
	}
	return *e.AUC, nil
}
