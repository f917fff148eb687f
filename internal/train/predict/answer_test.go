// SPDX-License-Identifier: Apache-2.0

package predict

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
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

// sent is a column of a request: texts, or numbers of which NaN is missing.
type sent struct {
	name    string
	texts   []string
	numbers []float64
}

// streamOf is the stream of columns, as dataset.Cells describes it.
func streamOf(columns []sent) []byte {
	out := []byte{2}
	length := func(n int) { out = binary.LittleEndian.AppendUint32(out, uint32(n)) }
	text := func(s string) { length(len(s)); out = append(out, s...) }
	length(len(columns))
	rows := 0
	for _, c := range columns {
		text(c.name)
		rows = len(c.texts) + len(c.numbers)
		out = append(out, 'a')
		text("any")
		out = append(out, make([]byte, 20)...)
	}
	if rows > 0 {
		length(rows)
		for _, c := range columns {
			if c.texts == nil {
				out = append(out, 1, 'f')
				for _, x := range c.numbers {
					out = binary.LittleEndian.AppendUint64(out, math.Float64bits(x))
				}
				continue
			}
			out = append(out, 1, 't')
			length(rows)
			for i := range rows {
				out = binary.LittleEndian.AppendUint16(out, uint16(i))
			}
			for _, s := range c.texts {
				text(s)
			}
		}
	}
	length(0)
	return out
}

func request(what byte, stream []byte) string {
	return string(binary.LittleEndian.AppendUint64([]byte{what}, uint64(len(stream)))) + string(stream)
}

// reply is what Answer writes for a request.
type reply struct {
	numbers []float64
	counts  string
	refused string
}

// ask sends requests and returns the replies.
func ask(t testing.TB, requests ...string) (hello greeting, replies []reply, err error) {
	t.Helper()
	var out bytes.Buffer
	m, _ := trained()
	err = Answer(m, strings.NewReader(strings.Join(requests, "")), &out)
	take := func() []byte { return out.Next(int(binary.LittleEndian.Uint32(out.Next(4)))) }
	if bad := json.Unmarshal(take(), &hello); bad != nil {
		t.Fatal(bad)
	}
	for out.Len() > 0 {
		if sign := out.Next(1)[0]; sign == '-' {
			replies = append(replies, reply{refused: string(take())})
			continue
		}
		numbers := []float64{}
		n, counts := binary.LittleEndian.Uint32(out.Next(4)), int(binary.LittleEndian.Uint32(out.Next(4)))
		for range n {
			numbers = append(numbers, math.Float64frombits(binary.LittleEndian.Uint64(out.Next(8))))
		}
		replies = append(replies, reply{numbers: numbers, counts: string(out.Next(counts))})
	}
	return hello, replies, err
}

// Rows are scored as tables are, to the last bit, however many a request has.
func TestAnswersAreThoseOfTables(t *testing.T) {
	m, tab := trained()
	want, err := m.Scores(tab.Cols, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	hello, _, err := ask(t)
	if err != nil || hello.Width != 1 || len(hello.Classes) != 2 {
		t.Fatalf("%+v, error %v", hello, err)
	}
	columnsOf := func(from, to int) (columns []sent) {
		for j, c := range tab.Schema.Columns {
			if !slices.Contains(hello.Columns, c.Name) {
				continue
			}
			add := sent{name: c.Name}
			for i := from; i < to; i++ {
				switch code := tab.Cols[j].Codes.At(i); {
				case tab.Cols[j].Values != nil:
					add.numbers = append(add.numbers, tab.Cols[j].Values[code])
				case int(code) < len(c.Levels):
					add.texts = append(add.texts, c.Levels[code].Value)
				case int(code) == c.MissingCode():
					add.texts = append(add.texts, "?")
				default:
					add.texts = append(add.texts, "none of them")
				}
			}
			columns = append(columns, add)
		}
		slices.Reverse(columns) // in any order
		return columns
	}
	all := []string{request('r', streamOf(columnsOf(0, tab.Rows))), request('r', streamOf(columnsOf(0, 0)))}
	for i := range 20 {
		all = append(all, request('r', streamOf(columnsOf(i, i+1+i%18)))) // few rows and more
	}
	_, replies, err := ask(t, all...)
	if err != nil || len(replies) != len(all) {
		t.Fatalf("%d replies, error %v", len(replies), err)
	}
	if !slices.Equal(replies[0].numbers, want) || replies[1].numbers == nil || len(replies[1].numbers) != 0 {
		t.Errorf("other scores than of the table: %.200v", replies[:2])
	}
	for i, r := range replies[2:] {
		if !slices.Equal(r.numbers, want[i:i+1+i%18]) {
			t.Errorf("rows from %d score %v, want %v", i, r, want[i:i+1+i%18])
		}
	}
}

// An answer counts the cells that are not as the model's schema declares.
func TestAnswersCountUndeclaredCells(t *testing.T) {
	m, _ := trained()
	var columns []sent
	for _, c := range m.Schema.FileColumns() {
		add := sent{name: c.Name, numbers: []float64{c.Lower, c.Lower, c.Lower}}
		if c.Levels != nil {
			add = sent{name: c.Name, texts: []string{c.Levels[0].Value, c.Levels[0].Value, c.Levels[0].Value}}
		}
		switch c.Name {
		case "age":
			add = sent{name: c.Name, texts: []string{"forty", "200", "41"}}
		case "sex":
			add.texts[1] = "MARTIAN"
		}
		columns = append(columns, add)
	}
	_, replies, err := ask(t, request('r', streamOf(columns)))
	want := `[{"column":"age","clamped":1,"unreadable":1},{"column":"sex","other":1}]`
	if err != nil || len(replies) != 1 || len(replies[0].numbers) != 3 || replies[0].counts != want {
		t.Errorf("%+v, error %v", replies, err)
	}
}

// Labels are read as a training reads them, and one that it would refuse is refused by its row.
func TestAnswersClassesOfLabels(t *testing.T) {
	m, _ := trained()
	label := m.Schema.Label // public, without a default
	of := func(texts ...string) string {
		return request('l', streamOf([]sent{{name: label.Name, texts: texts}}))
	}
	_, replies, err := ask(t, of(label.Levels[1].Value, label.Levels[0].Value), of("CANARY"), of())
	if err != nil || len(replies) != 3 || !slices.Equal(replies[0].numbers, []float64{1, 0}) || len(replies[2].numbers) != 0 {
		t.Fatalf("%+v, error %v", replies, err)
	}
	if got := replies[1].refused; !strings.HasPrefix(got, "dataset: row 1: ") || strings.Contains(got, "CANARY") {
		t.Errorf("a label of no class is answered by %q", got)
	}
}

// A request that is none is answered, never repeated, and the next one is served.
func TestBadRequestsAreAnswered(t *testing.T) {
	m, _ := trained()
	empty := request('l', streamOf([]sent{{name: m.Schema.Label.Name}}))
	for _, bad := range []string{request('r', nil), request('r', []byte("CANARY")), request('x', []byte("CANARY")),
		request('r', streamOf([]sent{{name: "CANARY", texts: []string{"CANARY"}}})),
		request('l', []byte(empty[9:len(empty)-1])), request('r', []byte(empty[9:]))} {
		_, replies, err := ask(t, bad, empty)
		if err != nil || len(replies) != 2 || replies[0].refused == "" || strings.Contains(replies[0].refused, "CANARY") ||
			replies[1].refused != "" {
			t.Errorf("%q: %+v, error %v", bad, replies, err)
		}
	}
	for _, bad := range []string{"r", "r\x01", "r\xff\xff\xff\xff\xff\xff\xff\x7f", "l\x09\x00\x00\x00\x00\x00\x00\x00{}"} {
		if err := Answer(m, strings.NewReader(bad), io.Discard); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	m, _ := trained()
	f.Add([]byte(request('l', streamOf([]sent{{name: m.Schema.Label.Name, texts: []string{"yes", "no"}}}))))
	f.Add([]byte("r\x0e\x00\x00\x00\x00\x00\x00\x00\x02\x01"))
	f.Fuzz(func(t *testing.T, in []byte) { _ = Answer(m, bytes.NewReader(in), io.Discard) })
}
