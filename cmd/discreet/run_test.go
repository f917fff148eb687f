// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/clitest"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// sampleFolder holds what clitest.WriteCensus writes.
func sampleFolder(t *testing.T, rows int) string {
	t.Helper()
	dir := t.TempDir()
	if err := clitest.WriteCensus(dir, rows); err != nil {
		t.Fatal(err)
	}
	return dir
}

// discreet runs the program in this process and wants it to succeed.
func runDiscreet(t *testing.T, args ...string) (stdout string) {
	t.Helper()
	var out, talk bytes.Buffer
	if code := cli.Run(t.Context(), newBoth, args, nil, strings.NewReader(""), &out, &talk); code != cli.ExitOK {
		t.Fatalf("discreet %s exits with %d: %s", strings.Join(args, " "), code, &talk)
	}
	return out.String()
}

// stopper is a table that never ends, and calls stop when someone has begun
// to read it.
type stopper struct {
	rest io.Reader
	row  string
	stop func()
}

func (s *stopper) Read(p []byte) (int, error) {
	s.stop()
	if n, err := s.rest.Read(p); err == nil {
		return n, nil
	}
	return copy(p, s.row), nil
}

func TestInterruptedTrainingLeavesNoModel(t *testing.T) {
	dir := sampleFolder(t, 10)
	text, err := os.ReadFile(filepath.Join(dir, "census.csv"))
	if err != nil {
		t.Fatal(err)
	}
	row := string(bytes.SplitAfter(text, []byte("\n"))[1])
	before, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var out, talk bytes.Buffer
	code := cli.Run(ctx, newBoth, []string{
		"train", "--data", "-", "--schema", filepath.Join(dir, "census.yaml"), "--learner", "brc", "--epsilon", "1",
		"--model", filepath.Join(dir, "m.json"),
	}, nil, &stopper{bytes.NewReader(text), row, cancel}, &out, &talk)
	if code != cli.ExitFailed || out.Len() > 0 {
		t.Errorf("exits with %d and prints %q", code, &out)
	}
	if _, got, _ := strings.Cut(talk.String(), "\n"); got != "error: interrupted\n" { // after the line about the check
		t.Errorf("says %q", &talk)
	}
	after, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(after) != len(before) {
		t.Errorf("leaves %v", after)
	}
}

func TestEvaluatePrintsTheseKeys(t *testing.T) {
	dir := sampleFolder(t, 200)
	m := filepath.Join(dir, "m.json")
	runDiscreet(t, "train", "--data", filepath.Join(dir, "census.csv"), "--schema", filepath.Join(dir, "census.yaml"),
		"--learner", "brc", "--epsilon", "1", "--model", m)
	var got map[string]any
	if err := json.Unmarshal([]byte(runDiscreet(t, "evaluate", "--model", m, "--data", filepath.Join(dir, "census.csv"),
		"--json")), &got); err != nil {
		t.Fatal(err)
	}
	want := []string{"accuracy", "auc", "balanced_accuracy", "calibration", "calibration_error", "confusion", "log_loss",
		"majority", "majority_accuracy", "private", "ranking", "rows", "undeclared", "unpredicted"}
	if keys := slices.Sorted(maps.Keys(got)); !slices.Equal(keys, want) {
		t.Errorf("keys %q, want %q", keys, want)
	}
	if got["private"] != false || got["rows"] != 200.0 {
		t.Errorf("private %v of %v rows", got["private"], got["rows"])
	}
}

// Whatever the formats of what is read and what is written, the predictions in
// the file are the model's, row by row and to the last bit.
func TestPredictionsSurviveEveryFormat(t *testing.T) {
	dir := sampleFolder(t, 200)
	path := func(name string) string { return filepath.Join(dir, name) }
	runDiscreet(t, "train", "--data", path("census.csv"), "--schema", path("census.yaml"), "--learner", "logistic",
		"--not-private", "--model", path("m.json"))
	m, err := model.Load(path("m.json"))
	if err != nil {
		t.Fatal(err)
	}
	table := censustest.Table(1, 200)
	want, err := m.Scores(table.Cols, table.Rows)
	if err != nil {
		t.Fatal(err)
	}
	labels := m.Labels(want)

	// What predict writes, as a table: its label is the predicted one.
	s := census.Schema()
	truth := schema.Column{Name: s.Label.Name, Role: schema.Ignored}
	s.Columns = append(s.Columns, truth,
		schema.Column{Name: "score", Role: schema.Public, Kind: schema.Number, Lower: 0, Upper: 1})
	s.Label.Name, s.Label.Position = "label", len(s.Columns)-1

	for _, in := range []string{"census.csv", "census.parquet"} {
		for _, out := range []string{"p.csv", "p.parquet"} {
			t.Run(in+" to "+out, func(t *testing.T) {
				runDiscreet(t, "predict", "--model", path("m.json"), "--data", path(in), "--out", path(out))
				got, err := dataset.Read(t.Context(), s, dataset.Options{}, path(out))
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.Labels, labels) {
					t.Error("labels differ")
				}
				score := got.Cols[len(s.Columns)-1]
				for i := range want {
					if x := score.Values[score.Codes.At(i)]; x != want[i] {
						t.Fatalf("score of row %d is %g, want %g", i, x, want[i])
					}
				}
			})
		}
	}
}

// A file holds what it held until the new one is whole.
func TestAFailedWriteChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	err := clitest.WritePrivate(path, func(w io.Writer) error {
		io.WriteString(w, strings.Repeat("new", 10_000))
		return io.ErrUnexpectedEOF
	})
	if err == nil {
		t.Fatal("the failure is not reported")
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "old" {
		t.Errorf("the file holds %d bytes (%v)", len(text), err)
	}
	if left, _ := filepath.Glob(path + "?*"); len(left) > 0 {
		t.Errorf("leaves %v", left)
	}
}

// A training on labels that cannot be read asks about the schema; one that learns something asks nothing. Noise
// moves either by less than a hundredth of what lies between them.
func TestTrainingAsksAboutTheSchema(t *testing.T) {
	dir := t.TempDir()
	var rows strings.Builder
	rows.WriteString("x,y\n")
	for i := range 4000 {
		fmt.Fprintf(&rows, "%d,%d\n", i%10, i%10/5)
	}
	table := filepath.Join(dir, "t.csv")
	if err := os.WriteFile(table, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for levels, asks := range map[string]bool{`["0", "1"]`: false, "[alive, dead]": true} {
		text := `{name: t, unit: one row, relation: replace-one, file: {delimiter: ",", quote: "", header: true, trim: false, missing: []},
			columns: [{name: x, role: private, number: {lower: 0, upper: 9, default: 3}},
			{name: y, role: private, label: {levels: LEVELS, positive: LAST, default: FIRST}}]}`
		names := strings.Split(strings.Trim(levels, "[]"), ", ")
		text = strings.NewReplacer("LEVELS", levels, "FIRST", names[0], "LAST", names[1]).Replace(text)
		file := filepath.Join(dir, "s.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, talk bytes.Buffer
		code := cli.Run(t.Context(), newBoth, []string{"train", "--data", table, "--schema", file, "--epsilon", "4", "--learner",
			"additive", "--model", filepath.Join(dir, "m.json")}, nil, strings.NewReader(""), &out, &talk)
		if got := strings.Contains(talk.String(), "\nquestion: does the label \"y\" hold"); code != cli.ExitOK || got != asks {
			t.Errorf("%s: code %d, says %s", levels, code, &talk)
		}
		if !asks && strings.Contains(talk.String(), "question: ") {
			t.Errorf("a good training asks: %s", &talk)
		}
	}
}
