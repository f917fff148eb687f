// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func refuses(t *testing.T, name string, file []byte, say string) {
	t.Helper()
	if _, err := Unmarshal(file); err == nil || !strings.Contains(err.Error(), say) {
		t.Errorf("%s: got %v, want an error that says %q", name, err, say)
	}
}

func TestUnmarshalRefusesEveryFlippedBit(t *testing.T) {
	file := mustMarshal(t, voted())
	for i := range file {
		for bit := range 8 {
			file[i] ^= 1 << bit
			if _, err := Unmarshal(file); err == nil {
				t.Fatalf("bit %d of byte %d flipped, and nobody noticed", bit, i)
			}
			file[i] ^= 1 << bit
		}
	}
}

func TestUnmarshalRefusesEveryCut(t *testing.T) {
	file := mustMarshal(t, voted())
	for n := range file {
		if _, err := Unmarshal(file[:n]); err == nil {
			t.Fatalf("cut to %d bytes, and nobody noticed", n)
		}
	}
	for _, more := range []string{"\n", " ", "x", "{}", "\x00", string(file)} {
		refuses(t, fmt.Sprintf("followed by %.10q", more), append(bytes.Clone(file), more...), "must have the stated")
	}
}

func TestUnmarshalRefusesForeignFrames(t *testing.T) {
	file := string(mustMarshal(t, voted()))
	swap := func(old, new string) []byte {
		if !strings.Contains(file, old) {
			t.Fatalf("%q is not in the file", old)
		}
		return []byte(strings.Replace(file, old, new, 1))
	}
	for _, c := range []struct {
		name string
		file []byte
		say  string
	}{
		{"empty", nil, "must start with"},
		{"another JSON", []byte(`{"model": 1}`), "must start with"},
		{"byte order mark", []byte("\ufeff" + file), "must start with"},
		{"other magic", swap("discreet_model", "discreet_modem"), "must start with"},
		{"on one line", []byte(strings.Join(strings.Fields(file), " ")), "must start with"},
		{"newer version", swap(`"discreet_model": 1`, fmt.Sprintf(`"discreet_model": %d`, version+1)),
			"use a newer discreet"},
		{"far newer version", swap(`"discreet_model": 1`, `"discreet_model": 999999999`), "use a newer discreet"},
		{"version 0", swap(`"discreet_model": 1`, `"discreet_model": 0`), "version must be at least 1"},
		{"version -1", swap(`"discreet_model": 1`, `"discreet_model": -1`), "version must be at least 1"},
		{"version 01", swap(`"discreet_model": 1`, `"discreet_model": 01`), "the version must be a whole number"},
		{"version too long", swap(`"discreet_model": 1`, `"discreet_model": 18446744073709551617`),
			"the version must be a whole number"},
		{"negative length", swap(`"bytes": `, `"bytes": -`), "must have the stated"},
		{"endless length", swap(`"bytes": `, `"bytes": 999999999999`), "bytes must be a whole number"},
		{"upper-case checksum", swap(file[strings.Index(file, "sha256")+10:][:64],
			strings.ToUpper(file[strings.Index(file, "sha256")+10:][:64])), "must match its checksum"},
		{"no checksum", swap(file[strings.Index(file, "sha256")+10:][:64], ""), "must match its checksum"},
		{"edited body", swap(`"epsilon": 0.16`, `"epsilon": 0.06`), "must match its checksum"},
	} {
		refuses(t, c.name, c.file, c.say)
	}
}

// Bodies with a right checksum that no Marshal has written.
func TestUnmarshalRefusesForeignBodies(t *testing.T) {
	_, raw, err := readFrame(mustMarshal(t, voted()))
	if err != nil {
		t.Fatal(err)
	}
	const canonical = "in canonical form"
	for _, c := range []struct{ name, old, new, say string }{
		{"unknown field", `"learner":`, `"rows": 7,` + "\n    " + `"learner":`, `unknown field "rows"`},
		{"unknown field of a member", `"vote": 0.25`, `"error": 0.25`, `unknown field "error"`},
		{"unknown field of the schema", `"name": "clinic",` + "\n      ", `"name": "clinic",` + "\n      " + `"prior": 0.3,` +
			"\n      ", `key must be one of those known here`},
		{"field given twice", `"seeded": false,`, `"seeded": true,` + "\n      " + `"seeded": false,`, canonical},
		{"field in capitals", `"seeded": false`, `"SEEDED": false`, canonical},
		{"field left out", `"seeded": false,` + "\n      ", ``, canonical},
		{"field null", `"seeded": false`, `"seeded": null`, canonical},
		{"list null", `"overrides": []`, `"overrides": null`, canonical},
		{"fields in another order", `"counted": true,` + "\n      " + `"seeded": false`, `"seeded": false,` + "\n      " +
			`"counted": true`, canonical},
		{"more white space", `"learner": "brc"`, `"learner":  "brc"`, canonical},
		{"another spelling of a text", `"learner": "brc"`, `"learner": "\u0062rc"`, canonical},
		{"another spelling of a number", `"vote": 1.5`, `"vote": 1.50`, canonical},
		{"lone surrogate", `"learner": "brc"`, `"learner": "\ud800"`, canonical},
		{"not UTF-8", `"learner": "brc"`, "\"learner\": \"\xff\"", canonical},
		{"something after the body", "\n  }", "\n  } {}", "body"},
		{"weight NaN", `"vote": 1.5`, `"vote": NaN`, "invalid character"},
		{"weight infinite", `"vote": 1.5`, `"vote": 1e999`, "vote"},
		{"weight a text", `"vote": 1.5`, `"vote": "1.5"`, "vote"},
		{"space a fraction", `"space": 1`, `"space": 0.5`, "space"},
		{"space of ten to the nine", `"space": 1`, `"space": 1000000000`, "space must be one of the model's 2"},
		{"negative space", `"space": 1`, `"space": -1`, "space must be one of the model's 2"},
		{"coefficient above 1", `"coef": [0.5, -1]`, `"coef": [0.5, -1.5]`, "coefficient 1 must be in [-1, 1]"},
		{"bias above 1", `"bias": 0.125`, `"bias": 1.125`, "bias must be in [-1, 1]"},
		{"coefficient too many", `"coef": [0.5, -1]`, `"coef": [0.5, -1, 0]`, "coefficients must number 2"},
		{"coefficient too few", `"coef": [0.5, -1]`, `"coef": [0.5]`, "coefficients must number 2"},
		{"votes beyond all numbers", `"vote": 1.5`, `"vote": 1.7976931348623157e+308`, ""},
		{"column that is not there", `"columns": ["age", "smoker"]`, `"columns": ["age", "smokes"]`,
			`column "smokes" must be in the model's schema`},
		{"column twice", `"columns": ["age", "smoker"]`, `"columns": ["age", "age"]`, `column "age" must be given once`},
		{"label as a column", `"columns": ["age", "smoker"]`, `"columns": ["age", "outcome"]`,
			`column "outcome" must be in the model's schema`},
		{"encoding", `"encoding": "ordinal"`, `"encoding": "hash"`, `must be "ordinal" or "onehot"`},
		{"a path for a learner", `"learner": "brc"`, `"learner": "../../etc/passwd"`, "learner must be a name"},
		{"a path for a column", `"columns": ["age", "smoker"]`, `"columns": ["../age", "smoker"]`,
			`column "../age" must be in the model's schema`},
		{"terminal codes in the statement", `"statement": "The`, `"statement": "\u001b[2JThe`, "without control characters"},
		{"scope", `"scope": "private features"`, `"scope": "everything"`, `scope "everything" is not known`},
		{"relation", `"relation": "replace-one"`, `"relation": "replace-two"`,
			`neighbour relation "replace-two" is not known`},
		{"total below the bill", `"epsilon": 0.16,` + "\n      " + `"epsilon_nano": 160000000`,
			`"epsilon": 0.06,` + "\n      " + `"epsilon_nano": 60000000`, "the bill must add up"},
		{"epsilon in two minds", `"epsilon": 0.16`, `"epsilon": 0.06`, "epsilon and epsilon_nano must agree"},
		{"price below zero", `"epsilon_nano": 80000000`, `"epsilon_nano": -80000000`, "must cost between 0 and 1000"},
		{"price beyond 64 bits", `"epsilon_nano": 80000000`, `"epsilon_nano": 18446744073789551616`, "epsilon_nano"},
		{"nothing protected at a price", `"scope": "private features"`, `"scope": "nothing"`, "empty bill"},
		{"private and not", `"not_private": false`, `"not_private": true`, "a model that is not private must have scope"},
	} {
		if n := bytes.Count(raw, []byte(c.old)); n == 0 {
			t.Fatalf("%s: %q is not in the body", c.name, c.old)
		}
		body := bytes.Replace(raw, []byte(c.old), []byte(c.new), 1)
		if c.name == "something after the body" {
			body = append(bytes.Clone(raw), " {}"...)
		}
		if c.name == "votes beyond all numbers" {
			body = bytes.ReplaceAll(body, []byte(`"vote": 0.25`), []byte(c.new))
			c.say = "must add up to a finite number"
		}
		refuses(t, c.name, writeFrame(1, body), c.say)
	}
}

// A body has one classifier, though every kind has a place of its own.
func TestUnmarshalRefusesOtherThanOneClassifier(t *testing.T) {
	for n, edit := range map[string]func(*body){
		"got 0": func(b *body) { b.Votes = nil },
		"got 2": func(b *body) { b.Logistic = &Logistic{Coef: []float64{1, 0}} },
	} {
		b, err := toBody(voted())
		if err != nil {
			t.Fatal(err)
		}
		edit(b)
		raw, err := b.encodeText()
		if err != nil {
			t.Fatal(err)
		}
		refuses(t, n, writeFrame(1, raw),
			"exactly one of votes, logistic, additive, linear, ballots, additive_levels and grids must be given ("+n)
	}
}

func TestMarshalRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*Model)
		say  string
	}{
		{"no learner", func(m *Model) { m.Learner = "" }, "learner must be a name"},
		{"no schema", func(m *Model) { m.Schema = nil }, "schema must be given"},
		{"no classifier", func(m *Model) { m.Classifier = nil }, "a classifier must be given"},
		{"no members", func(m *Model) { m.Classifier.(*Votes).Members = nil }, "members must number 1"},
		{"three labels", func(m *Model) { m.Schema.Label.Levels = append(m.Schema.Label.Levels, schema.Level{Value: "x"}) },
			"label must have 2 classes"},
		{"NaN vote", func(m *Model) { m.Classifier.(*Votes).Members[1].Vote = math.NaN() }, "finite"},
		{"infinite vote", func(m *Model) { m.Classifier.(*Votes).Members[1].Vote = math.Inf(-1) }, "finite"},
		{"NaN coefficient", func(m *Model) { m.Classifier.(*Votes).Members[1].Coef[2] = math.NaN() },
			"coefficient 2 must be in [-1, 1]"},
		{"NaN bias", func(m *Model) { m.Classifier.(*Votes).Members[1].Bias = math.NaN() }, "bias must be in [-1, 1]"},
		{"unused space", func(m *Model) { m.Spaces = append(m.Spaces, m.Spaces[0]) }, "space 2 must be used"},
		{"unused column", func(m *Model) {
			m.Spaces[0].Columns = []string{"age"}
			m.Classifier.(*Votes).Members[0].Coef, m.Classifier.(*Votes).Members[2].Coef = []float64{1}, []float64{1}
		}, `column "smoker" must be used`},
		{"ignored column", func(m *Model) { m.Schema.Columns[0].Role = schema.Ignored },
			`column "age" must be in the model's schema and not ignored`},
		{"whose the training rows were", func(m *Model) { m.Schema.Person = &schema.Person{Column: "id", Rows: 1} },
			"parts and pairs must not be given"},
		{"parts of the training table", func(m *Model) { m.Schema.Parts = "ward" }, "parts and pairs must not be given"},
		{"pairs of the training schema", func(m *Model) { m.Schema.Pairs = [][2]int{{0, 1}} },
			"parts and pairs must not be given"},
		{"bins that follow from rows", func(m *Model) { m.Schema.Columns[0].Quantiles = true },
			`bins and groups must not be given for column "age"`},
		{"whole numbers for bins", func(m *Model) { m.Schema.Columns[0].Integer = true }, "bins and groups must not be given"},
		{"groups of levels", func(m *Model) { m.Schema.Columns[2].Groups = []schema.Group{{Name: "g", Levels: []int{0}}} },
			"bins and groups must not be given"},
		{"monotone votes", func(m *Model) { m.Schema.Columns[0].Monotone = schema.Increasing },
			`monotone must not be given for column "age"`},
		{"no unit", func(m *Model) { m.Privacy.Unit = "" }, "unit and statement must be given"},
		{"no statement", func(m *Model) { m.Privacy.Statement = "" }, "unit and statement must be given"},
		{"no claim", func(m *Model) { m.Privacy.Claim = "" }, "claim and what is not protected must be given"},
		{"all protected", func(m *Model) { m.Privacy.Unprotected = nil }, "claim and what is not protected must be given"},
		{"nameless release", func(m *Model) { m.Privacy.Bill[1].Release = "" }, "line 1 of the bill must name"},
		{"bill one nano short", func(m *Model) { m.Privacy.Bill[1].Epsilon-- }, "the bill must add up to epsilon = 0.16"},
		{"Gaussian noise at a pure price", func(m *Model) {
			m.Privacy.Bill[1].Epsilon, m.Privacy.Bill[1].Rho = dp.Infinite,
				1
		}, "the bill must add up to epsilon = 0.16"},
		{"no price at all", func(m *Model) { m.Privacy.Delta, m.Privacy.Bill[1].Epsilon = 1, dp.Infinite }, "or have a rho"},
		{"negative delta", func(m *Model) { m.Privacy.Delta = -1 }, "delta must be at least 0"},
		{"delta of one", func(m *Model) { m.Privacy.Delta = dp.Femto }, "delta must be at least 0"},
		{"delta without epsilon", func(m *Model) { m.Privacy.Delta, m.Privacy.Epsilon = 1, 0 }, "must come with an epsilon"},
		{"line break", func(m *Model) { m.Privacy.Unit = "a\nb" }, "without control characters"},
		{"text turned around", func(m *Model) { m.Privacy.Overrides = []string{"a\u202eb"} }, "without control characters"},
		{"not UTF-8", func(m *Model) { m.Privacy.Bill[0].Release = "\xff" }, "without control characters"},
		{"schema that cannot be read", func(m *Model) { m.Schema.Columns[0].Upper = m.Schema.Columns[0].Lower },
			"cannot be read back"},
	} {
		if _, err := Marshal(change(voted(), c.edit)); err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: got %v, want an error that says %q", c.name, err, c.say)
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.MaxFloat64} {
		m := change(fitted(), func(m *Model) { m.Classifier.(*Logistic).Bias, m.Classifier.(*Logistic).Coef[0] = x, x })
		if _, err := Marshal(m); err == nil || !strings.Contains(err.Error(), "finite") {
			t.Errorf("logistic coefficients of %g: got %v", x, err)
		}
	}
}

// allocated returns the bytes that reading file takes, garbage included.
func allocated(file []byte) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	Unmarshal(file)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// No text makes a reader allocate much more than its own length, whatever
// sizes it names or implies.
func TestUnmarshalMemoryIsBoundedByInput(t *testing.T) {
	_, raw, err := readFrame(mustMarshal(t, voted()))
	if err != nil {
		t.Fatal(err)
	}
	swap := func(old, new string) []byte {
		if !bytes.Contains(raw, []byte(old)) {
			t.Fatalf("%q is not in the body", old)
		}
		return writeFrame(1, bytes.Replace(raw, []byte(old), []byte(new), 1))
	}
	const size = 1 << 20
	members := `"members": [`
	levels := `"` + strings.Repeat("x", 10_000) + `"`
	for i := range 1000 {
		levels += fmt.Sprintf(`, "%d"`, i)
	}
	wide := strings.NewReplacer(
		`"north", "south"`, levels, // a space of a thousand features, ...
		// ... four thousand times
		`"spaces": [`, `"spaces": [`+strings.Repeat(`{"encoding": "onehot", "columns": ["ward", "bill"]}, `, 4000),
	).Replace(string(raw))
	for name, file := range map[string][]byte{
		"empty members":           swap(members, members+strings.Repeat("{},", size/3)),
		"many coefficients":       swap(`"coef": [0.5, -1]`, `"coef": [0.5`+strings.Repeat(", 0", size/3)+"]"),
		"empty members, laid out": swap(members, members+strings.Repeat("\n        {\n          \n        },", size/32)),
		"many numbers in the schema": swap(`"number": {`, `"number": {`+"\n            "+`"x": [0`+
			strings.Repeat(", 0", size/3)+"],"),
		"many levels in the schema": swap(`"levels": ["north"`, `"levels": [""`+strings.Repeat(`, ""`, size/4)+`, "north"`),
		"deep lists": swap(members, members+strings.Repeat("[", 9000)+strings.Repeat("{},", 1000)+"0"+
			strings.Repeat("]", 9000)+","),
		"endless lists":      swap(members, members+strings.Repeat("[", size)),
		"many releases":      swap(`"bill": [`, `"bill": [`+strings.Repeat("{},", size/3)),
		"long text":          swap(`"learner": "brc"`, `"learner": "`+strings.Repeat("x", size)+`"`),
		"escaped text":       swap(`"learner": "brc"`, `"learner": "`+strings.Repeat(`\u0001`, size/6)+`"`),
		"spaces upon spaces": writeFrame(1, []byte(wide)),
		"no frame":           bytes.Repeat([]byte("{"), size),
		"length only": []byte(frameVersion + "1" + frameBytes + "999999999" + frameSum +
			strings.Repeat("0", 64) + frameBody + "{}" + frameEnd),
	} {
		// In canonical form the densest text costs ten times itself. The schema's
		// own reader takes more, and stops at a size of its own.
		times := 64 // half as much again under the race detector
		if strings.Contains(name, "schema") {
			times = 128
		}
		if got, most := allocated(file), uint64(times*len(file)+1<<18); got > most {
			t.Errorf("%s: reading %d bytes allocated %d, want at most %d", name, len(file), got, most)
		}
	}
}

// A space whose names would fill the memory is refused before it is built, in
// a model of any origin.
func TestNamesAreCounted(t *testing.T) {
	m := voted()
	m.Schema.Columns[2].Name = strings.Repeat("x", 1<<14)
	m.Schema.Columns[2].Levels = make([]schema.Level, 1<<15)
	m.Spaces[1].Columns = []string{m.Schema.Columns[2].Name}
	if _, err := m.Bind(m.Schema); err == nil || !strings.Contains(err.Error(), "names of all features") {
		t.Errorf("got %v", err)
	}
}

func TestLoadRefusesLongFiles(t *testing.T) {
	path := t.TempDir() + "/long.json"
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, maxFile+1); err != nil { // sparse: takes no room
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "at most 67108864 bytes") {
		t.Errorf("got %v", err)
	}
	if _, err := Load(path + "x"); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a missing file is not named: %v", err)
	}
}

// The same statement in nil and in empty lists is the same file.
func TestNilAndEmptyAreTheSameBytes(t *testing.T) {
	a, b := fitted(), fitted()
	a.Privacy.Bill, a.Privacy.Unprotected = nil, nil
	b.Privacy.Bill, b.Privacy.Unprotected = []dp.Event{}, []string{}
	if !slices.Equal(mustMarshal(t, a), mustMarshal(t, b)) {
		t.Error("nil and empty lists give different files")
	}
}

// A space without columns, a classifier that is a bias alone, is a space.
func TestSpaceWithoutColumns(t *testing.T) {
	m := voted()
	m.Spaces = append(m.Spaces, SpaceSpec{Encoding: feature.Ordinal})
	m.Classifier.(*Votes).Members = append(m.Classifier.(*Votes).Members,
		Member{Space: 2, Vote: 1000, Threshold: feature.Threshold{Bias: -1}})
	back, err := Unmarshal(mustMarshal(t, m))
	if err != nil {
		t.Fatal(err)
	}
	got, err := back.Scores(patients(rand.New(rand.NewPCG(17, 18)), m.Schema, 3), 3)
	if err != nil || slices.Max(got) > 0.01 {
		t.Errorf("got %v, %v; want the bias to win", got, err)
	}
}
