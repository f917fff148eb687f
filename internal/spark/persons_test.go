// SPDX-License-Identifier: Apache-2.0

package spark

import (
	"context"
	"encoding/hex"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/engine/question"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// personSchema is that of the census if all of an age are one person.
func personSchema() *schema.Schema {
	s := *census.Schema()
	s.Columns = slices.Clone(s.Columns)
	s.Columns[0] = schema.Column{Name: s.Columns[0].Name, Role: schema.Ignored}
	s.Person = &schema.Person{Column: s.Columns[0].Name, Rows: 2}
	return &s
}

// held is a piece or a block, and the list of its persons.
type held struct {
	piece         *piece
	block         []byte
	list, replies []byte
	rows, first   int
}

// ask sends a message about a piece or a block.
func (b *held) ask(w *played, h header, parts ...[]byte) (header, []byte) {
	w.t.Helper()
	if b.piece != nil {
		h.Piece = b.piece
		h.Op += " piece"
	} else if h.Op == "ask" {
		parts = slices.Insert(parts, 1, b.block)
	} else {
		parts = slices.Insert(parts, 0, b.block)
	}
	answer, data := w.call(h, parts...)
	if answer.Error != "" || len(data) != 1 {
		w.t.Fatalf("%s: %+v", h.Op, answer)
	}
	return answer, data[0]
}

// Pieces and blocks of persons' rows, asked by a worker that made them and by one that did not,
// answer together as memory does, however rows count.
func TestPersonsInAClusterAreThoseOfMemory(t *testing.T) {
	const rows = 1<<20 + 2000 // two row groups
	s, ctx := personSchema(), context.Background()
	folder := writeFolder(t, rows, "a.parquet", "b.parquet")
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	tab, err := dataset.Read(ctx, s, dataset.Options{}, files...)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := memory.New(tab)
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	program, err := programID()
	if err != nil {
		t.Fatal(err)
	}
	first, second := playWorker(t), playWorker(t)
	begin := header{Op: "begin", Program: program, Rows: 700, Folder: t.TempDir(), Secret: strings.Repeat("5a", 32)}
	for _, w := range []*played{first, second} {
		if answer, _ := w.call(begin, text); answer.Error != "" {
			t.Fatal(answer.Error)
		}
	}
	var of []*held // the first file is a piece, the second one comes in blocks
	pieces, err := cutFiles(files[:1], 1, 1)
	if err != nil || len(pieces) != 1 {
		t.Fatal(err)
	}
	for range 2 { // anyone who asks for the list again gets it
		coded, data := first.call(header{Op: "piece", Piece: &pieces[0]})
		if coded.Error != "" || coded.Rows != rows || len(data) != 1 || len(data[0])%recordBytes != 0 {
			t.Fatalf("%+v", coded)
		}
		of = []*held{{piece: &pieces[0], list: data[0], rows: coded.Rows}}
	}
	file, err := os.ReadFile(files[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := send(first.in, header{Op: "file", Name: "b.parquet"}, file); err != nil {
		t.Fatal(err)
	}
	for answer, data, err := receive(first.out); ; answer, data, err = receive(first.out) {
		if err != nil || answer.Error != "" {
			t.Fatalf("%+v, %v", answer, err)
		}
		if len(data) == 0 {
			break
		}
		last := of[len(of)-1]
		of = append(of, &held{block: data[0], list: data[1], rows: answer.Rows, first: last.first + last.rows})
	}
	if len(of) != 3 {
		t.Fatalf("%d pieces and blocks", len(of))
	}

	var lists [][]byte
	var places []int
	for _, b := range of {
		lists, places = append(lists, b.list), append(places, b.first)
	}
	_, replies := second.call(header{Op: "count"}, slices.Concat(lists...))
	sn := &Session{s: s, rows: 2 * rows}
	p := &persons{sn, map[uint32]int{}}
	totals := make([][]byte, len(of))
	for k, b := range of {
		n := len(b.list) / recordBytes * replyBytes
		b.replies, replies[0] = replies[0][:n], replies[0][n:]
		settled, data := second.call(header{Op: "settle"}, b.replies)
		totals[k] = data[0]
		for _, c := range settled.Persons {
			p.counts[c.Rows] += c.Persons
		}
	}
	if p.Count() != whole.Persons().Count() {
		t.Errorf("%d persons, want %d", p.Count(), whole.Persons().Count())
	}

	cells := statistic.ClassCells{Bins: []feature.Bins{feature.NewBins(s, 2, []float64{3}), feature.NewBins(s, 1, nil)}}
	asked, err := question.Encode(&question.Question{Kind: question.Sum, Against: engine.WholeLabel, Statistic: cells})
	if err != nil {
		t.Fatal(err)
	}
	if answer, _ := first.call(header{Op: "ask piece", Piece: &pieces[0]}, asked); !strings.Contains(answer.Error,
		"before it is settled") && !strings.Contains(answer.Error, "without column") {
		t.Errorf("rows count before it is settled what for: %+v", answer)
	}
	if _, err := (&Session{s: s, persons: p}).Ask(ctx, &question.Question{Kind: question.Sum, Statistic: cells}); err == nil || !strings.Contains(err.Error(), "settled") {
		t.Errorf("rows count before it is settled what for: %v", err)
	}
	var key memory.Lots
	draw := func(v *view) (drawn [][]byte) {
		key = memory.NewLots(func(n uint64) uint64 { return n / 3 })
		var offers [][]byte
		for _, b := range of {
			_, offer := b.ask(first, header{Op: "offer", View: v, Lots: hex.EncodeToString(key[:]), First: b.first,
				Lens: []int{len(b.list) / recordBytes}}, b.replies)
			offers = append(offers, offer)
		}
		answer, data := second.call(header{Op: "draw", View: v, Places: places}, slices.Concat(offers...))
		if answer.Error != "" {
			t.Fatal(answer.Error)
		}
		for _, n := range answer.Lens {
			drawn, data[0] = append(drawn, data[0][:n]), data[0][n:]
		}
		return drawn
	}
	below := func(n uint64) uint64 { return n / 3 }
	for _, c := range []struct {
		view view
		want engine.Table
	}{
		{view{Name: "1", Kind: "weigh", Most: 2}, whole.Persons().Weigh(2)},
		{view{Name: "2", Kind: "draw", Most: 1}, whole.Persons().Draw(1, false, below)},
		{view{Name: "3", Kind: "draw", Most: 40, Fill: true}, whole.Persons().Draw(40, true, below)},
		{view{Name: "4", Kind: "ignore"}, whole.Persons().Ignore()},
		{view{Name: "5", Kind: "weigh", Most: 100}, whole.Persons().Weigh(100)},
	} {
		told := totals
		if c.view.Kind == "draw" {
			told = draw(&c.view)
		} else if c.view.Kind == "ignore" {
			told = make([][]byte, len(of))
		}
		want, err := cells.Of(ctx, c.want)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range []*played{first, second} {
			for _, known := range []bool{false, true} {
				var sum question.Adder
				for k, b := range of {
					tell := told[k]
					if known && b.piece != nil {
						tell = nil
					}
					_, data := b.ask(w, header{Op: "ask", View: &c.view, Told: known && b.piece != nil}, asked, tell)
					sums, err := question.DecodeSums(data)
					if err == nil {
						err = sum.Add(sums)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				sums, err := sum.Sum()
				if err != nil {
					t.Fatal(err)
				}
				got, err := cells.Of(ctx, question.NewTable(s, c.want.Rows(), answered{sums}))
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%+v: another answer than in memory, %v", c.view, err)
				}
			}
		}
	}
	other := header{Op: "ask piece", Piece: &pieces[0], View: &view{Name: "9", Kind: "weigh", Most: 1}, Told: true}
	if answer, _ := first.call(other, asked, nil); answer.Error == "" {
		t.Error("the worker answers in a view that it was not told of")
	}
}

// answered knows one answer.
type answered struct{ sums *question.Sums }

func (a answered) Ask(context.Context, *question.Question) (*question.Sums, error) {
	return a.sums, nil
}
