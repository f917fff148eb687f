// SPDX-License-Identifier: Apache-2.0

package train_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/train"
)

var updateGolden = flag.Bool("update", false, "rewrite the expected outputs in testdata")

// golden lists the learners: the product's here, and others where the laboratory runs these tests.
var golden = train.Learners

// goldenFile is that of this kind of processor: equal bytes are promised to equal machines
// (evidence/decisions/0006-floats.md). make explorer-check compares those of WebAssembly.
var goldenFile = map[string]string{"amd64": "testdata/learners.txt", "wasm": "testdata/learners.wasm.txt"}[runtime.GOARCH]

// TestLearnersReleaseTheSameBytes trains every learner by its table row, with its
// own defaults, on small tables with replayed randomness, and compares price,
// bill, the number of passages of the exit and the model's file with the hashes that were taken
// when the file was made. Rewrite it with -update only where an algorithm is meant to change.
func TestLearnersReleaseTheSameBytes(t *testing.T) {
	got := goldenLines(t, func(tab *dataset.Table) engine.Table { return learntest.Engine(t, tab) })
	if *updateGolden {
		if err := os.WriteFile(goldenFile, bytes.Join(got, []byte("\n")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	compareGolden(t, got)
}

// Rows in blocks, in any number and order, are asked by messages and answered by sums: the models
// are the same bytes. Dictionaries are those of the rows, as they are after every reading.
func TestLearnersReleaseTheSameBytesFromBlocks(t *testing.T) {
	// Questions of grids are long and many, and without a price auto asks them of a large model: few
	// blocks show as much.
	few := []string{"grids", "auto " + priceWords(train.Price{NotPrivate: true})}
	for _, c := range []struct {
		blocks   int
		messages bool
		leave    []string
	}{{7, true, few}, {1, false, nil}, {100, false, few}}[:size.Of(1, 3)] {
		want := goldenLines(t, func(tab *dataset.Table) engine.Table {
			return learntest.Engine(t, learntest.OwnTable(tab))
		}, c.leave...)
		got := goldenLines(t, func(tab *dataset.Table) engine.Table {
			return learntest.Blocks(t, learntest.OwnTable(tab), c.blocks, 1, c.messages)
		}, c.leave...)
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				t.Errorf("%d blocks make another line:\n%s\nthan one table:\n%s", c.blocks, got[i], want[i])
			}
		}
	}
}

func goldenLines(t *testing.T, engineOf func(*dataset.Table) engine.Table, leave ...string) [][]byte {
	t.Helper()
	if goldenFile == "" {
		t.Skip("there are no hashes of this kind of processor")
	}
	binary := censustest.Table(7, 400)
	tables := map[string]*dataset.Table{
		"census":   binary,
		"label":    learntest.PrivateLabel(binary),
		"classes":  learntest.Levels(binary, 3, nil),
		"weighted": learntest.Levels(binary, 2, []float64{1, 3}),
	}
	var out bytes.Buffer
	for _, l := range golden() {
		for _, name := range []string{"census", "label", "classes", "weighted"} {
			for _, pr := range goldenPrices(l) {
				if slices.Contains(leave, l.Name) || slices.Contains(leave, l.Name+" "+priceWords(pr)) {
					continue
				}
				fmt.Fprintf(&out, "%s %s %s: %s\n", l.Name, name, priceWords(pr), goldenFit(t, l, pr, tables[name], engineOf))
			}
		}
	}
	return bytes.Split(out.Bytes(), []byte("\n"))
}

func compareGolden(t *testing.T, got [][]byte) {
	t.Helper()
	want, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range bytes.Split(want, []byte("\n")) {
		if i >= len(got) || !bytes.Equal(got[i], line) {
			t.Errorf("line %d is not the golden one:\n%s", i+1, line)
			if i < len(got) {
				t.Logf("now:\n%s", got[i])
			}
		}
	}
}

func goldenPrices(l *train.Learner) (out []train.Price) {
	if l.Private {
		out = append(out, train.Price{Epsilon: dp.Nano})
		if l.Approximate {
			out = append(out, train.Price{Epsilon: dp.Nano, Delta: 1_000_000_000})
		}
	}
	return append(out, train.Price{NotPrivate: true})
}

func priceWords(pr train.Price) string {
	return fmt.Sprintf("epsilon=%s delta=%s not_private=%v", pr.Epsilon, pr.Delta, pr.NotPrivate)
}

// goldenFit is a refusal in words, or hashes of what a fit costs, does and makes.
func goldenFit(
	t *testing.T, l *train.Learner, pr train.Price, tab *dataset.Table, engineOf func(*dataset.Table) engine.Table,
) string {
	req := &train.Request{Learner: l, Price: pr}
	pl, err := req.Plan(tab.Schema, tab.Rows)
	if err != nil {
		return "refused"
	}
	var tape mechtest.Recorder
	m := learntest.FitFrom(t, pl, engineOf(tab), &tape, 11)
	spelt := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%.12x", sha256.Sum256(text))
	}
	return fmt.Sprintf("price %s bill %s passages %d model %.12x",
		pl.Terms().Price, spelt(pl.Terms().Bill), len(tape.Passages), sha256.Sum256(learntest.Bytes(t, m)))
}
