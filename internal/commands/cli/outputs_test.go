// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger"
)

// run runs a command with the flags --in, --keep, --out, --job and --force, whose body is given.
func run(ctx context.Context, body func(*cli.App) error, args ...string) (code int, said string) {
	var out bytes.Buffer
	code = cli.Run(ctx, func(a *cli.App) *cobra.Command {
		root := &cobra.Command{Use: "x"}
		c := &cobra.Command{Use: "do", Short: "do it", RunE: func(*cobra.Command, []string) error { return body(a) }}
		for _, name := range []string{"in", "keep", "out", "result", "job"} {
			c.Flags().String(name, "", "")
		}
		cli.Reads(c, "in")
		cli.Keeps(c, "keep", cli.LedgerTable)
		cli.Writes(c, "out")
		cli.WritesResult(c, "result")
		return cli.Group(root, c)
	}, append([]string{"do"}, args...), nil, strings.NewReader(""), &out, &out)
	return code, out.String()
}

// TestOutputsThatWouldBeMissed: what an output may replace depends on what is there. Names that are
// not there yet count too.
func TestOutputsThatWouldBeMissed(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"t.csv": "a,b\n1,2\n", "s.yaml": "name: t\nunit: x\ncolumns:\n", "s.json": `{"unit": "x", "columns": [{"unit": 1}]}`,
		"l.db":     "SQLite format 3\x00CREATE TABLE discreet_head",
		"store.db": "SQLite format 3\x00CREATE TABLE discreet_tasks",
		"begun.db": "SQLite format 3\x00", "notes.db": "SQLite format 3\x00CREATE VIRTUAL TABLE notes",
		"paid.json": "{\n  \"discreet_model\": 1, \"body\": {\"privacy\": {\"counted\": true}}}",
		"free.json": "{\n  \"discreet_model\": 1, \"body\": {\"privacy\": {\"counted\": false}}}",
		"cut.json":  "{\n  \"discreet_model\": 1, \"body\": {\"pri",
		"key.pem":   "-----BEGIN PRIVATE KEY-----\n", "old.html": "<p>columns: unit:</p>", "empty": "",
		"card.yaml": "model:\n  columns: 3\n  unit: x\n", "list.json": `[{"columns": 1, "unit": 2}]`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("folder", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line string
		fits bool
	}{
		{"--out new", true}, {"--out old.html", true}, {"--out empty", true}, {"--out card.yaml", true},
		{"--out list.json", true}, {"--out free.json", true}, {"--out t.csv", true},
		{"--out s.yaml", false}, {"--out s.json", false}, {"--out paid.json", false}, {"--out cut.json", false},
		{"--out key.pem", false}, {"--out l.db", false}, {"--out l.db-wal", false}, {"--out l.db-JOURNAL", false},
		{"--force --out s.yaml", true}, {"--force --out paid.json", true}, {"--force --out key.pem", true},
		{"--force --out l.db", false}, {"--force --out l.db-shm", false},
		{"--in t.csv --out t.csv --force", false}, {"--in T.CSV --out t.csv", false},
		{"--in folder --out folder/new", false}, {"--in folder --out folders", true},
		{"--in new --out NEW", false}, {"--keep new.db --out new.db-wal", false}, {"--keep new.db --out new.dbs", true},
		{"--in sqlite:l.db?table=t --out l.db-journal", false}, {"--in sqlite:n.db?table=t --out n.db", false},
		{"--out new --result ./new", false}, {"--result paid.json", false}, {"--result paid.json --job j", true},
		{"--result s.yaml --job j", false}, {"--keep l.db --out new", true}, {"--keep store.db --out new", false},
		{"--keep begun.db --out new", true}, {"--keep notes.db --out new", false},
		{"--keep postgres://me@host/l --out new", true}, {"--out -", true},
	} {
		began := false
		code, said := run(t.Context(), func(*cli.App) error { began = true; return nil }, strings.Fields(c.line)...)
		if (code == cli.ExitOK) != c.fits || began != c.fits {
			t.Errorf("%s: exit code %d, the command began: %v, says %s", c.line, code, began, said)
		}
	}
	// What comes to be an input after the command began is not replaced either.
	_, said := run(t.Context(), func(a *cli.App) error {
		if err := os.WriteFile("late", []byte("rows"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Link("late", "other"); err != nil {
			t.Fatal(err)
		}
		return a.WriteFile("other", func(w io.Writer) error { return nil })
	}, "--in", "late", "--out", "other")
	if text, err := os.ReadFile("other"); err != nil || string(text) != "rows" {
		t.Errorf("replaced: %v, says %s", err, said)
	}
}

// TestInterruptsSayWhatIsSpent: a signal behind the charge does not hide what it cost.
func TestInterruptsSayWhatIsSpent(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	code, said := run(ctx, func(*cli.App) error {
		cancel()
		return &ledger.Spent{Ledger: "l.db", Dataset: "d", Job: "j", Price: dp.Price{Epsilon: dp.Nano / 4}, Kept: true,
			Err: ctx.Err()}
	})
	const want = "error: interrupted\nspent: ledger l.db: data set \"d\" has spent epsilon = 0.25 for job \"j\"\n" +
		"hint: the ledger keeps the result: the same command with --job j writes it and costs nothing\n"
	if code != cli.ExitFailed || said != want {
		t.Errorf("exit code %d, says %q, want %q", code, said, want)
	}
}
