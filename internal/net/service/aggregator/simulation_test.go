// SPDX-License-Identifier: Apache-2.0

package aggregator_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/examples"
	"github.com/discreet-dp/discreet/internal/check/testkit/realdata"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/metrics"
	core "github.com/discreet-dp/discreet/internal/net/federated/collect"
	"github.com/discreet-dp/discreet/internal/net/federated/simulate"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/owner"
	"github.com/discreet-dp/discreet/internal/net/service/owner/spending"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// TestTenThousandOwners trains on real tables over mutual TLS, ten thousand owners
// with a key each. With the same randomness the simulation in one process makes a
// model of the same bytes.
func TestTenThousandOwners(t *testing.T) {
	size.OnlyLong(t, "ten thousand owners of real tables")
	for name, c := range map[string]struct {
		table func(t *testing.T) (train, test *dataset.Table)
		simulate.Params
	}{
		"Adult, stumps":    {adult, simulate.Params{Classifier: wire.Stump, Epsilon: dp.Nano, Rounds: 3}},
		"MNIST, centroids": {mnist, simulate.Params{Classifier: wire.Centroid, Epsilon: 4 * dp.Nano, Rounds: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			train, test := c.table(t)
			const owners = 10_000
			p := c.Params
			p.Owners, p.Nonce = owners, strings.Repeat("10", 16)
			p.Source = func(part int) rng.Source { return replay.Seeded(6, fmt.Sprint("owners, ", part)) }
			task, err := core.Plan(core.Params{Schema: train.Schema, Classifier: p.Classifier, Epsilon: p.Epsilon,
				Owners: owners, Rounds: p.Rounds, Nonce: p.Nonce})
			must(t, err)
			f := newFederation(t)
			f.serve()
			ann := &tasks.Announcement{Task: task, Minimum: 100, Slot: slotTime,
				Ends: time.Now().Add(time.Hour).Truncate(time.Second)}
			id := f.announce(ann)
			b, err := spending.Open(t.Context(), filepath.Join(t.TempDir(), "book.db"), p.Epsilon, "")
			must(t, err)
			defer b.Close()
			var clock sync.WaitGroup
			defer clock.Wait()
			clock.Go(func() { closeWhenFull(t, ann, owners, []*federation{f}, b) })
			began := time.Now()
			sum, err := owner.Params{
				Self: f.identity(identity.Owner, "relay"), Server: f.http.URL, Book: b, Owners: owners, Connections: 20,
				Cap: p.Epsilon, Log: f.log, Source: p.Source,
				Read: func(*schema.Schema) (*dataset.Table, error) { return train, nil },
			}.Run(t.Context(), id)
			must(t, err)
			if sum.Accepted != owners {
				t.Errorf("%+v, want all accepted", *sum)
			}
			got := f.model(id)
			took := time.Since(began)
			keys, err := b.Keys(t.Context(), owners)
			must(t, err)
			p.Name = keys.Name
			res, err := simulate.Run(t.Context(), train, p)
			must(t, err)
			res.Model.Privacy.Seeded = false // the service cannot know
			want, err := model.Marshal(res.Model)
			must(t, err)
			if !bytes.Equal(got, want) {
				t.Error("the model's bytes are not those of the simulation with the same randomness")
			}
			t.Logf("%s, the network's part; accuracy %.3f on %d test rows", took.Round(100*time.Millisecond),
				accuracy(t, got, test), test.Rows)
		})
	}
}

func accuracy(t *testing.T, file []byte, test *dataset.Table) float64 {
	t.Helper()
	m, err := model.Unmarshal(file)
	must(t, err)
	scores, err := m.Scores(test.Cols, test.Rows)
	must(t, err)
	levels := make([]string, len(test.Schema.Label.Levels))
	for i, l := range test.Schema.Label.Levels {
		levels[i] = l.Value
	}
	r, err := metrics.Evaluate(test.Labels, scores, levels, test.Schema.Label.Positive, 0.5)
	must(t, err)
	return r.Accuracy
}

func adult(t *testing.T) (train, test *dataset.Table) {
	dir := realdata.File(t, "adult")
	text, err := examples.Schema("adult.yaml")
	must(t, err)
	s, err := schema.Parse(text)
	must(t, err)
	train, err = dataset.Read(t.Context(), s, dataset.Options{}, filepath.Join(dir, "adult.data.gz"))
	must(t, err)
	test, err = dataset.Read(t.Context(), s, dataset.Options{}, filepath.Join(dir, "adult.test.gz"))
	must(t, err)
	return train, test
}

// mnist is 10,000 training and 5,000 test images, each the mean brightness of 16
// blocks of 7 by 7 pixels.
func mnist(t *testing.T) (train, test *dataset.Table) {
	const side, block, blocks = 28, 7, 16
	dir := realdata.File(t, "mnist")
	var text, header strings.Builder
	text.WriteString("name: digits\nunit: one writer of a digit\nrelation: replace-one\n" +
		"file: {delimiter: \",\", quote: '\"', header: true}\ncolumns:\n")
	for b := range blocks {
		fmt.Fprintf(&text, "  - {name: block%d, role: private, number: {lower: 0, upper: 1, default: 0}}\n", b)
		fmt.Fprintf(&header, "block%d,", b)
	}
	text.WriteString("  - name: digit\n    role: private\n" +
		"    label: {levels: [\"0\", \"1\", \"2\", \"3\", \"4\", \"5\", \"6\", \"7\", \"8\", \"9\"], default: \"0\"}\n")
	header.WriteString("digit\n")
	s, err := schema.Parse([]byte(text.String()))
	must(t, err)
	read := func(name string, from, to int) *dataset.Table {
		pixels := unzip(t, filepath.Join(dir, name+"-images-idx3-ubyte.gz"))[16:] // behind the header of the idx format
		digits := unzip(t, filepath.Join(dir, name+"-labels-idx1-ubyte.gz"))[8:]
		rows := bytes.NewBufferString(header.String())
		for i := from; i < to; i++ {
			var sum [blocks]int
			for k, p := range pixels[i*side*side : (i+1)*side*side] {
				sum[k/side/block*(side/block)+k%side/block] += int(p)
			}
			for _, v := range sum {
				rows.WriteString(strconv.FormatFloat(float64(v)/(255*block*block), 'g', 4, 64) + ",")
			}
			fmt.Fprintln(rows, digits[i])
		}
		path := filepath.Join(t.TempDir(), "digits.csv")
		must(t, os.WriteFile(path, rows.Bytes(), 0o600))
		tab, err := dataset.Read(t.Context(), s, dataset.Options{}, path)
		must(t, err)
		return tab
	}
	return read("train", 0, 10_000), read("t10k", 5000, 10_000)
}

func unzip(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	out, err := io.ReadAll(z)
	must(t, errors.Join(err, z.Close()))
	return out
}
