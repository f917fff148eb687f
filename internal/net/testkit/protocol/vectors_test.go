// SPDX-License-Identifier: Apache-2.0

// Package protocol_test writes the vectors of docs/protocol.md and holds the code
// against them: what another implementation must write, from truth and randomness to
// bytes.
package protocol_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	owning "github.com/discreet-dp/discreet/internal/net/federated/answer"
	core "github.com/discreet-dp/discreet/internal/net/federated/collect"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/owner/spending"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

var update = flag.Bool("update", false, "write the vectors of the protocol anew")

const (
	vectorsFile = "vectors.json"
	lawsFile    = "laws.json"
)

// taskVectors are the messages of one task as another implementation must write
// them, from truth and randomness to bytes.
type taskVectors struct {
	Announcement string        `json:"announcement"`     // without a list of owners
	Listed       string        `json:"listed,omitempty"` // the same with one: owners' keys, in order
	Task         string        `json:"task"`             // its bytes, as the announcement holds them, with a line break
	TaskID       string        `json:"task_id"`          // hexadecimal
	Broadcasts   []string      `json:"broadcasts"`
	Owners       []ownerVector `json:"owners"`
}

type ownerVector struct {
	Seed   string            `json:"seed"` // of the Ed25519 key, hexadecimal
	Name   string            `json:"name"`
	Slot   int               `json:"slot"`
	Ticket string            `json:"ticket"`
	Ask    int               `json:"ask"`
	Record map[string]string `json:"record"` // the cells of the owner's one record
	truth
	Source    string `json:"source"` // whose words the report is drawn from
	Words     []int  `json:"words"`
	Report    string `json:"report"`    // hexadecimal
	Signature string `json:"signature"` // hexadecimal
}

// truth is what a law perturbs.
type truth struct {
	Cell   int     `json:"cell"`
	Weight float64 `json:"weight"`
}

// wordSource is a source of the vectors: word i is the first 8 bytes, little-endian,
// of SHA-256("discreet vector words 1" ‖ 0x00 ‖ name ‖ i in 8 bytes, little-endian).
type wordSource struct {
	name  string
	drawn uint64
}

func (s *wordSource) Uint64() uint64 {
	h := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte("discreet vector words 1\x00"+s.name), s.drawn))
	s.drawn++
	return binary.LittleEndian.Uint64(h[:])
}

func (*wordSource) Seeded() bool { return true }

// truths notes what passes an exit and lets it be perturbed.
type truths struct{ last truth }

func (*truths) Numbers(string, mech.Mechanism, []mech.Ratio) []float64 { return nil }
func (*truths) Choice(string, mech.Selector, []mech.Ratio) int         { return -1 }

func (t *truths) Report(_ string, l response.Priced, values []mech.Ratio) response.Report {
	switch l.(type) {
	case response.CellLaw:
		t.last = truth{int(values[0].Num), values[1].Float()}
	case response.VectorLaw:
		for at, v := range values {
			if v.Num != 0 {
				t.last = truth{at, v.Float()}
			}
		}
	}
	return nil
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func vectorKey(i int) ed25519.PrivateKey {
	seed := sha256.Sum256(fmt.Appendf(nil, "discreet vector owner %d", i))
	return ed25519.NewKeyFromSeed(seed[:])
}

// vectorSchema has what a reader may stumble over.
const vectorSchema = `
name: "für <owners> & \"others\"\u2028 too"
unit: one invented pet
relation: replace-one
max_epsilon: 2.5
file: {delimiter: ",", quote: "\"", header: true, trim: true, missing: ["?", "-1"]}
columns:
  - {name: weight, role: private, number: {lower: 0.00002, upper: 2000000, transform: log1p, ` +
	`edges: [0.5, 5, 50], default: 4}}
  - {name: age, role: public, number: {lower: -1, upper: 30, default: 3}}
  - {name: food, role: private, label: {levels: [fish, {value: meat, aliases: [beef]}, hay], default: hay}}
  - {name: years, role: private, number: {lower: 0, upper: 30, default: 3}}
  - {name: kind, role: private, category: {levels: [cat, {value: dog, aliases: [hound, "d<g"]}, ` +
	`"ca\"t"], missing: true}}
  - {name: town, role: public, category: {levels: ["1", "2"]}}
  - {name: note, role: ignored}
derived:
  - {name: oldest, largest: [age, years]}
  - {name: usual, mean: [years, age], edges: [2, 11.25]}
`

// vectorRows are the cells of owner i's record.
func vectorRows(owners int) []map[string]string {
	cells := map[string][]string{
		"weight": {"3.25", "0", "?", "1e9", "4.99999", "5", " 51 "},
		"age":    {"-1", "+.5e1", "12", "old", "30.5"},
		"food":   {"hay", "fish", "beef", "meat", "stones", "fish"},
		"years":  {"", "0", "29.75", "7"},
		"kind":   {"cat", "hound", "?", "d<g", "ca\"t", "rabbit", "cat", " dog\t"},
		"town":   {"1", "2", "-1"},
		"note":   {"x"},
	}
	rows := make([]map[string]string, owners)
	for i := range rows {
		rows[i] = map[string]string{}
		for name, c := range cells {
			rows[i][name] = c[(i+i/len(c))%len(c)]
		}
	}
	return rows
}

// vectorTable is a file of rows.
func vectorTable(rows []map[string]string) string {
	names := []string{"weight", "age", "food", "years", "kind", "town", "note"}
	var file strings.Builder
	file.WriteString(strings.Join(names, ",") + "\n")
	for _, row := range rows {
		for j, name := range names {
			if j > 0 {
				file.WriteByte(',')
			}
			cell := row[name]
			if strings.Contains(cell, `"`) {
				cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
			}
			file.WriteString(cell)
		}
		file.WriteByte('\n')
	}
	return file.String()
}

// forgetful is a book that keeps nothing.
type forgetful struct{}

func (forgetful) Commit(context.Context, []owning.Given) error { return nil }

// taskVector runs one task among owners whose keys and randomness are known.
func taskVector(t *testing.T, p core.Params, list bool) taskVectors {
	t.Helper()
	task, err := core.Plan(p)
	must(t, err)
	task.WeightCap = 3
	ann := &tasks.Announcement{Task: task, Minimum: 2, Slot: time.Hour, Quiet: time.Second,
		Ends: time.Unix(2_000_000_000, 0)}
	text, err := ann.Text()
	must(t, err)
	again, err := tasks.Parse(text)
	must(t, err)
	bytesOfTask, err := again.Task.Text()
	must(t, err)
	id, err := task.Digest()
	must(t, err)
	name := func(i int) string { return spending.Keys(vectorKey(i)).Name(0) }
	v := taskVectors{Announcement: string(text), Task: string(bytesOfTask), TaskID: id.String()}
	if list {
		var keys strings.Builder
		for i := range p.Owners {
			keys.WriteString(name(i) + "\n")
		}
		roster, err := tasks.ParseRoster([]byte(keys.String()))
		must(t, err)
		listed := *ann
		listed.Roster = roster.Digest()
		withList, err := listed.Text()
		must(t, err)
		v.Listed = string(withList)
	}
	terms, err := owning.Accept(bytesOfTask, owning.Caps{Epsilon: p.Epsilon})
	must(t, err)
	rows := vectorRows(p.Owners)
	recs, err := terms.Bind(readTable(t, p.Schema, vectorTable(rows)))
	must(t, err)
	owners, err := owning.NewOwners(recs, p.Owners, name, forgetful{})
	must(t, err)
	for slot := range task.Slots() {
		broadcast, err := vectorRound(t, task, slot).Text(task)
		must(t, err)
		v.Broadcasts = append(v.Broadcasts, string(broadcast))
		round, err := terms.Read(broadcast)
		must(t, err)
		reporter := round.Reporter(owners)
		for i := range p.Owners {
			key := vectorKey(i)
			place := owners.Place(i)
			if place.Slot != slot {
				continue
			}
			seen, source := new(truths), fmt.Sprintf("%s %s owner %d", p.Classifier, p.Mechanism, i)
			given, err := reporter.Report(t.Context(), []int32{int32(i)}, mech.NewTapedExit(&wordSource{name: source}, seen))
			must(t, err)
			raw := given[0].Report
			r, err := wire.ParseReport(raw)
			must(t, err)
			o := ownerVector{
				Seed: fmt.Sprintf("%x", key.Seed()), Name: r.Owner, Slot: slot, Ticket: strconv.FormatUint(place.Ticket, 10),
				Ask:    r.Ask,
				Record: rows[i], truth: seen.last, Source: source,
				Report: fmt.Sprintf("%x", raw), Signature: fmt.Sprintf("%x", ed25519.Sign(key, tasks.Signable(raw))),
			}
			for _, w := range r.Words {
				o.Words = append(o.Words, int(w))
			}
			v.Owners = append(v.Owners, o)
		}
	}
	return v
}

// vectorRound is what might be broadcast for a slot: members that weigh records, and
// asks that join bins. What a learner would broadcast is no matter of the protocol.
func vectorRound(t *testing.T, task *wire.Task, slot int) *wire.Round {
	t.Helper()
	id, err := task.Digest()
	must(t, err)
	r := &wire.Round{Task: id.String(), Slot: slot}
	if !r.IsError() {
		for q := range task.Questions {
			ask := wire.Ask{Question: q}
			if slot > 0 && q%2 == 0 {
				for b := range task.Cells(q) {
					ask.Groups = append(ask.Groups, b/2)
				}
			}
			r.Asks = append(r.Asks, ask)
		}
	}
	for number := range (slot + 1) / 2 {
		r.Members = append(r.Members, vectorMember(t, task, number))
	}
	if r.IsError() {
		r.Members[len(r.Members)-1].Vote = 0 // a candidate
	}
	return r
}

// vectorMember is one of an ensemble.
func vectorMember(t *testing.T, task *wire.Task, number int) wire.Member {
	t.Helper()
	at := number
	next := func() float64 {
		at++
		return float64(at*at%23-11) / 8
	}
	row := func(n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = next()
		}
		return out
	}
	K := task.Schema.Classes()
	m := wire.Member{Vote: 0.3125}
	if task.Classifier == wire.Centroid {
		space, err := task.Space()
		must(t, err)
		m.Argmax = &wire.Argmax{Bias: row(K)}
		for range K {
			m.Argmax.Coef = append(m.Argmax.Coef, row(space.Width()))
		}
		return m
	}
	for q := number; q < len(task.Questions); q += 3 {
		s := wire.Shape{Question: q}
		for range task.Cells(q) {
			s.Leaves = append(s.Leaves, row(K))
		}
		m.Shapes = append(m.Shapes, s)
	}
	return m
}

// golden holds v against a file, which -update writes.
func golden(t *testing.T, path string, v any) {
	t.Helper()
	var got bytes.Buffer
	e := json.NewEncoder(&got)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	must(t, e.Encode(v))
	if *update {
		must(t, os.WriteFile(path, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if !bytes.Equal(roundWeights(got.Bytes()), roundWeights(want)) {
		t.Errorf("%s holds other bytes; with -update it is written anew, which other implementations will notice", path)
	}
}

var weightDigits = regexp.MustCompile(`("weight": \d\.\d{12})\d+`)

// roundWeights drops a weight's last digits, which are those of a machine's exp.
func roundWeights(text []byte) []byte { return weightDigits.ReplaceAll(text, []byte("$1")) }

// TestVectors holds tasks of every classifier and law against
// vectors.json, which -update writes.
func TestVectors(t *testing.T) {
	s, err := schema.Parse([]byte(vectorSchema))
	must(t, err)
	var out []taskVectors
	for _, one := range []struct {
		classifier wire.Classifier
		mechanism  string
	}{
		{wire.Stump, ""}, {wire.Logistic, "oue"}, {wire.Centroid, "grr"}, {wire.Centroid, "hybrid"},
		{wire.Logistic, "piecewise"}, {wire.Stump, "duchi"}, {wire.Stump, "laplace"},
	} {
		p := core.Params{Schema: s, Classifier: one.classifier, Mechanism: one.mechanism, Epsilon: 2 * dp.Nano, Owners: 30,
			Rounds: 2, Nonce: strings.Repeat("5a", 16)}
		out = append(out, taskVector(t, p, len(out) == 0))
	}
	golden(t, vectorsFile, out)
}

// lawVectors are a law's integers and what is drawn by it.
type lawVectors struct {
	Mechanism string       `json:"mechanism"` // as in a task, whose law may be another one
	Law       string       `json:"law"`
	Epsilon   dp.Epsilon   `json:"epsilon_nano"`
	Cells     int          `json:"cells"`
	Draws     []drawVector `json:"draws"`
}

type drawVector struct {
	truth
	Source string `json:"source"`
	Drawn  uint64 `json:"drawn"` // how many of its words
	Words  []int  `json:"words"`
}

// TestLawVectors holds every law at several sizes against testkit/protocol/laws.json,
// which -update writes.
func TestLawVectors(t *testing.T) {
	var out []lawVectors
	for _, mechanism := range append([]string{""}, append(response.CellLaws(), response.VectorLaws()...)...) {
		for _, size := range []struct {
			eps   dp.Epsilon
			cells int
		}{{dp.Nano, 2}, {dp.Nano / 3, 40}, {7 * dp.Nano, 70}, {11*dp.Nano + 1, 9}, {2 * dp.Nano, 128}} {
			task := &wire.Task{Mechanism: mechanism, Epsilon: size.eps,
				Schema: &schema.Schema{Label: schema.Label{Levels: make([]schema.Level, 1)}}}
			law, err := task.Law(size.cells)
			must(t, err)
			v := lawVectors{Mechanism: mechanism, Law: law.Name(), Epsilon: size.eps, Cells: size.cells}
			for i, weight := range []float64{1, 0, 0.625, 0.1} {
				d := drawVector{truth: truth{i * (size.cells - 1) / 3, weight},
					Source: fmt.Sprintf("%s %d %d %d", mechanism, size.eps, size.cells, i)}
				src := &wordSource{name: d.Source}
				exit := mech.NewExit(src)
				var r response.Report
				switch law := law.(type) {
				case response.CellLaw:
					r, err = exit.PerturbCell("vector", law, d.Cell, d.Weight)
				case response.VectorLaw:
					values := make([]float64, size.cells)
					values[d.Cell] = d.Weight
					r, err = exit.Perturb("vector", law, values)
				}
				must(t, err)
				for _, w := range r {
					d.Words = append(d.Words, int(w))
				}
				d.Drawn = src.drawn
				v.Draws = append(v.Draws, d)
			}
			out = append(out, v)
		}
	}
	golden(t, lawsFile, out)
}
