// SPDX-License-Identifier: Apache-2.0

package protocol_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

const (
	addendsFile = "addends.json"
	votesFile   = "votes.json"
)

// addendVectors are what owners add to a secret sum of one size.
type addendVectors struct {
	Epsilon dp.Epsilon     `json:"epsilon_nano"`
	Dim     int            `json:"dim"`
	Cells   int            `json:"cells"` // that an owner is in at most
	Owners  int            `json:"owners"`
	Honest  int            `json:"honest"`
	Range   uint64         `json:"range"`
	Draws   []addendVector `json:"draws"`
}

type addendVector struct {
	Cells  []int    `json:"cells"`
	Weight float64  `json:"weight"`
	Source string   `json:"source"`
	Drawn  uint64   `json:"drawn"`
	Addend []uint64 `json:"addend"`
}

// TestAddendVectors holds owners' addends against addends.json, which -update writes.
func TestAddendVectors(t *testing.T) {
	var out []addendVectors
	for _, size := range []struct {
		eps                        dp.Epsilon
		dim, cells, owners, honest int
	}{{2 * dp.Nano, 12, 2, 100, 40}, {dp.Nano / 10, 9, 1, 2, 1}, {7*dp.Nano + 1, 20, 5, 90_000, 59_999}} {
		law, err := response.CellAddendFor(size.eps, size.dim, size.cells, size.owners, size.honest)
		must(t, err)
		v := addendVectors{Epsilon: size.eps, Dim: size.dim, Cells: size.cells, Owners: size.owners, Honest: size.honest,
			Range: law.Top() + 1}
		for i, weight := range []float64{1, 0.625, 0} {
			d := addendVector{Weight: weight, Source: fmt.Sprintf("addend %d %d", size.dim, i)}
			for c := range size.cells {
				d.Cells = append(d.Cells, c*(size.dim/size.cells)+i)
			}
			src := &wordSource{name: d.Source}
			d.Addend, err = mech.NewExit(src).CellAddend("vector", law, d.Cells, weight)
			must(t, err)
			d.Drawn = src.drawn
			v.Draws = append(v.Draws, d)
		}
		out = append(out, v)
	}
	golden(t, addendsFile, out)
}

// voteVectors are what a party hands in about one table, and what it adds.
type voteVectors struct {
	Schema string          `json:"schema"` // in canonical JSON
	Table  string          `json:"table"`  // the auxiliary table's one file
	Seed   string          `json:"seed"`   // of the key that signs
	Votes  [][]float64     `json:"votes"`  // of each row, a number for each class
	Files  []voteFile      `json:"files"`
	Sums   []partialVector `json:"sums"`
}

type voteFile struct {
	Kind multiparty.Kind `json:"kind"`
	File string          `json:"file"` // hexadecimal
}

// partialVector is what the party adds for its votes by probabilities.
type partialVector struct {
	Params multiparty.Params `json:"params"`
	Honest int               `json:"honest"`
	Range  uint64            `json:"range"`
	Source string            `json:"source"`
	Drawn  uint64            `json:"drawn"`
	Addend []uint64          `json:"addend"`
}

// TestVoteVectors holds votes files and parties' addends against votes.json, which
// -update writes.
func TestVoteVectors(t *testing.T) {
	var out []voteVectors
	for _, text := range []string{vectorSchema,
		strings.Replace(vectorSchema, "levels: [fish, {value: meat, aliases: [beef]}, hay], default: hay",
			"levels: [fish, hay], positive: fish, default: hay", 1)} {
		s, err := schema.Parse([]byte(text))
		must(t, err)
		out = append(out, voteVector(t, s))
	}
	golden(t, votesFile, out)
}

func voteVector(t *testing.T, s *schema.Schema) voteVectors {
	t.Helper()
	const rows = 20
	file := vectorTable(vectorRows(rows))
	text, err := s.MarshalJSON()
	must(t, err)
	key := vectorKey(0)
	v := voteVectors{Schema: string(text), Table: file, Seed: fmt.Sprintf("%x", key.Seed())}
	tab := readTable(t, s, file)
	for i := range rows {
		v.Votes = append(v.Votes, []float64{float64(i%5) + 0.25, float64(i % 3), 1}[:s.Classes()])
	}
	digest := sha256.Sum256([]byte(file))
	aux := &multiparty.Auxiliary{Cols: tab.Cols, Rows: rows, Digest: sha256.Sum256(digest[:])}
	var votes []byte
	for _, kind := range []multiparty.Kind{multiparty.Labels, multiparty.Probabilities} {
		votes = castVector(t, multiparty.Header{Party: "mary", Kind: kind, Levels: multiparty.Levels(s), Rows: rows,
			Aux: aux.Digest, Model: sha256.Sum256([]byte("a rule"))}, v.Votes, key)
		v.Files = append(v.Files, voteFile{kind, fmt.Sprintf("%x", votes)})
	}
	for _, enc := range []feature.Encoding{feature.OneHot, feature.Ordinal} {
		for _, shape := range []multiparty.Shape{multiparty.Rows, multiparty.Ball} {
			p := multiparty.Defaults()
			p.Epsilon, p.Parties, p.Encoding, p.Shape = 3*dp.Nano, 50, enc, shape
			pl, err := p.Plan(s, rows)
			must(t, err)
			x := partialVector{Params: p, Honest: 30, Source: fmt.Sprintf("party %s %s %d", enc, shape, s.Classes())}
			secret, err := pl.Secret(t.Context(), aux, x.Honest)
			must(t, err)
			src := &wordSource{name: x.Source}
			x.Addend, err = secret.Addend(t.Context(), bytes.NewReader(votes), mech.NewExit(src))
			must(t, err)
			x.Range, x.Drawn = secret.Law.Top()+1, src.drawn
			v.Sums = append(v.Sums, x)
		}
	}
	return v
}

// castVector writes a votes file.
func castVector(t *testing.T, h multiparty.Header, votes [][]float64, key ed25519.PrivateKey) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := multiparty.NewWriter(&out, h, key)
	must(t, err)
	for _, p := range votes {
		if h.Kind == multiparty.Labels {
			err = w.Labels([]uint8{uint8(feature.ArgMax(p))})
		} else {
			err = w.Probabilities(p)
		}
		must(t, err)
	}
	must(t, w.Close())
	return out.Bytes()
}

// readTable reads a file of rows.
func readTable(t *testing.T, s *schema.Schema, file string) *dataset.Table {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.csv")
	must(t, os.WriteFile(path, []byte(file), 0o600))
	tab, err := dataset.Read(t.Context(), s, dataset.Options{}, path)
	must(t, err)
	return tab
}
