// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// row is one room's rule. docs/decisions/0002-rooms.md tells the same table
// with its reasons; checkRoomPage holds the two together.
type row struct {
	room  string   // folder; a last element * stands for any one name
	words string   // the rule, for the person who broke it
	rooms []string // rooms it may import, * as above
	libs  []string // modules it may import
	never []string // rooms it may not reach, even through others
	std   []string // standard packages it may not import
}

var (
	// impure is what a core may not touch: time, files and the network come in
	// as arguments.
	impure = []string{"os", "os/exec", "io/ioutil", "syscall", "net", "net/http", "log", "log/slog", "time"}
	rows   = []string{"dataset", "engine/memory", "census"}
	seeds  = []string{"rng/replay"}
	// contract is what any learner may import.
	contract = []string{"dp", "rng", "schema", "column", "feature", "engine", "mech", "accounting", "model", "learn", "internal/opt"}
	gonum    = "gonum.org/v1/gonum"
)

const learners = "a learner knows the contract and asks a table for statistics; it never sees rows, files, the network, the clock or seeds, and no sibling but those its row names"

// table is the architecture. Rooms without a row fail.
var table = []row{
	{room: "dp", words: "dp is vocabulary: the standard library only, never data or randomness",
		std: append([]string{"crypto/rand"}, impure...)},
	{room: "rng", words: "rng is secure bits: the standard library only, never seeds",
		never: seeds},
	{room: "rng/replay", words: "rng/replay is the only seeded source and knows only rng",
		rooms: []string{"rng"}},
	{room: "column", words: "column is the shape of coded cells: the standard library only, never where cells come from",
		std: impure},
	{room: "schema", words: "schema says what is public: dp and a YAML reader, never rows",
		rooms: []string{"dp"}, libs: []string{"github.com/goccy/go-yaml"}, never: rows},
	{room: "feature", words: "feature turns codes into numbers: schema and column, never where rows live",
		rooms: []string{"dp", "schema", "column"}, never: rows, std: impure},
	{room: "dataset", words: "dataset reads rows: schema, column and decoders of files, never noise or accounts",
		rooms: []string{"dp", "schema", "column"},
		libs:  []string{"github.com/parquet-go/parquet-go", "github.com/klauspost/compress", "github.com/andybalholm/brotli", "github.com/pierrec/lz4/v4"},
		never: []string{"mech", "learn", "rng", "rng/replay"}},
	{room: "engine", words: "engine is the questions: schema, feature, column; never noise, accounts or where rows live",
		rooms: []string{"dp", "schema", "feature", "column"}, libs: []string{gonum}, never: append([]string{"mech", "learn", "rng"}, rows...), std: impure},
	{room: "engine/memory", words: "engine/memory answers from dataset's columns, never with noise",
		rooms: []string{"dp", "schema", "feature", "column", "engine", "dataset"}, never: []string{"mech", "learn", "rng"}},
	{room: "local/response", words: "local/response is the public arithmetic of reports: dp only, never randomness or rows",
		rooms: []string{"dp"}, never: append([]string{"rng", "mech"}, append(rows, seeds...)...), std: append([]string{"crypto/rand", "math/rand/v2"}, impure...)},
	{room: "local/secsum", words: "local/secsum adds up what nobody shows: dp, rng and circl, never what the numbers mean",
		rooms: []string{"dp", "rng"}, libs: []string{"github.com/cloudflare/circl"}, never: append([]string{"mech", "learn", "schema"}, append(rows, seeds...)...), std: impure},
	{room: "mech", words: "mech is noise and its price: dp, rng and the laws of reports, never rows or accounts",
		rooms: []string{"dp", "rng", "local/response"}, never: append([]string{"schema", "column", "engine", "learn"}, append(rows, seeds...)...), std: impure},
	{room: "local/wire", words: "local/wire is messages: what they mean and the arithmetic both sides repeat, never rows, randomness or either side",
		rooms: []string{"dp", "schema", "feature", "local/response"}, never: append([]string{"rng", "mech", "model", "learn", "local/owner", "local/aggregator"}, append(rows, seeds...)...), std: impure},
	{room: "local/owner", words: "local/owner is one owner's answers: wire, the door and its own rows, never the aggregator, files, the network, the clock or seeds",
		rooms: []string{"dp", "rng", "schema", "column", "feature", "dataset", "mech", "local/response", "local/wire"}, never: append([]string{"model", "learn", "local/aggregator"}, seeds...), std: impure},
	{room: "local/aggregator", words: "local/aggregator adds up reports: wire, response and model, never a row, a perturber, randomness or the owner's code",
		rooms: []string{"dp", "schema", "column", "feature", "model", "local/response", "local/wire"}, libs: []string{gonum}, never: append([]string{"rng", "mech", "learn", "engine", "local/owner"}, append(rows, seeds...)...), std: impure},
	{room: "local/printed", words: "local/printed is Wang and Chang to the letter, in one process, for comparison: never the repaired protocol, files, the network, the clock or seeds",
		rooms: []string{"dp", "rng", "schema", "column", "feature", "dataset", "mech", "model", "local/response"}, libs: []string{gonum}, never: append([]string{"learn", "ledger", "local/wire", "local/owner", "local/aggregator"}, seeds...), std: impure},
	{room: "local/simulate", words: "local/simulate plays both sides in one process, through wire's bytes; never files, the network, the clock or seeds",
		rooms: []string{"dp", "rng", "schema", "column", "feature", "dataset", "mech", "model", "local/response", "local/wire", "local/owner", "local/aggregator"}, libs: []string{gonum}, never: append([]string{"learn", "ledger"}, seeds...), std: impure},
	{room: "accounting", words: "accounting is what a composition costs: dp and gonum, never mechanisms, rows or randomness",
		rooms: []string{"dp"}, libs: []string{gonum}, never: append([]string{"mech", "learn", "rng", "schema", "engine", "model"}, append(rows, seeds...)...), std: append([]string{"crypto/rand"}, impure...)},
	{room: "mech/mechtest", words: "mech/mechtest watches the door in tests: mech's list",
		rooms: []string{"dp", "rng", "rng/replay", "local/response", "mech", "internal/stattest"}, never: rows},
	{room: "model", words: "model predicts and serialises: dp, schema, feature, column; never randomness, training rows or accounts",
		rooms: []string{"dp", "schema", "feature", "column"}, never: append([]string{"rng", "mech", "learn", "engine"}, rows...)},
	{room: "learn", words: "learn is the contract: dp, schema, engine, mech, model; never a concrete learner",
		rooms: []string{"dp", "schema", "feature", "engine", "mech", "model"}, never: append([]string{"learn/*"}, append(rows, seeds...)...), std: impure},
	{room: "learn/*", words: learners,
		rooms: contract, libs: []string{gonum}, never: append(rows, seeds...), std: impure},
	{room: "learn/brc", words: learners + " (random classifiers; logistic for the public refits, labeldp where their label is private)",
		rooms: append([]string{"learn/random", "learn/logistic", "learn/labeldp"}, contract...), libs: []string{gonum}, never: append(rows, seeds...), std: impure},
	{room: "learn/additive", words: learners + " (logistic for the free public part)",
		rooms: append([]string{"learn/logistic"}, contract...), libs: []string{gonum}, never: append(rows, seeds...), std: impure},
	{room: "learn/people", words: learners + " (random classifiers; logistic for the free public part)",
		rooms: append([]string{"learn/random", "learn/logistic"}, contract...), libs: []string{gonum}, never: append(rows, seeds...), std: impure},
	{room: "learn/pate", words: learners + " (logistic for students and printed teachers)",
		rooms: append([]string{"learn/logistic"}, contract...), libs: []string{gonum}, never: append(rows, seeds...), std: impure},
	{room: "learn/adaboost", words: learners + " (its weak learners)",
		rooms: append([]string{"learn/random", "learn/logistic", "learn/stump", "learn/nonprivate"}, contract...), libs: []string{gonum}, never: append(rows, seeds...), std: impure},
	{room: "learn/logistic", words: learners + " (the statement shared by learners without privacy)",
		rooms: append([]string{"learn/nonprivate"}, contract...), libs: []string{gonum}, never: append(rows, seeds...), std: impure},
	{room: "learn/stump", words: learners + " (the statement shared by learners without privacy)",
		rooms: append([]string{"learn/nonprivate"}, contract...), libs: []string{gonum}, never: append(rows, seeds...), std: impure},
	{room: "learn/learntest", words: "learn/learntest is the conformance suite: the contract, small tables in memory and replayed randomness; never a concrete learner",
		rooms: append([]string{"dataset", "engine/memory", "mech/mechtest", "rng/replay", "census", "internal/stattest"}, contract...), never: []string{"learn/brc", "learn/adaboost", "learn/logistic", "learn/stump"}},
	{room: "ledger", words: "ledger counts what is spent: dp, accounting and its databases, never mechanisms or rows",
		rooms: []string{"dp", "accounting", "internal/sqldb"}, never: append([]string{"mech", "learn", "engine", "model", "schema"}, append(rows, seeds...)...)},
	{room: "ledger/ledgertest", words: "ledger/ledgertest starts throw-away servers: the standard library only"},
	{room: "census", words: "census generates tables: seeded on purpose, knows schema, column and dataset, never learners or noise",
		rooms: []string{"dp", "rng", "rng/replay", "schema", "column", "dataset"}, libs: []string{"github.com/parquet-go/parquet-go"},
		never: []string{"mech", "learn", "engine", "model"}},
	{room: "examples", words: "examples is the shipped schemas: schema, never the data they describe",
		rooms: []string{"schema"}, never: append([]string{"mech", "learn", "rng"}, append(rows, seeds...)...)},
	{room: "metrics", words: "metrics scores predictions: numbers in, numbers out",
		rooms: []string{"dp"}, libs: []string{gonum}, never: append([]string{"mech", "learn", "rng"}, append(rows, seeds...)...), std: impure},
	{room: "audit", words: "audit tries to break claims from outside: it runs the real code and sees what everybody sees; never a learner's internals, files or other programs",
		rooms: []string{"dp", "rng", "schema", "column", "feature", "dataset", "engine", "engine/memory", "local/response", "mech", "accounting", "model", "learn", "learn/*", "internal/stats"}, libs: []string{gonum},
		never: append([]string{"mech/mechtest", "learn/learntest"}, seeds...), std: []string{"os", "os/exec", "net", "net/http", "log", "log/slog"}},
	{room: "plot", words: "plot draws: numbers in, a picture out",
		rooms: []string{"dp"},
		libs:  []string{"gonum.org/v1/plot", gonum, "codeberg.org/go-fonts/liberation", "golang.org/x/image", "github.com/mattn/go-runewidth"},
		never: append([]string{"mech", "learn", "engine", "model"}, append(rows, seeds...)...)},
	{room: "experiment", words: "experiment may use every room but cmd, and seeds; what it trains is marked seeded",
		rooms: []string{"*", "*/*"}, never: []string{"cmd/*"}},
	{room: "experiment/*", words: "experiment may use every room but cmd, and seeds; what it trains is marked seeded",
		libs: []string{gonum}, rooms: []string{"*", "*/*", "experiment/*/*"}, never: []string{"cmd/*"}},
	{room: "experiment/wangchang/*", words: "experiment/wangchang's parts know randomness only: the paper's mechanisms as printed, and features of images",
		rooms: []string{"rng"}, libs: []string{gonum}},
	{room: "report", words: "report makes a page of experiments' files: the standard library only, never rows, learners or seeds"},
	{room: "explain", words: "explain says what a model holds: dp, schema, column, feature, model; never rows, learners, randomness or files",
		rooms: []string{"dp", "schema", "column", "feature", "model"}, never: append([]string{"mech", "learn", "engine", "rng"}, append(rows, seeds...)...), std: impure},
	{room: "heldout", words: "heldout compares learners on rows they did not see, without privacy: fresh noise, seeds for splits only; never a concrete learner, files or accounts",
		rooms: []string{"dp", "rng", "schema", "dataset", "engine/memory", "mech", "model", "learn", "metrics", "plot", "experiment/frame"},
		never: []string{"learn/*", "ledger", "cmd/*"}, std: []string{"os", "os/exec", "net", "net/http", "log", "log/slog", "time"}},
	{room: "tune", words: "tune picks among candidates at a price: the contract and the two parts of a table; never a concrete learner, files, the clock or seeds",
		rooms: []string{"dp", "rng", "schema", "column", "dataset", "engine", "engine/memory", "mech", "model", "learn"},
		never: append([]string{"learn/*", "ledger", "cmd/*"}, seeds...), std: []string{"os", "os/exec", "net", "net/http", "log", "log/slog", "time"}},
	{room: "service/identity", words: "service/identity is certificates and roles: dp and the standard library, never messages, rows or noise",
		rooms: []string{"dp"}, never: append([]string{"mech", "learn", "rng", "schema", "engine", "model"}, append(rows, seeds...)...)},
	{room: "service/rpc", words: "service/rpc is calls and their envelopes, generated from its .proto files: it never knows what they carry",
		libs: []string{"connectrpc.com/connect", "google.golang.org/protobuf"}},
	{room: "service/problem", words: "service/problem is how a process says no, and when to ask again: the calls' envelopes, never reports, rows or noise",
		rooms: []string{"service/rpc"}, libs: []string{"connectrpc.com/connect"}},
	{room: "service/store", words: "service/store is what an aggregator must not forget: bytes in tables, never what they mean",
		rooms: []string{"internal/sqldb"}},
	{room: "multiparty", words: "multiparty combines votes: the contract, a public table's columns and convex minimisation; never a party's rows, files, the network or seeds",
		rooms: []string{"dp", "rng", "schema", "column", "feature", "engine", "mech", "model", "learn", "local/response", "internal/opt"}, libs: []string{gonum},
		never: append([]string{"learn/*", "cmd/*"}, append(rows, seeds...)...), std: impure},
	{room: "service/gate", words: "service/gate stands before calls: callers and problems, never what calls carry",
		rooms: []string{"service/identity", "service/problem", "internal/sqldb"}, libs: []string{"connectrpc.com/connect", "github.com/prometheus/client_golang", "golang.org/x/time"}},
	{room: "service/sum", words: "service/sum is a secret sum over the network, as its collector and its participants see it: never what is summed, rows, stores or helpers' code",
		rooms: []string{"dp", "local/secsum", "service/identity", "service/problem", "service/rpc"}, libs: []string{"connectrpc.com/connect"},
		never: append([]string{"mech", "learn", "schema", "local/wire", "internal/sqldb"}, append(rows, seeds...)...)},
	{room: "service/helper", words: "service/helper holds shares and answers once: never what is summed, tasks or rows",
		rooms: []string{"dp", "local/secsum", "service/gate", "service/identity", "service/problem", "service/rpc", "service/sum", "internal/sqldb"},
		libs:  []string{"connectrpc.com/connect", "github.com/prometheus/client_golang"},
		never: append([]string{"mech", "learn", "schema", "local/wire", "local/owner", "local/aggregator"}, append(rows, seeds...)...)},
	{room: "service/helper/helpertest", words: "service/helper/helpertest is helpers that tests kill: never production",
		rooms: []string{"local/secsum", "service/helper", "service/identity", "service/sum"}},
	{room: "service/announce", words: "service/announce is what operators sign: local/wire and identities, never reports' contents, rows or stores",
		rooms: []string{"dp", "local/wire", "service/identity", "service/sum"}, never: append([]string{"mech", "local/owner", "local/aggregator"}, append(rows, seeds...)...)},
	{room: "service/book", words: "service/book is an owner's memory: keys and what was given, never rows or the network",
		rooms: []string{"dp", "local/wire", "local/owner", "internal/sqldb"}, never: seeds, std: []string{"net", "net/http"}},
	{room: "service/aggregator", words: "service/aggregator serves the side that asks: the protocol's core and stores, never rows, mechanisms, randomness or owners' code",
		rooms: []string{"dp", "model", "local/wire", "local/response", "local/aggregator", "local/secsum", "service/*"},
		libs:  []string{"connectrpc.com/connect", "github.com/prometheus/client_golang"},
		never: append([]string{"mech", "local/owner", "service/owner", "service/book", "service/helper"}, append(rows, seeds...)...)},
	{room: "service/owner", words: "service/owner takes part for owners: the protocol's core and the book, never the aggregator",
		rooms: []string{"dp", "rng", "mech", "schema", "dataset", "local/wire", "local/owner", "local/secsum", "service/*"}, libs: []string{"connectrpc.com/connect"},
		never: append([]string{"local/aggregator", "service/aggregator", "service/helper", "service/store"}, seeds...)},
	{room: "service/party", words: "service/party is votes over the network: multiparty's files and parameters, never rows, models or seeds",
		rooms: []string{"dp", "rng", "multiparty", "service/*", "internal/sqldb"},
		libs:  []string{"connectrpc.com/connect", "github.com/prometheus/client_golang"},
		never: append([]string{"local/owner", "local/aggregator", "service/owner", "service/book", "service/aggregator", "service/helper", "service/store"}, append(rows, seeds...)...)},
	{room: "cmd/*", words: "cmd wires rooms to flags and files; seeds only through experiment and census",
		rooms: []string{"dp", "rng", "schema", "column", "feature", "dataset", "engine", "engine/*", "mech", "accounting", "model", "learn", "learn/*", "ledger", "census", "metrics", "plot", "audit", "local/simulate", "local/printed", "local/wire", "local/aggregator", "local/secsum", "experiment", "experiment/*", "report", "explain", "heldout", "tune", "multiparty", "service/*", "internal/*"},
		libs:  []string{"connectrpc.com/connect", "github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/vbauerster/mpb/v8", "github.com/parquet-go/parquet-go", "github.com/klauspost/compress"}},
	{room: "internal/opt", words: "internal/opt minimises convex functions of vectors and knows nothing else",
		libs: []string{gonum}, std: impure},
	{room: "internal/nettest", words: "internal/nettest is a bad network, for tests: the standard library alone",
		rooms: nil},
	{room: "internal/sqldb/sqldbtest", words: "internal/sqldb/sqldbtest is faults between a database and its user, for tests: the standard library alone",
		rooms: nil},
	{room: "internal/sqldb", words: "internal/sqldb opens databases that keep what they acknowledged and knows nothing of what is stored",
		libs: []string{"modernc.org/sqlite", "github.com/jackc/pgx/v5"}},
	{room: "internal/stats", words: "internal/stats is exact statements about counts and knows nothing of what was counted",
		libs: []string{gonum}, std: impure},
	{room: "internal/stattest", words: "internal/stattest judges samples and knows nothing of their origin",
		rooms: []string{"internal/stats"}, std: impure},
	{room: "internal/lint", words: "internal/lint reads sources: the standard library only"},
	{room: "internal/mutants", words: "internal/mutants runs the go command on sabotaged sources: the standard library only"},
}

// rowOf finds a room's row: its own, or the one with a *.
func rowOf(room string) (row, bool) {
	for _, pattern := range []string{room, path.Join(path.Dir(room), "*")} {
		if i := slices.IndexFunc(table, func(r row) bool { return r.room == pattern }); i >= 0 {
			return table[i], true
		}
	}
	return row{}, false
}

func matches(patterns []string, room string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, room); return ok })
}

// testOnly reports whether a room exists for tests: production cannot reach it.
func testOnly(room string) bool {
	return strings.HasSuffix(room, "test") || room == "internal/lint" || room == "internal/mutants"
}

const cure = "; a new arrow starts in internal/lint/rooms.go and docs/decisions/0002-rooms.md"

// checkRooms holds production code to the table. Tests may import any room.
func checkRooms(m *Module) (bad []string) {
	arrows := map[string][]string{}
	for _, p := range m.production() {
		rule, ok := rowOf(p.Room)
		if !ok {
			bad = append(bad, p.Room+": this room has no row in the table"+cure)
			continue
		}
		for _, f := range p.Files {
			if f.Test {
				continue
			}
			for _, spec := range f.AST.Imports {
				ip := importPath(spec)
				to, ours := m.room(ip)
				allowed := true
				switch {
				case ours:
					arrows[p.Room] = append(arrows[p.Room], to)
					allowed = matches(rule.rooms, to)
					if testOnly(to) && !testOnly(p.Room) {
						bad = append(bad, m.at(spec.Pos(), "%s imports %s, which exists for tests only", p.Room, to))
						continue
					}
				case standard(ip):
					allowed = !slices.Contains(rule.std, ip)
				default:
					allowed = slices.ContainsFunc(rule.libs, func(lib string) bool { return under(ip, lib) })
				}
				if !allowed {
					bad = append(bad, m.at(spec.Pos(), "%s may not import %s: %s%s", p.Room, strings.TrimPrefix(ip, m.Path+"/"), rule.words, cure))
				}
			}
		}
	}
	for _, p := range m.production() {
		rule, _ := rowOf(p.Room)
		for _, to := range reach(arrows, p.Room) {
			if matches(rule.never, to[len(to)-1]) {
				bad = append(bad, p.Room+" must never reach "+to[len(to)-1]+" (by "+strings.Join(to, " → ")+"): "+rule.words)
			}
		}
	}
	return bad
}

// reach lists a shortest path from a room to every room it imports, directly
// or through others.
func reach(arrows map[string][]string, from string) (paths [][]string) {
	seen := map[string]bool{from: true}
	todo := [][]string{{from}}
	for len(todo) > 0 {
		p := todo[0]
		todo = todo[1:]
		for _, next := range arrows[p[len(p)-1]] {
			if !seen[next] {
				seen[next] = true
				longer := append(slices.Clone(p), next)
				todo = append(todo, longer)
				paths = append(paths, longer)
			}
		}
	}
	return paths
}

const roomPage = "docs/decisions/0002-rooms.md"

var roomRow = regexp.MustCompile("(?m)^\\| *`([^`]+)` *\\|")

// checkRoomPage wants the page about rooms to have the table's rows, all of
// them and no others.
func checkRoomPage(m *Module) (bad []string) {
	page, err := fs.ReadFile(m.FS, roomPage)
	if err != nil {
		return []string{err.Error()}
	}
	told := map[string]bool{}
	for _, r := range roomRow.FindAllStringSubmatch(string(page), -1) {
		told[r[1]] = true
		if !slices.ContainsFunc(table, func(t row) bool { return t.room == r[1] }) {
			bad = append(bad, roomPage+": "+r[1]+" has no row in internal/lint/rooms.go")
		}
	}
	for _, r := range table {
		if !told[r.room] {
			bad = append(bad, roomPage+": "+r.room+" is missing")
		}
	}
	return bad
}
