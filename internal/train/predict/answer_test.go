// SPDX-License-Identifier: Apache-2.0

package predict

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/train"
)

// trained is a small model and the table it was trained on.
var trained = sync.OnceValues(func() (*model.Model, *dataset.Table) {
	tab := censustest.Table(1, 300)
	req, err := train.Choice{Learner: "additive", Price: train.PriceText{Epsilon: "5", Delta: "0"}}.Request("train")
	if err != nil {
		panic(err)
	}
	run := train.Training{Op: "train", Request: req, Schema: census.Schema(), Exceed: true,
		Read: func(context.Context) (*dataset.Table, error) { return tab, nil }}
	m, err := run.Run(context.Background())
	if err != nil {
		panic(err)
	}
	return m, tab
})

// ask sends frames and returns those that come back.
func ask(t testing.TB, requests ...string) (replies []string, err error) {
	t.Helper()
	var in, out bytes.Buffer
	for _, r := range requests {
		var head [4]byte
		binary.LittleEndian.PutUint32(head[:], uint32(len(r)))
		in.Write(head[:])
		in.WriteString(r)
	}
	m, _ := trained()
	err = Answer(m, &in, &out)
	for r := bufio.NewReader(&out); ; {
		frame, bad := readFrame(r)
		if bad != nil {
			return replies, err
		}
		replies = append(replies, string(frame))
	}
}

// Rows are scored as tables are, to the last bit.
func TestAnswersAreThoseOfTables(t *testing.T) {
	m, tab := trained()
	bound, err := m.Bind(tab.Schema)
	if err != nil {
		t.Fatal(err)
	}
	want, err := bound.Scores(tab.Cols, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	replies, err := ask(t)
	if err != nil {
		t.Fatal(err)
	}
	var hello greeting
	if err := json.Unmarshal([]byte(replies[0]), &hello); err != nil || hello.Width != 1 || len(hello.Classes) != 2 {
		t.Fatalf("%+v, error %v", hello, err)
	}
	var rows [][]any
	for i := range tab.Rows {
		var row []any
		for j, c := range tab.Schema.Columns {
			if !slices.Contains(hello.Columns, c.Name) {
				continue
			}
			code := tab.Cols[j].Codes.At(i)
			switch {
			case tab.Cols[j].Values != nil:
				row = append(row, tab.Cols[j].Values[code])
			case int(code) < len(c.Levels):
				row = append(row, c.Levels[code].Value)
			case int(code) == c.MissingCode():
				row = append(row, nil)
			default:
				row = append(row, "none of them")
			}
		}
		rows = append(rows, row)
	}
	request, err := json.Marshal(map[string]any{"rows": rows})
	if err != nil {
		t.Fatal(err)
	}
	replies, err = ask(t, string(request), `{"rows": []}`)
	if err != nil || len(replies) != 3 {
		t.Fatalf("%d frames, error %v", len(replies), err)
	}
	var got struct{ Scores []float64 }
	if err := json.Unmarshal([]byte(replies[1]), &got); err != nil || len(got.Scores) != len(want) {
		t.Fatalf("%.300s", replies[1])
	}
	for i := range want {
		if got.Scores[i] != want[i] {
			t.Fatalf("row %d scores %g, the table %g", i, got.Scores[i], want[i])
		}
	}
	if replies[2] != `{"scores":[]}` {
		t.Errorf("no rows: %s", replies[2])
	}
}

// Labels are read as a training reads them, and one that it would refuse is refused by its row.
func TestAnswersClassesOfLabels(t *testing.T) {
	m, _ := trained()
	levels := m.Schema.Label.Levels // public, without a default
	request, err := json.Marshal(map[string]any{"labels": []any{levels[1].Value, levels[0].Value, levels[0].Value}})
	if err != nil {
		t.Fatal(err)
	}
	bad := []string{`{"labels":["CANARY"]}`, `{"labels":[null]}`, `{"labels":[["CANARY"]]}`, `{"labels":[],"rows":[]}`}
	replies, err := ask(t, append([]string{string(request), `{"labels":[]}`}, bad...)...)
	if err != nil || len(replies) != 7 || replies[1] != `{"classes":[1,0,0]}` || replies[2] != `{"classes":[]}` {
		t.Fatalf("%q, error %v", replies, err)
	}
	for i, reply := range replies[3:] {
		if !strings.HasPrefix(reply, `{"error":`) || strings.Contains(reply, "CANARY") {
			t.Errorf("%s is answered by %s", bad[i], reply)
		}
	}
}

// A request that is none is answered, never repeated, and the next one is served.
func TestBadRequestsAreAnswered(t *testing.T) {
	for _, bad := range []string{"", "CANARY", `{"rows":[["CANARY"]]}`, `{"rows":[[["CANARY"]]]}`, `{"rows":null}`,
		`{"CANARY":1}`, `{"rows":[{"CANARY":1}]}`} {
		replies, err := ask(t, bad, `{"rows":[]}`)
		if err != nil || len(replies) != 3 || !strings.HasPrefix(replies[1], `{"error":`) ||
			strings.Contains(replies[1], "CANARY") || replies[2] != `{"scores":[]}` {
			t.Errorf("%q: %q, error %v", bad, replies, err)
		}
	}
	m, _ := trained()
	for _, bad := range []string{"\x01", "\xff\xff\xff\xff", "\x09\x00\x00\x00{}"} {
		if err := Answer(m, strings.NewReader(bad), &bytes.Buffer{}); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	m, _ := trained()
	f.Add([]byte("\x0b\x00\x00\x00{\"rows\":[]}"))
	f.Add([]byte("\x0e\x00\x00\x00{\"rows\":[[1]]}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		_ = Answer(m, bytes.NewReader(in), &out)
	})
}
