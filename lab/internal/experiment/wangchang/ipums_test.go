// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

const smallExtract = `YEAR,AGE,MARST,SEX,INCTOT
2000,50,2,1,1000
2000,100,1,2,9999999
2000,0,9,2,0
2000,120,7,1,9999998
2000,25,0,2,2001
`

func TestReadExtract(t *testing.T) {
	e, err := readExtract(strings.NewReader(smallExtract))
	if err != nil {
		t.Fatal(err)
	}
	// Age; SEX 1, 2, 9, other; MARST 0 to 4, 9, other. The mean income is 1000⅓.
	if e.Len() != 3 || e.Dim() != 1+4+7 || !slices.Equal(e.y, []uint8{0, 0, 1}) {
		t.Fatalf("%d rows of %d, classes %v", e.Len(), e.Dim(), e.y)
	}
	out := make([]float64, e.Dim())
	for i, want := range [][]float64{
		{0, 1, -1, -1, -1, -1, -1, 1, -1, -1, -1, -1},
		{-1, -1, 1, -1, -1, -1, -1, -1, -1, -1, 1, -1},
		{-0.5, -1, 1, -1, -1, 1, -1, -1, -1, -1, -1, -1},
	} {
		if e.Row(i, out); !slices.Equal(out, want) {
			t.Errorf("row %d is %v, want %v", i, out, want)
		}
	}
	// An undeclared code and an age beyond the top code.
	e, err = readExtract(strings.NewReader("AGE,SEX,INCTOT\n130,5,1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if e.Row(0, out[:e.Dim()]); !slices.Equal(out[:e.Dim()], []float64{1, -1, -1, -1, 1}) {
		t.Errorf("row %v", out[:e.Dim()])
	}
}

// Errors say where, and never what stands there.
func TestReadExtractRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "read header",
		"SEX,INCTOT\n1,2\n":                  "AGE and INCTOT",
		"AGE,INCTOT\n1,2\n":                  "at least one category",
		"AGE,SEX,INCTOT\n":                   "at least one with an income",
		"AGE,SEX,INCTOT\n1,1,9999999\n":      "at least one with an income",
		"AGE,SEX,INCTOT\n1,1,5\n1,1,secret":  "line 3: INCTOT must be a whole number",
		"AGE,SEX,INCTOT\n1,secret,5\n":       "line 2: SEX must be a whole number",
		"AGE,SEX,INCTOT\nsecret,1,5\n":       "line 2: AGE must be a whole number",
		"AGE,SEX,INCTOT\n1,1,5\n1,secret\n":  "line 3",
		"AGE,SEX,INCTOT\n1,1,5\n1,\"secret1": "line 3",
	} {
		_, err := readExtract(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzReadExtract(f *testing.F) {
	f.Add(smallExtract)
	f.Add("AGE,SEX,INCTOT\n130,5,1\n")
	f.Fuzz(func(t *testing.T, text string) {
		e, err := readExtract(strings.NewReader(text))
		if err != nil {
			return
		}
		out := make([]float64, e.Dim())
		for i := range e.Len() {
			e.Row(i, out)
			for j, x := range out {
				if !(x >= -1 && x <= 1) {
					t.Fatalf("row %d: number %d is %g", i, j, x)
				}
			}
		}
	})
}

// TestBrazil measures the figure on an invented extract of 2,000 rows.
func TestBrazil(t *testing.T) {
	path := filepath.Join(t.TempDir(), "extract.csv.gz")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(file)
	z.Write([]byte("AGE,SEX,EDATTAIN,INCTOT\n"))
	for i := range 2000 {
		lines := []string{"30,1,1,100\n", "40,2,4,900\n", "50,1,3,800\n", "20,2,2,200\n"}
		z.Write([]byte(lines[i*7%4]))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	file.Close()
	t.Setenv(extractVariable, path)
	figures := Figures()
	f := figures[len(figures)-1]
	if f.Name != "wangchang/brazil" {
		t.Fatalf("the last figure is %s", f.Name)
	}
	res, err := f.Run(t.Context(), frame.Options{Out: t.TempDir(), Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"", centroid} {
		if m := res.Summary.Mean(seriesName(ofBrazil, kind+noNoise), 0, accuracy).Mean; m < 0.99 {
			t.Errorf("%saccuracy without noise is %g", kind, m)
		}
	}
	if _, err := openBrazil(path + "x"); err == nil {
		t.Error("a missing extract is no error")
	}
}
