// SPDX-License-Identifier: Apache-2.0

package train

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// spending is a training that a ledger counts, on a table that calls read
// when it is read.
func spending(t *testing.T, path, id, output string, read func()) (*Training, func()) {
	t.Helper()
	l, err := ledger.Create(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Declare(t.Context(), ledger.Dataset{Name: "d", Epsilon: 1e9}) // unless it is there
	s := writtenSchema(t, "replace-one", "public", 2, false)
	req, err := Choice{Learner: "additive", Price: PriceText{Epsilon: "0.25"}}.Request("train")
	if err != nil {
		t.Fatal(err)
	}
	return &Training{Op: "train", Request: req, Schema: s, SchemaText: []byte("s"), Output: Output{Path: output},
		Job: &Job{Ledger: l, Dataset: "d", ID: id},
		Read: func(ctx context.Context) (*dataset.Table, error) {
			read()
			return dataset.Read(ctx, s, dataset.Options{Stdin: strings.NewReader("x,z,c,y\n1,0,a,k0\n9,0,b,k1\n")}, "-")
		}}, func() { l.Close() }
}

// interrupted is a plan during whose fit the training is interrupted.
type interrupted struct {
	learn.Plan
	interrupt func()
}

func (p interrupted) Fit(ctx context.Context, _ *guard.Guard) (*model.Model, error) {
	p.interrupt()
	return nil, ctx.Err()
}

// TestFailuresBehindTheCharge: when a training fails behind the charge, its error names the ledger,
// the data set and what is spent, and how to get the result for nothing where the ledger keeps it.
func TestFailuresBehindTheCharge(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "l.db")
	names := func(err error, kept bool, words string) {
		t.Helper()
		spent, ok := errors.AsType[*ledger.Spent](err)
		if !ok || spent.Kept != kept || !strings.Contains(spent.Next().String(), words) {
			t.Fatalf("%v: %+v", err, spent)
		}
		for _, word := range []string{path, `"d"`, "0.25", spent.Job} {
			if !strings.Contains(spent.Words(), word) {
				t.Errorf("%q does not name %s", spent.Words(), word)
			}
		}
	}
	t.Run("interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		run, done := spending(t, path, "one", filepath.Join(dir, "one.json"), func() {})
		defer done()
		plan := run.Request.Make
		run.Request.Make = func(price Price, s *schema.Schema, rows int) (learn.Plan, error) {
			pl, err := plan(price, s, rows)
			return interrupted{pl, cancel}, err
		}
		_, err := run.Run(ctx)
		names(err, false, "refused and costs nothing")
		if _, err := run.openJob(t.Context()); err == nil || !strings.Contains(err.Error(), "was interrupted") {
			t.Errorf("the job is drawn again: %v", err)
		}
	})
	t.Run("no place for the model", func(t *testing.T) {
		folder := filepath.Join(dir, "gone")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		output := filepath.Join(folder, "m.json")
		run, done := spending(t, path, "two", output, func() { os.Remove(folder) })
		_, err := run.Run(t.Context())
		done()
		names(err, true, "as job two")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		for range 2 { // again over what it wrote itself
			run, done = spending(t, path, "two", output, func() { t.Error("rows are read again") })
			m, err := run.Run(t.Context())
			done()
			if err != nil {
				t.Fatal(err)
			}
			want, _ := model.Marshal(m)
			if got, _ := os.ReadFile(output); !bytes.Equal(got, want) {
				t.Error("the file is not the model")
			}
		}
		run, done = spending(t, path, "three", output, func() { t.Error("rows are read") })
		defer done()
		if _, err := run.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "remove the file first") {
			t.Errorf("a paid model is replaced: %v", err)
		}
		run, done = spending(t, path, "four", output, func() {})
		defer done()
		run.Output.Force = true
		if _, err := run.Run(t.Context()); err != nil {
			t.Error(err)
		}
	})
	t.Run("nothing was charged", func(t *testing.T) {
		run, done := spending(t, path, "five", filepath.Join(dir, "five.json"), func() {})
		defer done()
		run.Read = func(context.Context) (*dataset.Table, error) { return nil, errors.New("unreadable") }
		_, err := run.Run(t.Context())
		if _, spent := errors.AsType[*ledger.Spent](err); err == nil || spent {
			t.Errorf("%v", err)
		}
	})
}
