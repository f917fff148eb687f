// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bytes"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/objecttest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
)

// A table is read once, whatever names it has. A copy is another table.
func TestOneTableIsReadOnce(t *testing.T) {
	rows := randomRows(20)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	move := func(from, name string) {
		if err := os.Rename(from, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, inside := range []string{"one", "linked"} {
		if err := os.Mkdir(at(inside), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	move(writeCSV(t, rows), "a.csv")
	move(writeCSV(t, rows), "copy.csv")
	move(writeParquet(t, rows), "one/p.parquet")
	move(writeParquet(t, rows), "linked/p.parquet")
	if err := errors.Join(os.Symlink(at("a.csv"), at("soft.csv")), os.Link(at("a.csv"), at("hard.csv")), os.Symlink(at("one"), at("two")),
		os.Symlink("p.parquet", at("linked/q.parquet"))); err != nil {
		t.Skip(err)
	}
	db, err := sql.Open("sqlite", at("t.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, table := range []string{"people", "others"} {
		if _, err := db.Exec("CREATE TABLE " + table + " (age, income, city, rank, note, sick); INSERT INTO " + table +
			" VALUES (1, 2, 'x', 'x', 'x', 'no')"); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(at("t.db"), at("u.db")); err != nil {
		t.Fatal(err)
	}
	s3 := objecttest.Start(t, t.Setenv).Put("f/o.csv", []byte("age,income,city,rank,note,sick\n1,2,x,x,x,no\n"))
	text, err := os.ReadFile(at("a.csv"))
	if err != nil {
		t.Fatal(err)
	}
	ctx := WithFile(t.Context(), "held.csv", bytes.NewReader(text), int64(len(text)))
	stdin, err := os.Open(at("a.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()

	sqlite := func(file, table string) string { return "sqlite:" + at(file) + "?table=" + table }
	for _, twice := range [][]string{
		{at("a.csv"), at("a.csv")}, {at("a.csv"), at("one/../a.csv")}, {at("a.csv"), at("soft.csv")}, {at("soft.csv"), at("hard.csv")},
		{at("copy.csv"), at("a.csv"), at("hard.csv")}, {at("one"), at("one/p.parquet")}, {at("one"), at("two")}, {at("linked")},
		{at("*.csv")}, {at("a.csv"), at("[a].csv")}, {"held.csv", "held.csv"}, {"-", "-"}, {"-", Cells}, {"-", at("soft.csv")},
		{sqlite("t.db", "people"), sqlite("t.db", "People")}, {sqlite("t.db", "people"), sqlite("u.db", "people")},
		{s3, s3}, {s3[:len(s3)-len("o.csv")], s3},
	} {
		for _, in := range []io.Reader{stdin, openfile.Interruptible(ctx, stdin)} {
			var refused *dp.ParamError
			if _, err := Read(ctx, smallSchema(), Options{Stdin: in}, twice...); !errors.As(err, &refused) || refused.Param != "data" {
				t.Errorf("%v: %v", twice, err)
			}
		}
	}
	for _, apart := range [][]string{{at("a.csv"), at("copy.csv")}, {at("one"), at("linked/q.parquet")}, {"held.csv", at("a.csv")},
		{sqlite("t.db", "people"), sqlite("t.db", "others")}, {"-", at("copy.csv")}, {s3, at("a.csv")}} {
		stdin.Seek(0, io.SeekStart)
		if _, err := Read(ctx, smallSchema(), Options{Stdin: stdin}, apart...); err != nil {
			t.Errorf("%v: %v", apart, err)
		}
	}
}
