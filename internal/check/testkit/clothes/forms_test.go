// SPDX-License-Identifier: Apache-2.0

package clothes

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// form is a form that a table can have. A new one is an entry of the list in forms.
type form struct {
	name    string
	file    string // the declaration of files; "" for Usual
	offered []Type // besides text
	own     bool   // each cell has a type of its own
	refuses bool   // its columns' types are declared, and refused if they cannot hold what the schema declares
	nulls   func(of Type) bool
	// One of these: files or addresses that the command takes, a table that a program makes, or the scores of a model.
	paths func(k *kit, t *Table) []string
	read  func(k *kit, t *Table) (*dataset.Table, error)
	score func(k *kit, t *Table, m *model.Model) ([]float64, error)
}

// forms are all forms.
func forms() []form {
	return slices.Concat(textForms(), parquetForms(), databaseForms(), programForms(), streamForms(), servedForms())
}

// kit is what a form writes with.
type kit struct {
	*testing.T
	src    *rand.Rand
	s      *schema.Schema
	folder string
}

func (k *kit) put(name string, data []byte) string {
	path := filepath.Join(k.folder, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
		k.Fatal(err)
	}
	return path
}

func (k *kit) must(err error) {
	if err != nil {
		k.Helper()
		k.Fatal(err)
	}
}

func (f *form) kit(t *testing.T, seed int, tab *Table) *kit {
	file := f.file
	if file == "" {
		file = Usual
	}
	s, err := schema.Parse([]byte(tab.Schema(file)))
	if err != nil {
		t.Fatal(err)
	}
	return &kit{t, rand.New(rand.NewPCG(uint64(seed), 2)), s, t.TempDir()}
}

// One table means the same in every form: the codes, labels and persons are equal, and so are the scores of a
// model to the bit, and a check counts what a training does.
func TestFormsMeanTheSame(t *testing.T) {
	for _, f := range forms() {
		t.Run(f.name, func(t *testing.T) {
			for seed := range size.Of(2, 40) {
				src := rand.New(rand.NewPCG(uint64(seed), 1))
				tab := Draw(src, []int{1, 13, 60}[src.IntN(3)], Labels[src.IntN(3)], append([]Type{{Form: coding.Text}}, f.offered...), f.own, f.nulls)
				if !f.wear(t, seed, tab) {
					break
				}
			}
		})
	}
}

// wear reports whether a table is the same in a form.
func (f *form) wear(t *testing.T, seed int, tab *Table) bool {
	t.Helper()
	k := f.kit(t, seed, tab)
	fail := func(format string, args ...any) bool {
		t.Helper()
		t.Errorf("seed %d: %s", seed, fmt.Sprintf(format, args...))
		return false
	}
	m := modelOf(t, tab)
	want := scores(t, tab, m)
	if f.score != nil {
		got, err := f.score(k, tab, m)
		if err != nil || len(got) != len(want) {
			return fail("%d scores of %d, error %v", len(got), len(want), err)
		}
		for r := range want {
			if got[r] != want[r] {
				return fail("row %d: score %g in place of %g: %s", r+1, got[r], want[r], tab.describe(r))
			}
		}
		return true
	}
	var paths []string
	read := func() (*dataset.Table, error) { return f.read(k, tab) }
	if f.paths != nil {
		paths = f.paths(k, tab)
		read = func() (*dataset.Table, error) {
			return dataset.Read(t.Context(), k.s, dataset.Options{Count: true}, paths...)
		}
	}
	got, err := read()
	if err != nil {
		return fail("%v", err)
	}
	if what := tab.Differ(got); what != "" {
		return fail("%s", what)
	}
	if f.paths != nil {
		if what := misread(k, tab, paths, got); what != "" {
			return fail("%s", what)
		}
	}
	p, err := m.Bind(got.Schema)
	k.must(err)
	if scored, err := p.Scores(got.Cols, got.Rows); err != nil || !slices.Equal(scored, want) {
		return fail("error %v, scores %v, want %v", err, scored, want)
	}
	return true
}

// describe shows the cells of a row that are no texts.
func (t *Table) describe(r int) string {
	var b strings.Builder
	for j, v := range t.Values[r] {
		if _, text := v.(string); !text {
			fmt.Fprintf(&b, "\n%s (%s): %#v for %+v", t.Columns[j].Facts, t.Types[j], v, t.Rows[r][j])
		}
	}
	return b.String()
}

// misread describes how other readings of the same files differ from Read's: those that count, and those that
// have some rows at a time; "" if they do not.
func misread(k *kit, t *Table, paths []string, read *dataset.Table) string {
	if what := t.Miscount(func(name string) coding.Counts {
		at := k.s.Find(name)
		if at < 0 {
			at = len(read.Counts) - 1
		}
		return read.Counts[at]
	}); what != "" {
		return what
	}
	tally, err := dataset.Check(k.Context(), k.s, dataset.Options{}, paths...)
	k.must(err)
	if what := t.Miscount(func(name string) (n coding.Counts) {
		for _, c := range tally.Columns {
			if c.Column == name {
				n[coding.Missing], n[coding.Other], n[coding.Clamped], n[coding.Unreadable] = c.Missing, c.Other, c.Clamped, c.Unreadable
			}
		}
		return n
	}); what != "" {
		return "check: " + what
	}
	from := 0
	what := ""
	_, err = dataset.ReadBlocks(k.Context(), k.s, dataset.Options{Ordered: true, Labels: dataset.LabelsIgnored}, 7, func(_ int, b *dataset.Table) error {
		part := *t
		part.Rows, part.Values = t.Rows[from:from+b.Rows], t.Values[from:from+b.Rows]
		if from += b.Rows; what == "" {
			what = part.Differ(b)
		}
		return nil
	}, paths...)
	k.must(err)
	return what
}

// models are trained without privacy, by the label's spelling.
var models sync.Map

func modelOf(t *testing.T, tab *Table) *model.Model {
	var spelt string
	for _, c := range tab.Columns {
		if c.Kind == Label {
			spelt = c.Cells[0].Text + "/" + c.Cells[1].Text
		}
	}
	train := sync.OnceValues(func() (*model.Model, error) {
		drawn := Draw(rand.New(rand.NewPCG(0, 3)), 300, spelt, []Type{{Form: coding.Text}}, false, nil)
		s, err := discreet.ParseSchema([]byte(drawn.Schema(Usual)))
		if err != nil {
			return nil, err
		}
		rows, err := discreet.ReadTableFrom(t.Context(), s, strings.NewReader(string(writeCSV(drawn, &dialect{Dialect: schema.Dialect{Delimiter: ',', Quote: '"', Header: true}}, nil))))
		if err != nil {
			return nil, err
		}
		trained, err := discreet.Train(t.Context(), rows, discreet.Options{NotPrivate: true, Account: discreet.Uncounted})
		if err != nil {
			return nil, err
		}
		file, err := trained.MarshalBinary()
		if err != nil {
			return nil, err
		}
		return model.Unmarshal(file)
	})
	made, _ := models.LoadOrStore(spelt, train)
	m, err := made.(func() (*model.Model, error))()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// scores are those of the cells' meanings.
func scores(t *testing.T, tab *Table, m *model.Model) (all []float64) {
	coder, err := coding.NewRowCoder(m.Schema)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.RowPredictor()
	if err != nil {
		t.Fatal(err)
	}
	for r := range tab.Rows {
		row, out := make([]column.Cell, len(m.Schema.Columns)), make([]float64, p.Width())
		for j, of := range tab.Columns {
			at := m.Schema.Find(of.Name)
			if at < 0 || of.Kind == Person || of.Kind == Ignored {
				continue
			}
			x := tab.Rows[r][j].Value
			if of.Kind == Category {
				row[at].Code = uint32(x)
			} else if row[at].Number = x; column.MarkOf(x) > 0 {
				row[at] = column.Cell{Code: uint32(column.MarkOf(x)), Number: *m.Schema.Columns[at].Default}
			}
		}
		coder.Derive(row)
		if err := p.Scores(row, out); err != nil {
			t.Fatal(err)
		}
		all = append(all, out...)
	}
	return all
}

// A declared type that cannot hold what the schema declares of a column is refused, whatever the cells are.
func TestTypesThatCannotHoldAreRefused(t *testing.T) {
	for _, f := range forms() {
		if !f.refuses {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			src, tried := rand.New(rand.NewPCG(5, 1)), 0
			for _, j := range src.Perm(len(columns()) + 1) {
				for _, i := range src.Perm(len(f.offered)) {
					tab := Draw(src, 2, Labels[src.IntN(3)], []Type{{Form: coding.Text}}, false, nil)
					c, of := &tab.Columns[j], f.offered[i]
					if of.Carries(c) {
						continue
					}
					if tried++; tried > size.Of(10, 1<<20) {
						return
					}
					tab.Types[j] = of
					for r := range tab.Rows {
						tab.Values[r][j] = nil
					}
					k := f.kit(t, 0, tab)
					var err error
					switch {
					case f.paths != nil:
						_, err = dataset.Read(t.Context(), k.s, dataset.Options{}, f.paths(k, tab)...)
					case f.read != nil:
						_, err = f.read(k, tab)
					case c.Kind != Person && c.Kind != Label: // which predictions do not have
						_, err = f.score(k, tab, modelOf(t, tab))
					default:
						continue
					}
					if err == nil || !strings.Contains(err.Error(), strconv.Quote(c.Name)) && !strings.Contains(err.Error(), fmt.Sprintf("field F%d ", j)) {
						t.Errorf("%s as %s: error %v", c.Facts, of, err)
					}
				}
			}
		})
	}
}

// What a form shows before noise does not depend on protected cells: neither errors, nor the number of rows, nor
// public cells (G-READ-1).
func TestFormsTellNothingOfProtectedCells(t *testing.T) {
	for _, f := range forms() {
		t.Run(f.name, func(t *testing.T) {
			for seed := range size.Of(1, 60) {
				src := rand.New(rand.NewPCG(uint64(seed), 7))
				offered := append([]Type{{Form: coding.Text}}, f.offered...)
				tab := Draw(src, []int{1, 13, 60}[src.IntN(3)], Labels[src.IntN(3)], offered, f.own, f.nulls)
				if shown, again := f.show(t, seed, tab), f.show(t, seed, tab.Hide(src, offered, f.own, f.nulls)); shown != again {
					t.Fatalf("seed %d: it shows %q and %q", seed, shown, again)
				}
			}
		})
	}
}

// show is what reading a table in a form shows of it.
func (f *form) show(t *testing.T, seed int, tab *Table) string {
	k := f.kit(t, seed, tab)
	rows := func(got *dataset.Table, err error) string {
		if err != nil {
			return strings.ReplaceAll(err.Error(), k.folder, "")
		}
		return fmt.Sprint(got.Rows, " rows ", tab.Differ(got))
	}
	switch {
	case f.score != nil:
		scores, err := f.score(k, tab, modelOf(t, tab))
		return fmt.Sprint(len(scores), err)
	case f.read != nil:
		return rows(f.read(k, tab))
	}
	paths := f.paths(k, tab)
	shown := rows(dataset.Read(t.Context(), k.s, dataset.Options{}, paths...))
	tally, err := dataset.Check(t.Context(), k.s, dataset.Options{}, paths...)
	k.must(err)
	return strings.ReplaceAll(shown+fmt.Sprint(tally.Rows, tally.Faults), k.folder, "")
}
