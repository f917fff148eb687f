// SPDX-License-Identifier: Apache-2.0

package heldout

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// line is a row of a table: person, feature and label.
type line [3]string

// setting is a table of one of all kinds of schemas, and a way to divide it.
type setting struct {
	s     *schema.Schema
	split Split
	lines []line
	what  string
}

// drawSetting draws the relation, what the schema protects, persons or none, and the share.
func drawSetting(t *testing.T, src rng.Source) setting {
	t.Helper()
	draw := func(n int) int { return int(rng.Below(src, uint64(n))) }
	pick := func(of ...string) string { return of[draw(len(of))] }
	relation, person := pick("replace-one", "add-remove"), pick("", "person: {column: p, rows: 3}\n")
	feature, label := pick("public", "private"), pick("public", "private")
	s, err := schema.Parse([]byte("name: t\nunit: one row\nrelation: " + relation + "\n" + person +
		`file: {delimiter: ",", quote: "", header: true}
columns: [{name: p, role: ignored}, {name: a, role: ` + feature + `, number: {lower: 0, upper: 9, default: 0}},
{name: y, role: ` + label + `, label: {levels: ["0", "1", "2"], default: "0"}}]`))
	if err != nil {
		t.Fatal(err)
	}
	set := setting{s: s, split: Split{HeldOut: float64(1+draw(99)) / 100, Seed: uint64(draw(9))}}
	set.split.Key = sha256.Sum256([]byte{byte(draw(256)), byte(draw(256))})
	for range 2 + draw(60) {
		set.lines = append(set.lines, drawLine(src))
	}
	set.what = fmt.Sprintf("%s, persons %t, feature %s, label %s, share %g", relation, s.Person != nil, feature, label,
		set.split.HeldOut)
	return set
}

// drawLine draws a row, which one time in eight has no identifier.
func drawLine(src rng.Source) line {
	person := ""
	if n := rng.Below(src, 8); n > 0 {
		person = strconv.Itoa(int(n * rng.Below(src, 5)))
	}
	return line{person, strconv.Itoa(int(rng.Below(src, 10))), strconv.Itoa(int(rng.Below(src, 3)))}
}

// sides divides the lines and returns the rows of the two files.
func (set *setting) sides(t *testing.T, lines []line) (out [2][]line) {
	t.Helper()
	var text strings.Builder
	text.WriteString("p,a,y\n")
	for _, l := range lines {
		text.WriteString(strings.Join(l[:], ",") + "\n")
	}
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var files [2]bytes.Buffer
	if err := set.split.Write(t.Context(), set.s, dataset.Options{}, &files[0], &files[1],
		[2]dataset.Format{dataset.CSV, dataset.CSV}, path); err != nil {
		t.Fatal(err)
	}
	for k := range files {
		all := strings.Split(strings.TrimSuffix(files[k].String(), "\n"), "\n")
		if all[0] != "p,a,y" {
			t.Fatalf("%s: a file begins with %q", set.what, all[0])
		}
		for _, row := range all[1:] {
			out[k] = append(out[k], line(strings.Split(row, ",")))
		}
	}
	return out
}

// naiveSides divides the lines by the rule in words.
func (set *setting) naiveSides(lines []line) (out [2][]line) {
	share, n := set.split.HeldOut, len(lines)
	isHeld := func(word uint64) bool { return float64(word>>11)/(1<<53) < math.Floor(share*(1<<53))/(1<<53) }
	held := make([]bool, n)
	switch {
	case set.s.Person != nil:
		for i, l := range lines {
			sum := sha256.Sum256(append(set.split.Key[:], l[0]...))
			held[i] = l[0] != "" && isHeld(rng.Keyed(set.split.Key[:], "split", sum[:16]).Uint64())
		}
	case set.s.Relation == dp.AddRemove:
		src := rng.Keyed(set.split.Key[:], "split", nil)
		for i := range held {
			held[i] = isHeld(src.Uint64())
		}
	default:
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		rng.Shuffle(replay.Seeded(set.split.Seed, "split"), n, func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, i := range order[:int(math.Floor(share*float64(n)+0.5))] {
			held[i] = true
		}
	}
	for i, l := range lines {
		k := 0
		if held[i] {
			k = 1
		}
		out[k] = append(out[k], l)
	}
	return out
}

func equalSides(a, b [2][]line) bool { return slices.Equal(a[0], b[0]) && slices.Equal(a[1], b[1]) }

// Sides are those of a naive twin, for schemas and shares of all kinds.
func TestSidesAreThoseOfTheTwin(t *testing.T) {
	src := replay.Seeded(5, "twin")
	for range size.Of(80, 3000) {
		set := drawSetting(t, src)
		if byPlace := set.s.Person == nil && set.s.Relation == dp.ReplaceOne; byPlace == ByCoin(set.s) {
			t.Fatalf("%s: by coin: %t", set.what, byPlace)
		}
		if got, want := set.sides(t, set.lines), set.naiveSides(set.lines); !equalSides(got, want) {
			t.Fatalf("%s: the sides are\n%v\nwant\n%v", set.what, got, want)
		}
	}
}

// without returns the lines for which is is false.
func without(lines []line, is func(line) bool) []line {
	return slices.DeleteFunc(slices.Clone(lines), is)
}

// Neighbours differ in one unit on one side, and the other side is equal to the bit: for a row at its
// place, and for all rows of a person, whether they are replaced, come, go or grow in number.
func TestNeighboursDifferOnOneSide(t *testing.T) {
	src := replay.Seeded(6, "neighbours")
	moved := map[string]int{}
	for range size.Of(120, 6000) {
		set := drawSetting(t, src)
		at := int(rng.Below(src, uint64(len(set.lines))))
		unit := set.lines[at]
		other := slices.Clone(set.lines)
		var ofUnit func(l line) bool
		switch {
		case set.s.Person != nil && unit[0] == "":
			continue // nobody is no unit
		case set.s.Person != nil:
			ofUnit = func(l line) bool { return l[0] == unit[0] }
			other = without(other, ofUnit) // the person goes, or has other rows at other places
			name := unit[0]
			if set.s.Relation == dp.ReplaceOne && rng.Below(src, 2) == 0 { // or is another person, with an equal coin
				for n := 0; name == unit[0] || len(set.sides(t, []line{{name, "1", "1"}, unit})[0]) == 1; n++ {
					name = "new" + strconv.Itoa(n)
				}
				ofUnit = func(l line) bool { return l[0] == unit[0] || l[0] == name }
			}
			if set.s.Relation == dp.ReplaceOne || rng.Below(src, 2) == 0 {
				for range 1 + rng.Below(src, 5) {
					l := drawLine(src)
					l[0] = name
					other = slices.Insert(other, int(rng.Below(src, uint64(len(other)+1))), l)
				}
			}
		case set.s.Relation == dp.ReplaceOne:
			set.lines[at][0], other[at] = "unit", line{"unit", "7", "2"}
			ofUnit = func(l line) bool { return l[0] == "unit" }
		default:
			continue // see TestRowsAreDealtByCoinsOfTheirOwn: a table with one row more has one coin more
		}
		a, b := set.sides(t, set.lines), set.sides(t, other)
		differ := 0
		for k := range a {
			if !slices.Equal(a[k], b[k]) {
				differ++
				moved[fmt.Sprintf("%s %t %d", set.s.Relation, set.s.Person != nil, k)]++
			}
			if !slices.Equal(without(a[k], ofUnit), without(b[k], ofUnit)) {
				t.Fatalf("%s: other units moved:\n%v\n%v", set.what, a[k], b[k])
			}
		}
		if differ > 1 {
			t.Fatalf("%s: both sides differ:\n%v\n%v", set.what, a, b)
		}
	}
	if len(moved) != 6 {
		t.Errorf("not every kind of neighbour moved each side: %v", moved)
	}
}

// tossed is a source of coins that fall as told: held or not.
type tossed struct {
	falls []bool
	n     int
}

func (c *tossed) Seeded() bool { return true }
func (c *tossed) Uint64() uint64 {
	c.n++
	if c.falls[c.n-1] {
		return 0
	}
	return math.MaxUint64
}

// A row's side is its own coin and nothing else. So the coins of a table with one row more are those of
// the other rows and one of its own.
func TestRowsAreDealtByCoinsOfTheirOwn(t *testing.T) {
	src := replay.Seeded(7, "rows")
	for range 200 {
		s := Split{HeldOut: float64(1+rng.Below(src, 99)) / 100}
		falls := make([]bool, rng.Below(src, 20))
		for i := range falls {
			falls[i] = rng.Below(src, 2) == 0
		}
		coins := &tossed{falls: falls}
		if got := s.dealRows(len(falls), coins); !slices.Equal(got, falls) || coins.n != len(falls) {
			t.Fatalf("coins %v: the sides are %v, of %d coins", falls, got, coins.n)
		}
	}
}

// words is a source of one word, again and again.
type words uint64

func (w words) Seeded() bool   { return true }
func (w words) Uint64() uint64 { return uint64(w) }

// A coin of any share is held below the share of its sides, and not from there on.
func TestCoinsTurnAtTheirShare(t *testing.T) {
	for percent := 1; percent < 100; percent++ {
		s := Split{HeldOut: float64(percent) / 100}
		border := uint64(math.Floor(s.HeldOut * (1 << 53)))
		for side, want := range map[uint64]bool{0: true, border - 1: true, border: false, 1<<53 - 1: false} {
			if got := s.isHeld(words(side << 11)); got != want {
				t.Errorf("a share of %g: side %d is held: %t", s.HeldOut, side, got)
			}
		}
	}
}

// law is the distribution of who is held out: sets of rows, as bits, and their probabilities.
type law map[uint]float64

// coinLaw lists what Split does with all coins of so many rows.
func coinLaw(s Split, rows int) law {
	out := law{}
	for falls := range uint(1) << rows {
		p, coins := 1.0, &tossed{}
		for i := range rows {
			held := falls>>i&1 == 1
			coins.falls = append(coins.falls, held)
			p *= map[bool]float64{true: s.HeldOut, false: 1 - s.HeldOut}[held]
		}
		set := uint(0)
		for i, held := range s.dealRows(rows, coins) {
			if held {
				set |= 1 << i
			}
		}
		out[set] += p
	}
	return out
}

// exactLaw draws the rounded share of the rows, each set of so many with the same probability.
func exactLaw(s Split, rows int) law {
	out, sets := law{}, []uint{}
	for set := range uint(1) << rows {
		if n := strings.Count(strconv.FormatUint(uint64(set), 2), "1"); n == int(s.HeldOut*float64(rows)+0.5) {
			sets = append(sets, set)
		}
	}
	for _, set := range sets {
		out[set] = 1 / float64(len(sets))
	}
	return out
}

// lossOfCounts is what a noisy count of the marked rows on each side, each at ε = 1, loses together at
// least: the ratio of densities far out in each direction.
func lossOfCounts(a, b law, marksA, marksB []bool) (worst float64) {
	for _, signs := range [][2]float64{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}} {
		far := func(of law, marks []bool) (mean float64) {
			for set, p := range of {
				at := 0.0
				for i, marked := range marks {
					if marked {
						at += signs[set>>i&1]
					}
				}
				mean += p * math.Exp(at)
			}
			return mean
		}
		worst = max(worst, math.Abs(math.Log(far(a, marksA)/far(b, marksB))))
	}
	return worst
}

// A count of each side at ε = 1 costs 1 together, over all coins, for every small table, every place of
// a row that comes, and many shares. Dealing the rounded share, as is usual, loses more.
func TestCountsOfBothSidesCostOne(t *testing.T) {
	if loss := lossOfSides(coinLaw); loss > 1+1e-9 {
		t.Errorf("the counts lose %g", loss)
	}
	if loss := lossOfSides(exactLaw); loss < 1.6 {
		t.Errorf("dealing the rounded share loses %g, so that this test would not see it", loss)
	}
}

// lossOfSides is the most that counts of both sides lose where a row comes.
func lossOfSides(deal func(Split, int) law) (worst float64) {
	src := replay.Seeded(8, "counts")
	for range size.Of(8, 40) {
		s := Split{HeldOut: float64(1+rng.Below(src, 99)) / 100}
		for rows := range 6 {
			few, many := deal(s, rows), deal(s, rows+1)
			for marks := range uint(1) << (rows + 1) {
				at := int(rng.Below(src, uint64(rows+1)))
				var with []bool
				for i := range rows + 1 {
					with = append(with, marks>>i&1 == 1)
				}
				worst = max(worst, lossOfCounts(few, many, slices.Delete(slices.Clone(with), at, at+1), with))
			}
		}
	}
	return worst
}

// Coins of many persons neither repeat nor follow each other, for identifiers that differ little, and
// so do those of one person under many keys, and those of rows.
func TestCoinsAreIndependent(t *testing.T) {
	people := size.Of(20_000, 400_000)
	share := 0.3
	key := func(i int) [32]byte { return sha256.Sum256([]byte("key" + strconv.Itoa(i))) }
	seen := map[uint64]bool{}
	for i := range people {
		k, hash := key(i%3), [16]byte{byte(i), byte(i >> 8), byte(i >> 16)}
		w := rng.Keyed(k[:], "split", hash[:]).Uint64()
		if seen[w] {
			t.Fatalf("coin %d has come before", i)
		}
		seen[w] = true
	}
	flips := map[string][][]bool{}
	const coins = 12
	for n := range people / coins {
		hashes, of := make([][16]byte, coins+1), make([]uint32, coins)
		persons, keys := make([]bool, coins), make([]bool, coins)
		for k := range coins {
			id := n*coins + k
			hashes[k+1] = [16]byte{byte(id), byte(id >> 8), byte(id >> 16)}
			of[k] = uint32(k + 1)
			s := Split{HeldOut: share, Key: key(id)}
			keys[k] = s.dealPersons([]uint32{1}, [][16]byte{{}, {1}})[0]
		}
		s := Split{HeldOut: share, Key: key(0)}
		copy(persons, s.dealPersons(of, hashes))
		k := key(n)
		s.Key = k
		flips["persons"] = append(flips["persons"], persons)
		flips["keys"] = append(flips["keys"], keys)
		flips["rows"] = append(flips["rows"], s.dealRows(coins, rng.Keyed(k[:], "split", nil)))
	}
	probs := slices.Repeat([]float64{share}, coins)
	c := stattest.Claim{FalsePositive: 1e-9, Detects: "a coin that follows the one before"}
	for what, f := range flips {
		stattest.Independent(t, c, f, probs)
		stattest.Rejects(t, func(t stattest.T) {
			bad := slices.Clone(f)
			for n := range bad {
				bad[n] = slices.Clone(bad[n])
				bad[n][3] = bad[n][2]
			}
			stattest.Independent(t, c, bad, probs)
		})
		if t.Failed() {
			t.Fatalf("the coins of %s", what)
		}
	}
}

// A table of persons that has grown, in another order and another format, leaves everyone on their side.
// Rows of nobody are not held out. Two spellings are two persons.
func TestGrownTablesKeepSides(t *testing.T) {
	src := replay.Seeded(9, "grown")
	for range size.Of(60, 1000) {
		set := drawSetting(t, src)
		if set.s.Person == nil {
			continue
		}
		side := map[string]int{"": 0}
		for range 3 {
			for k, lines := range set.sides(t, set.lines) {
				for _, l := range lines {
					if was, known := side[l[0]]; known && was != k {
						t.Fatalf("%s: person %q goes from side %d to %d", set.what, l[0], was, k)
					}
					side[l[0]] = k
				}
			}
			for range 20 {
				set.lines = slices.Insert(set.lines, int(rng.Below(src, uint64(len(set.lines)))), drawLine(src))
			}
			slices.Reverse(set.lines)
		}
	}
}

// growing writes more to a file at the first write to it.
type growing struct {
	t    *testing.T
	path string
	more string
}

func (g *growing) Write(text []byte) (int, error) {
	if g.more != "" {
		before, err := os.ReadFile(g.path)
		if err := cmp.Or(err, os.WriteFile(g.path, append(before, g.more...), 0o600)); err != nil {
			g.t.Error(err)
		}
		g.more = ""
	}
	return len(text), nil
}

// A table to which rows are added while it is divided is refused: its rows were not all dealt.
func TestTableMustNotChangeWhileItIsDivided(t *testing.T) {
	src := replay.Seeded(3, "growing")
	for range 12 {
		set := drawSetting(t, src)
		path := filepath.Join(t.TempDir(), "t.csv")
		text := "p,a,y\n" + strings.Repeat("1,1,1\n", 9)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := set.split.Write(t.Context(), set.s, dataset.Options{}, &growing{t, path, "1,1,1\n"}, io.Discard,
			[2]dataset.Format{dataset.CSV, dataset.CSV}, path)
		if bad := (*dp.ParamError)(nil); !errors.As(err, &bad) || bad.Param != "data" {
			t.Errorf("%s: %v", set.what, err)
		}
	}
}

// What decides the text of an identifier is in its description, and what does not is not.
func TestSpellingTellsWhoseCoinItIs(t *testing.T) {
	kind := ""
	parse := func(dialect, column string) string {
		s, err := schema.Parse([]byte("name: t\nunit: one row\nrelation: replace-one\nperson: {column: p, rows: 3" + kind + "}\nfile: {" + dialect +
			"}\ncolumns: [" + column + "{name: p, role: ignored}, " +
			"{name: z, role: public, category: {levels: [q, r], missing: false}}, {name: y, role: public, label: {levels: [a, b], positive: b}}]"))
		if err != nil {
			t.Fatal(err)
		}
		return Spelling(s)
	}
	const usual = `delimiter: ",", quote: '"', header: true, missing: ["?", NA]`
	const more = "{name: x, role: ignored}, "
	first := parse(usual, "")
	for _, same := range []string{strings.Replace(usual, `"?", NA`, `NA, "?"`, 1), strings.Replace(usual, `","`, `";"`, 1)} {
		if parse(same, more) != first {
			t.Errorf("%s reads other identifiers", same)
		}
	}
	for _, other := range []string{usual + ", trim: true", strings.Replace(usual, `'"'`, `""`, 1), strings.Replace(usual, "NA", "na", 1),
		strings.Replace(usual, "true", "false", 1), usual + `, encoding: windows-1252`, usual + `, thousands: "'"`} {
		if parse(other, "") == first {
			t.Errorf("%s reads the same identifiers", other)
		}
	}
	if kind = ", identifiers: text"; parse(usual, "") != first {
		t.Error("identifiers that are texts anyway are other identifiers")
	}
	if kind = ", identifiers: whole"; parse(usual, "") == first {
		t.Error("whole numbers are the same identifiers as texts")
	}
	if bare := strings.Replace(usual, "true", "false", 1); parse(bare, "") == parse(bare, more) {
		t.Error("another place of a file without a header reads the same identifiers")
	}
}

// Persons are dealt alike whether a table is CSV or Parquet, in one file or two.
func TestFilesOfAllKindsAreDealtAlike(t *testing.T) {
	src := replay.Seeded(10, "formats")
	set := drawSetting(t, src)
	for set.s.Person == nil || len(set.lines) < 20 {
		set = drawSetting(t, src)
	}
	want := set.sides(t, set.lines)
	dir := t.TempDir()
	write := func(name string, lines []line) string {
		path := filepath.Join(dir, name)
		text := "p,a,y\n"
		for _, l := range lines {
			text += strings.Join(l[:], ",") + "\n"
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if dataset.FormatOf(path) == dataset.CSV {
			return path
		}
		csv := filepath.Join(dir, name+".csv")
		if err := os.Rename(path, csv); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := cmp.Or(dataset.CopyRows(t.Context(), set.s, dataset.Options{}, f, dataset.Parquet, nil, nil, csv), f.Close()); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, paths := range [][]string{
		{write("a.csv", set.lines[:7]), write("b.csv", set.lines[7:])},
		{write("c.parquet", set.lines)},
		{write("d.parquet", set.lines[:7]), write("e.parquet", set.lines[7:])},
		{write("f.csv", set.lines[:7]), write("g.parquet", set.lines[7:])},
	} {
		held, err := set.split.deal(t.Context(), set.s, dataset.Options{}, paths...)
		if err != nil {
			t.Fatal(err)
		}
		got := [2][]line{}
		for i, h := range held {
			k := 0
			if h {
				k = 1
			}
			got[k] = append(got[k], set.lines[i])
		}
		if !equalSides(got, want) {
			t.Errorf("%v: the sides are others", paths)
		}
	}
}

// Every row of the files is in one output, as it was written.
func TestSplitKeepsText(t *testing.T) {
	s, err := schema.Parse([]byte(`{name: t, unit: one person, relation: replace-one,
file: {delimiter: ",", quote: '"', header: true, missing: [""]},
columns: [{name: a, role: private, category: {levels: ["1,5", "q"]}},
{name: y, role: public, label: {levels: ["0", "1"], positive: "1"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	body := []string{`"1,5",0`, `"a ""b""",1`, `q,1`, `"line` + "\n" + `two",0`, `q,0`, `x,1`}
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte("a,y\n"+strings.Join(body, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var train, test bytes.Buffer
	split := Split{HeldOut: 0.34, Seed: 3}
	if err := split.Write(t.Context(), s, dataset.Options{}, &train, &test,
		[2]dataset.Format{dataset.CSV, dataset.CSV}, path); err != nil {
		t.Fatal(err)
	}
	both := train.String() + test.String()
	for _, row := range body {
		if strings.Count(both, row+"\n") != 1 {
			t.Errorf("row %q must be there once, in\n%s", row, both)
		}
	}
	if strings.Count(both, "a,y\n") != 2 {
		t.Errorf("both files must have the header:\n%s", both)
	}
}
