// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/discreet-dp/discreet/internal/table/read/coding"
)

// countIn reads files in blocks and adds up what their tables count.
func countIn(t *testing.T, opts Options, rows int, paths ...string) (sum []coding.Counts) {
	t.Helper()
	var mu sync.Mutex
	_, err := ReadBlocks(t.Context(), smallSchema(), opts, rows, func(_ int, b *Table) error {
		mu.Lock()
		defer mu.Unlock()
		sum = coding.AddCounts(sum, b.Counts)
		return nil
	}, paths...)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// Whatever the file and however it is read, cells are counted by their fates as one after another is.
func TestCountsAreTheFatesOfCells(t *testing.T) {
	rows, s := randomRows(3000), smallSchema()
	for i := 1000; i < 1400; i++ { // whole runs of missing cells
		rows[i].Age, rows[i].City = nil, nil
	}
	csv := writeCSV(t, rows)
	var want []coding.Counts
	for j := range s.Columns[:4] {
		one, err := coding.New(&s.Columns[j], &s.Dialect)
		if err != nil {
			t.Fatal(err)
		}
		var n coding.Counts
		for i := range rows {
			_, fate := coding.ReadText(one, [...]string{spell(rows[i].Age), spell(rows[i].Income), spell(rows[i].City),
				fmt.Sprint(rows[i].Rank)}[j])
			if fate != coding.Read {
				n[fate]++
			}
		}
		want = append(want, n)
	}
	want = append(want, coding.Counts{}, coding.Counts{}) // the ignored column, and the label
	if want[0][coding.Clamped] == 0 || want[0][coding.Missing] < 400 || want[2][coding.Other] == 0 {
		t.Fatalf("too little to count: %v", want)
	}
	files := []string{csv}
	for _, page := range []int{300, 1 << 20} {
		for _, group := range []int64{700, 1 << 20} {
			files = append(files, writeParquet(t, rows, parquet.PageBufferSize(page), parquet.MaxRowsPerRowGroup(group)))
		}
	}
	for _, file := range files {
		whole, err := Read(t.Context(), s, Options{Count: true}, file)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(whole.Counts, want) {
			t.Errorf("%s: %v, want %v", file, whole.Counts, want)
		}
		for _, n := range []int{1, 501, 5000} {
			for _, ordered := range []bool{false, true} {
				if got := countIn(t, Options{Count: true, Ordered: ordered}, n, file); !slices.Equal(got, want) {
					t.Errorf("%s in blocks of %d: %v, want %v", file, n, got, want)
				}
			}
		}
		if got, err := Read(t.Context(), s, Options{}, file); err != nil || got.Counts != nil {
			t.Errorf("counted unasked: %v, %v", got.Counts, err)
		}
	}
	twice := countIn(t, Options{Count: true}, 100, files[1], csv)
	if got := coding.AddCounts(coding.AddCounts(nil, want), want); !slices.Equal(twice, got) {
		t.Errorf("two files: %v, want %v", twice, got)
	}
}

func spell[T any](p *T) string {
	if p == nil {
		return ""
	}
	return fmt.Sprint(*p)
}

// Each column with undeclared cells has a line, which says what they are read as.
func TestUndeclaredCellsAreDescribed(t *testing.T) {
	seven, day := 7.0, 3.0
	s := smallSchema()
	s.Columns[0].Default, s.Columns[1].Default = &seven, &day
	s.Columns[1].Date, s.Columns[1].Since, s.Columns[1].Upper, s.Columns[1].Lower = "DD.MM.YYYY", 16436, 365, 0 // 2015-01-01
	s.Label.Default = 0
	counts := []coding.Counts{{coding.Missing: 2, coding.Clamped: 1, coding.Unreadable: 3}, {coding.Unreadable: 9}, {coding.Missing: 4},
		{coding.Other: 1}, {}, {coding.Unreadable: 1}}
	found := coding.FindUndeclared(s, counts)
	got := coding.DescribeUndeclared(s, found, 9)
	want := []string{
		`column "age": 3 of 9 cells unreadable as a number (read as the default 7), 1 outside 0 to 100 (read as the nearer bound), ` +
			`2 missing (read as the default 7)`,
		`column "income": 9 of 9 cells unreadable as a date DD.MM.YYYY (read as the default 04.01.2015); no cell is as declared`,
		`column "rank": 1 of 9 cells undeclared (read as other)`, // a missing city is as declared
		`column "sick": 1 of 9 cells undeclared (read as no)`,
	}
	if len(got) != 5 || !strings.Contains(got[0], "NOT PRIVATE") || !slices.Equal(got[1:], want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := coding.DescribeUndeclared(s, nil, 9); got != nil {
		t.Errorf("nothing to say: %q", got)
	}
	if got := coding.DescribeUndeclared(s, make([]coding.Undeclared, 25), 9); len(got) != 22 || got[21] != "5 further columns have such cells" {
		t.Errorf("%q", got)
	}
}
