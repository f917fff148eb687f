// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// groupedParquet writes rows in row groups of so many.
func groupedParquet(t *testing.T, rows []smallRow, each int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "grouped.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := parquet.NewGenericWriter[smallRow](f)
	for part := range slices.Chunk(rows, each) {
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// readInBlocks is what blocks hold, in order.
func readInBlocks(s *schema.Schema, rows int, paths ...string) (blocks []*Table, total int, err error) {
	kept := map[int]*Table{}
	var mu sync.Mutex
	total, err = ReadBlocks(context.Background(), s, Options{}, rows, func(k int, t *Table) error {
		mu.Lock()
		defer mu.Unlock()
		if kept[k] != nil {
			return errors.New("a block came twice")
		}
		kept[k] = t
		return nil
	}, paths...)
	for k := range len(kept) {
		blocks = append(blocks, kept[k])
	}
	return blocks, total, err
}

// The blocks of files of both formats are the rows of Read, in order.
func TestBlocksAreTheRows(t *testing.T) {
	s := smallSchema()
	rows := randomRows(1000)
	csv, grouped := writeCSV(t, rows[:333]), groupedParquet(t, rows, 70)
	for _, paths := range [][]string{{csv}, {grouped}, {csv, grouped, groupedParquet(t, rows, 70), writeCSV(t, rows[:333])}, {grouped, csv}} {
		whole, err := Read(context.Background(), s, Options{}, paths...)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{1, 64, 100, 5000} {
			blocks, total, err := readInBlocks(s, size, paths...)
			if err != nil || total != whole.Rows {
				t.Fatalf("%v in blocks of %d: %d rows, %v", paths, size, total, err)
			}
			row := 0
			for k, b := range blocks {
				if b == nil {
					t.Fatalf("there is no block %d", k)
				}
				for i := range b.Rows {
					for j := range s.Columns {
						if s.Columns[j].Role == schema.Ignored {
							continue
						}
						if got, want := cellOf(b, j, i), cellOf(whole, j, row); got != want {
							t.Fatalf("block %d row %d column %d: %v, want %v", k, i, j, got, want)
						}
					}
					if b.Labels[i] != whole.Labels[row] {
						t.Fatalf("block %d row %d has another label", k, i)
					}
					row++
				}
				if limit := size + 70; b.Rows > limit {
					t.Errorf("a block of %d rows, %d were asked for", b.Rows, size)
				}
			}
			if row != whole.Rows {
				t.Errorf("%d rows in blocks of %d, want %d", row, size, whole.Rows)
			}
		}
	}
}

func cellOf(t *Table, j, i int) float64 {
	code := t.Cols[j].Codes.At(i)
	if v := t.Cols[j].Values; v != nil {
		return v[code]
	}
	return float64(code)
}

// A fault of the files is the same one, whichever processor was first.
func TestBlocksHaveTheFaultsOfRead(t *testing.T) {
	s := smallSchema()
	s.Columns[1].Default = nil // a public number: one that is missing is a fault
	path := groupedParquet(t, randomRows(1000), 50)
	text := writeCSV(t, randomRows(200))
	for _, paths := range [][]string{{path}, {text}, {text, path}} {
		_, want := Read(context.Background(), s, Options{}, paths...)
		for range 5 {
			_, _, err := readInBlocks(s, 100, paths...)
			if err == nil || want == nil || err.Error() != want.Error() {
				t.Errorf("error %v, want %v", err, want)
			}
		}
	}
	if _, _, err := readInBlocks(smallSchema(), 100, filepath.Join(t.TempDir(), "none.parquet")); err == nil ||
		!strings.Contains(err.Error(), "none.parquet") {
		t.Errorf("error %v", err)
	}
	if _, _, err := readInBlocks(smallSchema(), 0, text); err == nil {
		t.Error("blocks of no rows are not refused")
	}
	stop := errors.New("the disk is full")
	_, err := ReadBlocks(context.Background(), smallSchema(), Options{}, 100,
		func(int, *Table) error { return stop }, path)
	if !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}
}

// Rows of one person have one number in all blocks, of files of both formats, and who is no one in
// one is no one in all.
func TestBlocksKnowPersons(t *testing.T) {
	s := smallSchema()
	s.Person = &schema.Person{Column: "note", Rows: 1}
	rows := randomRows(1000)
	for i := range rows {
		if rows[i].Note = fmt.Sprint("person ", i*i%97); i%11 == 0 {
			rows[i].Note = "NA"
		}
	}
	csv, grouped := writeCSV(t, rows[:333]), groupedParquet(t, rows, 70)
	for _, paths := range [][]string{{csv}, {grouped}, {csv, grouped, groupedParquet(t, rows, 70), writeCSV(t, rows[:333])}} {
		whole, err := Read(context.Background(), s, Options{}, paths...)
		if err != nil {
			t.Fatal(err)
		}
		blocks, _, err := readInBlocks(s, 100, paths...)
		if err != nil {
			t.Fatal(err)
		}
		var got []uint32
		for _, b := range blocks {
			got = append(got, b.Persons...)
		}
		to, from := map[uint32]uint32{Nobody: Nobody}, map[uint32]uint32{Nobody: Nobody}
		for i, p := range whole.Persons {
			if _, known := to[p]; !known {
				to[p] = got[i]
			}
			if _, known := from[got[i]]; !known {
				from[got[i]] = p
			}
			if to[p] != got[i] || from[got[i]] != p {
				t.Fatalf("%v: row %d is of another person in blocks", paths, i)
			}
		}
		if len(got) != whole.Rows || len(to) < 40 {
			t.Errorf("%d rows of %d persons", len(got), len(to)-1)
		}
	}
	_, err := ReadBlocks(context.Background(), s, Options{Labels: LabelsIgnored}, 100, func(_ int, b *Table) error {
		if b.Persons != nil {
			return errors.New("who predicts knows persons")
		}
		return nil
	}, csv, grouped)
	if err != nil {
		t.Error(err)
	}
}
