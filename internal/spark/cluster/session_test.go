// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// playSession is a process that plays the session of Spark: it says that there is one block of
// rows, and dies or fails as the kind says.
func playSession(kind, link string) error {
	if kind == "absent" {
		return nil
	}
	c, err := net.Dial("unix", link)
	if err != nil {
		return err
	}
	send := func(text string) error {
		_, err := c.Write(append(binary.BigEndian.AppendUint64(nil, uint64(len(text))), text...))
		return err
	}
	receive := func() error {
		parts := 1
		for k := 0; k < parts; k++ {
			var size [8]byte
			if _, err := io.ReadFull(c, size[:]); err != nil {
				return err
			}
			part := make([]byte, binary.BigEndian.Uint64(size[:]))
			if _, err := io.ReadFull(c, part); err != nil {
				return err
			}
			var h struct{ Parts int }
			if k == 0 {
				if err := json.Unmarshal(part, &h); err != nil {
					return err
				}
				parts += h.Parts
			}
		}
		return nil
	}
	replies := [][]string{{`{"op":"ready"}`}, {`{"op":"block","block":"0-0","id":"a","rows":300}`, `{"op":"done"}`}}
	switch kind {
	case "refuse":
		replies[1] = []string{`{"op":"failed","error":"why"}`}
	case "lost":
		replies = append(replies, []string{`{"op":"failed","error":"why"}`})
	case "short":
		replies = append(replies, []string{`{"op":"done"}`})
	}
	for k, reply := range replies {
		if k > 0 {
			if err := receive(); err != nil {
				return err
			}
		}
		for _, text := range reply {
			if err := send(text); err != nil {
				return err
			}
		}
	}
	err = receive() // and then it ends, as one that is killed
	if kind != "killed" && err == io.EOF {
		err = nil // closed by the other side
	}
	return err
}

func requestOf(t *testing.T, learner, epsilon string) *train.Request {
	t.Helper()
	req, err := train.Choice{Learner: learner, Price: train.PriceText{Epsilon: epsilon}}.Request("train")
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// newLedger is a ledger in a folder with a budget of ε = 3 for a data set, people, and what of it
// is spent.
func newLedger(t *testing.T, ctx context.Context, folder string) (l *ledger.Ledger, spent func() dp.Epsilon) {
	t.Helper()
	l, err := ledger.Create(ctx, filepath.Join(folder, "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if err := l.Declare(ctx, ledger.Dataset{Name: "people", Epsilon: 3 * dp.Nano}); err != nil {
		t.Fatal(err)
	}
	return l, func() dp.Epsilon {
		t.Helper()
		b, err := l.Balances(ctx, "people")
		if err != nil || len(b) != 1 {
			t.Fatal(b, err)
		}
		return b[0].Spent
	}
}

// A job whose session fails has spent its price if a question was asked, once, and nothing where
// none was. No model is written, and the same job is not begun again.
func TestAFailedSessionIsChargedByTheLedgersRules(t *testing.T) {
	short, err := os.MkdirTemp("", "s") // the path of a socket is limited to about 100 bytes
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	t.Setenv("TMPDIR", short)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := census.Schema().YAML()
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for kind, c := range map[string]struct {
		spent dp.Epsilon
		want  string
	}{
		"absent": {0, "the session ended"},
		"refuse": {0, "why"},
		"killed": {dp.Nano, "the session ended"},
		"lost":   {dp.Nano, "why"},
		"short":  {dp.Nano, "0 of 1 blocks answered"},
	} {
		ctx, folder := context.Background(), t.TempDir()
		l, spent := newLedger(t, ctx, folder)
		fit := func() error {
			run := &train.Training{Op: "train", Request: requestOf(t, "brc", "1"), Schema: s, SchemaText: text, Data: []string{"x"},
				Rows: &train.RowSource{Engine: train.EngineSpark, Files: []string{"x"},
					Cluster: New("", fmt.Sprintf("%s session %s", self, kind))},
				Output: train.Output{Path: filepath.Join(folder, "model.json")}, Job: &train.Job{Ledger: l, Dataset: "people", ID: "monday"}}
			_, err := run.Run(ctx)
			return err
		}
		if err := fit(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v", kind, err)
		}
		if got := spent(); got != c.spent {
			t.Errorf("%s: %v spent, want %v", kind, got, c.spent)
		}
		if err := fit(); err == nil {
			t.Errorf("%s: the job succeeds", kind)
		}
		if got := spent(); got != c.spent {
			t.Errorf("%s: %v spent by the same job again, want %v", kind, got, c.spent)
		}
		if _, err := os.Stat(filepath.Join(folder, "model.json")); err == nil {
			t.Errorf("%s: there is a model", kind)
		}
	}
}
