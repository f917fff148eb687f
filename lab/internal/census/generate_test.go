// SPDX-License-Identifier: Apache-2.0

package census

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// fingerprint hashes every cell as what it stands for.
func fingerprint(t *dataset.Table) string {
	h := sha256.New()
	for j := range columns {
		cells := make([]float64, t.Rows)
		for i := range cells {
			cells[i] = float64(t.Cols[j].Codes.At(i))
			if v := t.Cols[j].Values; v != nil {
				cells[i] = v[int(cells[i])]
			}
		}
		binary.Write(h, binary.LittleEndian, cells)
	}
	h.Write(t.Labels)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func consecutive(from, n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = from + i
	}
	return rows
}

// TestGenerateIsWhatItWas is the promise of seeds: README, figures and
// benchmarks name tables by seed and size. A change here belongs in the
// changelog.
func TestGenerateIsWhatItWas(t *testing.T) {
	if got, want := fingerprint(Generate(1, 20_000)), "663ae7b068e2879a"; got != want {
		t.Errorf("the table of seed 1 has fingerprint %s, want %s", got, want)
	}
}

func TestGenerateDoesNotDependOnTheMachine(t *testing.T) {
	const rows = 5*blockRows + 17
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := fingerprint(Generate(3, rows))
	runtime.GOMAXPROCS(7)
	if many := fingerprint(Generate(3, rows)); many != one {
		t.Errorf("1 thread gives %s, 7 threads give %s", one, many)
	}
}

func TestShorterTableBeginsLongerOne(t *testing.T) {
	long := Generate(4, 3*blockRows)
	for _, rows := range []int{0, 1, blockRows - 1, blockRows, blockRows + 1, 3 * blockRows} {
		if fingerprint(Generate(4, rows)) != fingerprint(long.Subset(consecutive(0, rows))) {
			t.Errorf("%d rows are not the first %d of more", rows, rows)
		}
	}
}

func TestSeedsAndBlocksDiffer(t *testing.T) {
	tab := Generate(5, 2*blockRows)
	half := func(from int) string { return fingerprint(tab.Subset(consecutive(from, blockRows))) }
	prints := []string{half(0), half(blockRows), fingerprint(Generate(6, blockRows)),
		fingerprint(Generate(5<<32, blockRows))}
	slices.Sort(prints)
	if n := len(slices.Compact(prints)); n != 4 {
		t.Errorf("4 different streams gave %d different blocks", n)
	}
}

func TestPartsAreTheWhole(t *testing.T) {
	const rows = PartRows + blockRows + 5
	parts := slices.Collect(Parts(9, rows))
	if len(parts) != 2 || parts[0].Rows != PartRows || parts[1].Rows != blockRows+5 {
		t.Fatalf("got %d parts", len(parts))
	}
	whole := Generate(9, rows)
	for _, from := range []int{0, PartRows - blockRows, PartRows} {
		part, at := parts[from/PartRows], from%PartRows
		if fingerprint(part.Subset(consecutive(at, blockRows))) != fingerprint(whole.Subset(consecutive(from, blockRows))) {
			t.Errorf("the part's rows are not the whole's from row %d on", from)
		}
	}
	for range Parts(9, rows) {
		break // must not panic
	}
}

func TestNegativeRowsPanic(t *testing.T) {
	for name, call := range map[string]func(){
		"generate": func() { Generate(1, -1) },
		"parts":    func() { Parts(1, -1) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			call()
		})
	}
}

// TestCellsObeyTheSchema: every cell is in its bounds and has a declared code,
// "other" never occurs, numbers are whole and have one code each.
func TestCellsObeyTheSchema(t *testing.T) {
	tab := Generate(2, 200_000)
	s := tab.Schema
	if len(s.ByRole(schema.Public)) != 5 || len(s.ByRole(schema.Private)) != 9 || s.Label.Role != schema.Public {
		t.Fatal("want 5 public columns, 9 private ones and a public label")
	}
	for j, c := range s.Columns {
		col := tab.Cols[j]
		if col.Codes.Len() != tab.Rows {
			t.Fatalf("column %s has %d cells", c.Name, col.Codes.Len())
		}
		for k, v := range col.Values {
			if !(v >= c.Lower && v <= c.Upper) || v != math.Trunc(v) || k > 0 && !(v > col.Values[k-1]) {
				t.Fatalf("column %s: value %g of code %d", c.Name, v, k)
			}
		}
		for i := range tab.Rows {
			code := int(col.Codes.At(i))
			if c.Kind == schema.Number && code >= len(col.Values) ||
				c.Kind == schema.Category && (code >= c.Codes() || code == c.OtherCode()) {
				t.Fatalf("column %s: code %d", c.Name, code)
			}
		}
	}
}

func TestPublicCombinationsAreFew(t *testing.T) {
	tab := Generate(2, 1_000_000)
	seen := map[[5]uint32]bool{}
	for i := range tab.Rows {
		var key [5]uint32
		for k, j := range tab.Schema.ByRole(schema.Public) {
			key[k] = tab.Cols[j].Codes.At(i)
		}
		seen[key] = true
	}
	if n := len(seen); n < 9_000 || n > 11_988 {
		t.Errorf("%d public combinations in a million rows, want 9,000 to 11,988", n)
	}
}

// TestMarginals holds the shape of the population to bands about twenty
// standard errors wide; the seed is fixed.
func TestMarginals(t *testing.T) {
	tab := Generate(2, 200_000)
	share := func(in func(i int) bool) float64 {
		n := 0
		for i := range tab.Rows {
			if in(i) {
				n++
			}
		}
		return float64(n) / float64(tab.Rows)
	}
	is := func(col, code int) func(int) bool {
		return func(i int) bool { return int(tab.Cols[col].Codes.At(i)) == code }
	}
	given := func(in, of func(int) bool) float64 {
		return share(func(i int) bool { return in(i) && of(i) }) / share(of)
	}
	yes := func(i int) bool { return tab.Labels[i] == 1 }
	for _, c := range []struct {
		what      string
		got       float64
		low, high float64
	}{
		{"high income", share(yes), 0.27, 0.295},
		{"women", share(is(colSex, female)), 0.50, 0.525},
		{"from abroad", 1 - share(is(colOrigin, 0)), 0.13, 0.165},
		{"not working", share(is(colWorkClass, notWorking)), 0.15, 0.19},
		{"not answering about work", share(is(colWorkClass, len(workClasses)+1)), 0.035, 0.045},
		{"no capital income", share(is(colCapital, 0)), 0.86, 0.89},
		{"capital income of 50,000 or more", share(func(i int) bool {
			return tab.Cols[colCapital].Values[tab.Cols[colCapital].Codes.At(i)] >= 50_000
		}), 0.01, 0.02},
		{"40 hours", share(is(colHours, 40)), 0.2, 0.45},
		{"married", share(is(colMarital, married)), 0.44, 0.49},
		{"high income of men", given(yes, is(colSex, male)), 0.37, 0.42},
		{"high income of women", given(yes, is(colSex, female)), 0.15, 0.2},
		{"high income of managers", given(yes, is(colOccupation, 13)), 0.7, 0.8},
		{"high income of masters", given(yes, is(colEducation, 7)), 0.5, 0.63},
		{"women in care", given(is(colSex, female), is(colOccupation, 4)), 0.65, 0.85},
		{"widowed at 80", given(is(colMarital, 4), is(colAge, 80-minAge)), 0.2, 0.4},
	} {
		if !(c.got >= c.low && c.got <= c.high) {
			t.Errorf("%s: %.4f, want %g to %g", c.what, c.got, c.low, c.high)
		}
	}
}
