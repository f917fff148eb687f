// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// A file of another format is refused with what to do about it, by its name or by how it begins; so
// is a name for an output that promises another format.
func TestOtherFormatsAreNamed(t *testing.T) {
	const text = "age,income,city,rank,note,sick\n"
	for name, want := range map[string]string{
		"t.xlsx": "CSV UTF-8", "T.XLSX": "CSV UTF-8", "t.xls": "CSV UTF-8", "t.ods": "CSV UTF-8", "t.sav": "export it",
		"t.sas7bdat": "export it", "t.dta": "export it", "t.feather": "polars", "t.json": "read_json('", "t.zip": "unzip -p",
		"t.csv.bz2": "bunzip2", "t.csv.xz": "xz -d", "t.db": "sqlite:", "t.duckdb": "COPY NAME", "t.orc": "to_parquet",
		"t.PARQUET": ".parquet in small", "t.csv.GZ": ".gz in small", "t.csv.ZST": ".zst in small",
	} {
		path := writeFile(t, name, text)
		_, err := Read(t.Context(), smallSchema(), Options{}, path)
		wantFault(t, err, path, 0, "", want)
		if _, err := ReadHeader(t.Context(), path, smallSchema().Dialect); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the header of %s: %v", name, err)
		}
		var refused *dp.ParamError
		if err := CheckOutput("split", "train", name); !errors.As(err, &refused) || strings.Contains(refused.Want, ": ") {
			t.Errorf("to write %s: %v", name, err)
		}
	}
	for _, name := range []string{"t.csv", "t.parquet", "t.txt", "t.data", "t", "t.tsv", "-"} {
		if err := CheckOutput("split", "train", name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"t.csv.gz", "t.csv.zst"} {
		if CheckOutput("split", "train", name) == nil {
			t.Errorf("a file that is not compressed is called %s", name)
		}
	}
	for first, want := range map[string]string{
		"PK\x03\x04\x14\x00": "CSV UTF-8", "PK\x03\x04": "CSV UTF-8", "\xd0\xcf\x11\xe0\xa1": "CSV UTF-8", "PAR1": "ends in .parquet",
		"\x1f\x8b\x08": "ends in .gz", "\x28\xb5\x2f\xfd": "ends in .zst", `[{"age": 4}]`: "read_json", "%PDF-1.4": "as CSV", "SQLite format 3\x00": "sqlite:",
		"\xff\xfea\x00": "utf-16", "M\xfcller": "windows-1252",
	} {
		path := writeFile(t, "t.csv", first+"\n")
		_, err := Read(t.Context(), smallSchema(), Options{}, path)
		wantFault(t, err, path, 1, "", want)
	}
	path := filepath.Join(t.TempDir(), "t.csv") // a header may begin like another format
	if err := os.WriteFile(path, []byte("PAR1,"+text+"x,1,2,a,b,c,no\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(t.Context(), smallSchema(), Options{Extra: ExtraDropped}, path); err != nil {
		t.Error(err)
	}
}

// A name that differs by case, spaces or signs is said to be there; any other is not repeated.
func TestNearNamesAreSeen(t *testing.T) {
	for _, header := range []string{
		"Age,income,city,rank,note,sick", "AGE,income,city,rank,note,sick", "age ,income,city,rank,note,sick", "a-ge,income,city,rank,note,sick",
	} {
		path := writeFile(t, "t.csv", header+"\n")
		_, err := Read(t.Context(), smallSchema(), Options{}, path)
		wantFault(t, err, path, 1, "age", "other letter case")
	}
	path := writeFile(t, "t.csv", "agee,income,city,rank,note,sick\n")
	_, err := Read(t.Context(), smallSchema(), Options{}, path)
	if wantFault(t, err, path, 1, "age", "must be among the names"); strings.Contains(err.Error(), "agee") ||
		strings.Contains(err.Error(), "letter case") {
		t.Error(err)
	}
}

func TestSharesAreWritten(t *testing.T) {
	for _, c := range []struct {
		k, n int
		want string
	}{{7, 7, "100 %"}, {999, 1000, "99 %"}, {1, 2, "50 %"}, {1, 8, "12 %"}, {1, 16, "6.2 %"}, {1, 300, "0.33 %"}, {1, 30_000_000, "0.0000033 %"}} {
		if got := sharePercent(c.k, c.n); got != c.want {
			t.Errorf("%d of %d: %s, want %s", c.k, c.n, got, c.want)
		}
	}
}
