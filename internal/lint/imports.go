// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// row is the rule of one package. The table of docs/decisions/0002-packages.md is
// written from these rows (go test ./internal/lint -update).
type row struct {
	pkg   string   // short name, see Package.Name; a last element * stands for any one name
	words string   // the rule, for the person who broke it
	uses  []string // packages it may import, * as above
	libs  []string // modules it may import
	never []string // packages it may not reach, even through others
	std   []string // standard packages it may not import
}

var (
	// impure is what a core may not touch: time, files and the network come in
	// as arguments.
	impure = []string{"os", "os/exec", "io/ioutil", "syscall", "net", "net/http", "log", "log/slog", "time"}
	rows   = []string{"table/dataset", "table/engine/memory", "census"}
	seeds  = []string{"privacy/rng/replay"}
	// contract is what any learner may import.
	contract = []string{"guard", "privacy/dp", "privacy/rng", "table/schema", "table/column", "table/feature", "table/engine",
		"table/engine/kernel", "privacy/mech", "privacy/accounting", "model", "learn", "optimize", "shrink"}
	gonum = "gonum.org/v1/gonum"
)

const learners = "a learner knows the contract and asks a table for statistics; it never sees rows, files, the " +
	"network, the clock or seeds, and no sibling but those its row names"

// table is the architecture. Packages without a row fail.
var table = []row{
	{pkg: "privacy/dp", words: "privacy/dp is vocabulary: the standard library only, never data or randomness",
		std: append([]string{"crypto/rand"}, impure...)},
	{pkg: "privacy/rng", words: "privacy/rng is secure bits: the standard library only, never seeds",
		never: seeds},
	{pkg: "privacy/rng/replay", words: "privacy/rng/replay is the only seeded source and knows only rng",
		uses: []string{"privacy/rng"}},
	{pkg: "table/column",
		words: "table/column is the shape of coded cells: the standard library only, never where cells come from",
		std:   impure},
	{pkg: "table/schema", words: "table/schema says what is public: dp and a YAML reader, never rows",
		uses: []string{"privacy/dp"}, libs: []string{"github.com/goccy/go-yaml"}, never: rows},
	{pkg: "table/feature", words: "table/feature turns codes into numbers: schema and column, never where rows live",
		uses: []string{"privacy/dp", "table/schema", "table/column"}, never: rows, std: impure},
	{pkg: "table/coding", words: "table/coding says what cells mean: schema and column, never files, rows or noise",
		uses: []string{"privacy/dp", "table/schema", "table/column"}, never: rows, std: impure},
	{pkg: "table/sqlrows",
		words: "table/sqlrows hands out a database table's rows as they come: sqldb and pgx, never what cells mean",
		uses:  []string{"privacy/dp", "sqldb"}, libs: []string{"github.com/jackc/pgx/v5"},
		never: []string{"privacy/mech", "learn", "privacy/rng", "table/schema"}},
	{pkg: "table/object",
		words: "table/object reads objects of stores over the network: the standard library, never what their bytes mean",
		uses:  []string{"privacy/dp"}, never: []string{"privacy/mech", "learn", "privacy/rng", "table/schema"}},
	{pkg: "table/object/objecttest",
		words: "table/object/objecttest is a store that fails on demand, for tests: gofakes3 alone",
		libs:  []string{"github.com/johannesboyne/gofakes3"}},
	{pkg: "table/dataset",
		words: "table/dataset reads rows: schema, column and decoders of files, never noise or accounts",
		uses:  []string{"privacy/dp", "table/schema", "table/column", "table/coding", "table/sqlrows", "table/object"},
		libs: []string{"github.com/parquet-go/parquet-go", "github.com/klauspost/compress", "github.com/andybalholm/brotli",
			"github.com/pierrec/lz4/v4"},
		never: []string{"privacy/mech", "learn", "privacy/rng", "privacy/rng/replay"}},
	{pkg: "table/rows",
		words: "table/rows makes tables of rows that a program holds: schema and dataset, never noise or accounts",
		uses:  []string{"privacy/dp", "table/schema", "table/coding", "table/dataset"},
		never: []string{"privacy/mech", "learn", "privacy/rng"}},
	{pkg: "librarytest",
		words: "librarytest holds the library to what it promises, from outside: the library and the data sets alone",
		uses:  []string{".", "realdata"}, libs: []string{"modernc.org/sqlite"}},
	{pkg: "table/engine",
		words: "table/engine is the questions: schema, feature, column; never noise, accounts or where rows live",
		uses:  []string{"privacy/dp", "table/schema", "table/feature", "table/column"},
		never: append([]string{"privacy/mech", "learn", "privacy/rng"}, rows...), std: impure},
	{pkg: "table/engine/kernel",
		words: "table/engine/kernel adds up over coded columns, wherever they are; never noise, accounts or where rows live",
		uses:  []string{"table/feature", "table/column", "table/engine"}, libs: []string{gonum},
		never: append([]string{"privacy/mech", "learn", "privacy/rng"}, rows...), std: impure},
	{pkg: "table/engine/memory", words: "table/engine/memory answers from dataset's columns, never with noise",
		uses: []string{"privacy/dp", "table/schema", "table/feature", "table/column", "table/engine", "table/engine/kernel",
			"table/dataset"},
		never: []string{"privacy/mech", "learn", "privacy/rng"}},
	{pkg: "table/engine/question",
		words: "table/engine/question is questions and their answers as messages: never noise, accounts or where rows live",
		uses:  []string{"table/schema", "table/feature", "table/column", "table/engine"},
		never: append([]string{"privacy/mech", "learn", "privacy/rng"}, rows...), std: impure},
	{pkg: "table/engine/blocks",
		words: "table/engine/blocks keeps coded rows in blocks and answers from each as memory does, never with noise",
		uses: []string{"privacy/dp", "table/schema", "table/feature", "table/column", "table/engine",
			"table/engine/memory", "table/engine/question", "table/dataset"},
		never: []string{"privacy/mech", "learn", "privacy/rng"}},
	{pkg: "table/engine/spark",
		words: "table/engine/spark asks a cluster, whose executors run its worker: never noise, prices or accounts",
		uses: []string{"privacy/dp", "table/schema", "table/dataset", "table/engine", "table/engine/blocks",
			"table/engine/memory", "table/engine/question"},
		never: []string{"privacy/mech", "learn", "privacy/rng"}},
	{pkg: "privacy/response",
		words: "privacy/response is the public arithmetic of reports: dp only, never randomness or rows",
		uses:  []string{"privacy/dp"}, never: append([]string{"privacy/rng", "privacy/mech"}, append(rows, seeds...)...),
		std: append([]string{"crypto/rand", "math/rand/v2"}, impure...)},
	{pkg: "federated/flp", words: "federated/flp is proofs about shares: a field's arithmetic alone, never randomness, " +
		"bytes of a protocol or what the numbers mean",
		libs: []string{"filippo.io/edwards25519"}, never: append([]string{"privacy/mech", "privacy/rng"}, rows...),
		std: append([]string{"crypto/rand"}, impure...)},
	{pkg: "federated/secsum",
		words: "federated/secsum adds up what nobody shows: dp, rng, proofs and circl, never what the numbers mean",
		uses:  []string{"privacy/dp", "privacy/rng", "federated/flp"}, libs: []string{"github.com/cloudflare/circl"},
		never: append([]string{"privacy/mech", "learn", "table/schema"}, append(rows, seeds...)...), std: impure},
	{pkg: "privacy/mech",
		words: "privacy/mech is noise and its price: dp, rng and the laws of reports, never rows or accounts",
		uses:  []string{"privacy/dp", "privacy/rng", "privacy/response"},
		never: append([]string{"table/schema", "table/column", "table/engine", "learn"}, append(rows, seeds...)...),
		std:   impure},
	{pkg: "federated/wire", words: "federated/wire is messages: what they mean and the arithmetic both sides repeat, " +
		"never rows, randomness or either side",
		uses: []string{"privacy/dp", "table/schema", "table/feature", "privacy/response"},
		never: append([]string{"privacy/rng", "privacy/mech", "model", "learn", "federated/answer", "federated/collect"},
			append(rows, seeds...)...), std: impure},
	{pkg: "federated/answer", words: "federated/answer is one owner's answers: wire, the door and its own rows, never " +
		"the aggregator, files, the network, the clock or seeds",
		uses: []string{"privacy/dp", "privacy/rng", "table/schema", "table/column", "table/feature", "table/dataset",
			"privacy/mech", "privacy/response", "federated/wire"},
		never: append([]string{"model", "learn", "federated/collect"}, seeds...), std: impure},
	{pkg: "federated/collect", words: "federated/collect adds up reports: wire, response and model, never a row, a " +
		"perturber, randomness or the owner's code",
		uses: []string{"privacy/dp", "table/schema", "table/column", "table/feature", "model", "privacy/response",
			"federated/wire", "shrink"}, never: append([]string{"privacy/rng", "privacy/mech", "learn", "table/engine",
			"federated/answer"}, append(rows, seeds...)...), std: impure},
	{pkg: "lab/printed", words: "lab/printed is Wang and Chang to the letter, in one process, for comparison: never " +
		"the repaired protocol, files, the network, the clock or seeds",
		uses: []string{"privacy/dp", "privacy/rng", "table/schema", "table/column", "table/feature", "table/dataset",
			"privacy/mech", "model", "privacy/response"}, libs: []string{gonum},
		never: append([]string{"learn", "privacy/ledger", "federated/wire", "federated/answer", "federated/collect"},
			seeds...), std: impure},
	{pkg: "federated/simulate", words: "federated/simulate plays both sides in one process, through wire's bytes; " +
		"never files, the network, the clock or seeds",
		uses: []string{"privacy/dp", "privacy/rng", "table/schema", "table/column", "table/feature", "table/dataset",
			"privacy/mech", "model", "privacy/response", "federated/wire", "federated/answer", "federated/collect"},
		libs: []string{gonum}, never: append([]string{"learn", "privacy/ledger"}, seeds...), std: impure},
	{pkg: "privacy/accounting",
		words: "privacy/accounting is what a composition costs: dp and gonum, never mechanisms, rows or randomness",
		uses:  []string{"privacy/dp"}, libs: []string{gonum},
		never: append([]string{"privacy/mech", "learn", "privacy/rng", "table/schema", "table/engine", "model"},
			append(rows, seeds...)...), std: append([]string{"crypto/rand"}, impure...)},
	{pkg: "privacy/mech/mechtest", words: "privacy/mech/mechtest watches the door in tests: mech's list",
		uses:  []string{"privacy/dp", "privacy/rng", "privacy/rng/replay", "privacy/response", "privacy/mech", "stattest"},
		never: rows},
	{pkg: "model", words: "model predicts and serialises: dp, schema, feature, column; never randomness, training rows " +
		"or accounts",
		uses:  []string{"privacy/dp", "table/schema", "table/feature", "table/column", "atomicfile"},
		never: append([]string{"privacy/rng", "privacy/mech", "learn", "table/engine"}, rows...)},
	{pkg: "guard", words: "guard is all that a learner gets of a table: what it asks, at which price, with which noise",
		uses: []string{"privacy/dp", "privacy/rng", "privacy/mech", "privacy/accounting", "table/schema", "table/feature",
			"table/engine"},
		never: append([]string{"learn", "model"}, append(rows, seeds...)...), std: impure},
	{pkg: "learn", words: "learn is the contract: dp, schema, guard, model; never a concrete learner",
		uses:  []string{"guard", "privacy/dp", "table/schema", "table/feature", "model"},
		never: append([]string{"learn/*"}, append(rows, seeds...)...), std: impure},
	{pkg: "learn/*", words: learners,
		uses: contract, libs: []string{gonum}, never: append(rows, seeds...), std: impure},
	{pkg: "learn/brc", words: learners +
		" (random classifiers; logistic for the public refits, labeldp where their label is private)",
		uses: append([]string{"learn/random", "learn/logistic", "learn/labeldp"}, contract...), libs: []string{gonum},
		never: append(rows, seeds...), std: impure},
	{pkg: "learn/additive", words: learners + " (logistic for the free public part)",
		uses: append([]string{"learn/logistic"}, contract...), libs: []string{gonum}, never: append(rows, seeds...),
		std: impure},
	{pkg: "learn/auto", words: learners + " (additive and grids, between which it decides)",
		uses: append([]string{"learn/additive", "learn/grids"}, contract...), never: append(rows, seeds...), std: impure},
	{pkg: "learn/people", words: learners + " (random classifiers; logistic for the free public part)",
		uses: append([]string{"learn/random", "learn/logistic"}, contract...), libs: []string{gonum},
		never: append(rows, seeds...), std: impure},
	{pkg: "learn/pate", words: learners + " (logistic for students and printed teachers)",
		uses: append([]string{"learn/logistic"}, contract...), libs: []string{gonum}, never: append(rows, seeds...),
		std: impure},
	{pkg: "learn/adaboost", words: learners + " (its weak learners)",
		uses: append([]string{"learn/random", "learn/logistic", "learn/stump", "learn/nonprivate"}, contract...),
		libs: []string{gonum}, never: append(rows, seeds...), std: impure},
	{pkg: "learn/logistic", words: learners + " (the statement shared by learners without privacy)",
		uses: append([]string{"learn/nonprivate"}, contract...), libs: []string{gonum}, never: append(rows, seeds...),
		std: impure},
	{pkg: "learn/stump", words: learners + " (the statement shared by learners without privacy)",
		uses: append([]string{"learn/nonprivate"}, contract...), libs: []string{gonum}, never: append(rows, seeds...),
		std: impure},
	{pkg: "learn/learntest", words: "learn/learntest is the conformance suite: the contract, small tables in memory " +
		"and replayed randomness; never a concrete learner",
		uses: append([]string{"examples", "realdata", "table/dataset", "table/engine/memory", "table/engine/blocks",
			"table/engine/question", "privacy/mech/mechtest",
			"privacy/rng/replay", "census", "stattest"}, contract...),
		never: []string{"learn/brc", "learn/adaboost", "learn/logistic", "learn/stump"}},
	{pkg: "privacy/ledger",
		words: "privacy/ledger counts what is spent: dp, accounting and its databases, never mechanisms or rows",
		uses:  []string{"anchor", "privacy/dp", "privacy/accounting", "sqldb"},
		never: append([]string{"privacy/mech", "learn", "table/engine", "model", "table/schema"}, append(rows, seeds...)...)},
	{pkg: "privacy/ledger/ledgertest",
		words: "privacy/ledger/ledgertest starts throw-away servers: the standard library only"},
	{pkg: "census",
		words: "census generates tables: seeded on purpose, knows schema, column and dataset, never learners or noise",
		uses:  []string{"privacy/dp", "privacy/rng", "privacy/rng/replay", "table/schema", "table/column", "table/dataset"},
		libs:  []string{"github.com/parquet-go/parquet-go"},
		never: []string{"privacy/mech", "learn", "table/engine", "model"}},
	{pkg: "examples", words: "examples is the shipped schemas: the standard library only, never the data they describe",
		never: append([]string{"privacy/mech", "learn", "privacy/rng"}, append(rows, seeds...)...)},
	{pkg: "model/metrics", words: "model/metrics scores predictions: numbers in, numbers out",
		uses: []string{"privacy/dp"}, libs: []string{gonum},
		never: append([]string{"privacy/mech", "learn", "privacy/rng"}, append(rows, seeds...)...), std: impure},
	{pkg: "audit", words: "audit tries to break claims from outside: it runs the real code and sees what everybody " +
		"sees; never a learner's internals, files or other programs",
		uses: []string{"privacy/dp", "privacy/rng", "table/schema", "table/column", "table/feature", "table/dataset",
			"table/engine", "table/engine/memory", "privacy/response", "privacy/mech", "privacy/accounting", "model", "learn",
			"learn/*", "stats"}, libs: []string{gonum},
		never: append([]string{"privacy/mech/mechtest", "learn/learntest"}, seeds...),
		std:   []string{"os", "os/exec", "net", "net/http", "log", "log/slog"}},
	{pkg: "audit/finding",
		words: "audit/finding writes what audits found: numbers, lines and charts; never rows or learners",
		uses:  []string{"privacy/dp", "audit", "plot"}, never: seeds, std: []string{"os", "os/exec", "net", "net/http"}},
	{pkg: "audit/subject",
		words: "audit/subject makes subjects of audits: learners by name, and other programs, which it runs",
		uses: []string{"privacy/dp", "privacy/rng", "table/schema", "table/dataset", "learn/brc", "audit", "train",
			"learn"},
		never: append([]string{"cmd/*"}, seeds...), std: []string{"net", "net/http", "log", "log/slog", "time"}},
	{pkg: "predict", words: "predict adds what a model says to the rows of a table: model, explain and dataset, never " +
		"learners, noise or files",
		uses: []string{"privacy/dp", "table/schema", "table/column", "table/coding", "table/dataset", "table/engine/spark",
			"model", "model/explain"},
		never: append([]string{"privacy/mech", "learn", "cmd/*"}, seeds...), std: impure},
	{pkg: "card", words: "card says what somebody who signs for a model has to know: a model's file and a ledger's " +
		"entries; never rows, learners or noise",
		uses:  []string{"privacy/dp", "privacy/ledger", "table/schema", "model"},
		libs:  []string{"github.com/goccy/go-yaml", "codeberg.org/go-pdf/fpdf", "codeberg.org/go-fonts/liberation"},
		never: append([]string{"privacy/mech", "learn", "cmd/*"}, append(rows, seeds...)...),
		std:   []string{"os/exec", "net", "net/http", "log", "log/slog"}},
	{pkg: "demo", words: "demo shows on an invented census what privacy costs: the use cases as a command calls them",
		uses:  []string{"table/dataset", "model", "model/explain", "model/metrics", "train"},
		never: append([]string{"cmd/*", "cli"}, "service/*"), std: impure},
	{pkg: "plot", words: "plot draws: numbers in, a picture out",
		uses: []string{"privacy/dp"},
		libs: []string{"gonum.org/v1/plot", gonum, "codeberg.org/go-fonts/liberation", "golang.org/x/image",
			"github.com/mattn/go-runewidth"},
		never: append([]string{"privacy/mech", "learn", "table/engine", "model"}, append(rows, seeds...)...)},
	{pkg: "lab/experiment", words: "lab/experiment may use every room but cmd, and seeds; what it trains is marked seeded",
		uses: []string{"*", "*/*", "*/*/*", "*/*/*/*"}, never: []string{"cmd/*"}},
	{pkg: "lab/experiment/*",
		words: "lab/experiment may use every room but cmd, and seeds; what it trains is marked seeded",
		libs:  []string{gonum}, uses: []string{"*", "*/*", "*/*/*", "*/*/*/*"}, never: []string{"cmd/*"}},
	{pkg: "lab/experiment/wangchang/*",
		words: "lab/experiment/wangchang's parts know randomness only: the paper's mechanisms as printed, and " +
			"features of images",
		uses: []string{"privacy/rng"}, libs: []string{gonum}},
	{pkg: "lab/report",
		words: "lab/report makes a page of experiments' files: the standard library only, never rows, learners or seeds"},
	{pkg: "model/explain", words: "model/explain says what a model holds: dp, schema, column, feature, model; never " +
		"rows, learners, randomness or files",
		uses:  []string{"privacy/dp", "table/schema", "table/column", "table/feature", "model"},
		never: append([]string{"privacy/mech", "learn", "table/engine", "privacy/rng"}, append(rows, seeds...)...),
		std:   impure},
	{pkg: "model/export/onnx", words: "model/export/onnx writes ONNX files and knows nothing of models",
		libs: []string{"google.golang.org/protobuf"}, std: impure},
	{pkg: "model/export", words: "model/export writes models as programs of other systems: model, schema, coding, " +
		"feature; never rows, learners or randomness",
		uses:  []string{"privacy/dp", "table/schema", "table/coding", "table/feature", "model", "model/export/onnx"},
		never: append([]string{"privacy/mech", "learn", "table/engine", "privacy/rng"}, append(rows, seeds...)...),
		std:   impure},
	{pkg: "heldout", words: "heldout judges models on rows they did not see, without privacy: fresh noise, seeds " +
		"for splits only; never a concrete learner, files or accounts",
		uses: []string{"privacy/dp", "privacy/rng", "table/schema", "table/dataset", "table/engine/memory", "privacy/mech",
			"model", "learn", "model/metrics", "plot", "table/sample", "privacy/rng/replay"},
		never: []string{"learn/*", "privacy/ledger", "cmd/*"},
		std:   []string{"os", "os/exec", "net", "net/http", "log", "log/slog", "time"}},
	{pkg: "forecast", words: "forecast invents tables and trains on them: the use cases and the contract; never a " +
		"concrete learner, files, accounts or seeds",
		uses: []string{"privacy/dp", "privacy/rng", "privacy/mech", "table/schema", "table/coding", "table/dataset",
			"table/engine/memory", "learn", "train"},
		never: append([]string{"cmd/*", "cli", "service/*"}, seeds...),
		std:   []string{"os", "os/exec", "net", "net/http", "log", "log/slog", "time"}},
	{pkg: "tune", words: "tune picks among candidates at a price: the contract and the two parts of a table; never a " +
		"concrete learner, files, the clock or seeds",
		uses: []string{"privacy/dp", "privacy/rng", "table/schema", "table/column", "table/dataset", "table/engine",
			"table/engine/memory", "privacy/mech", "model", "learn"},
		never: append([]string{"learn/*", "privacy/ledger", "cmd/*"}, seeds...),
		std:   []string{"os", "os/exec", "net", "net/http", "log", "log/slog", "time"}},
	{pkg: "train", words: "train is what it takes to train: the learners by name, their prices, and the order in which " +
		"a training is charged and kept; never flags, the network or seeds",
		uses: []string{"privacy/dp", "privacy/rng", "privacy/mech", "privacy/ledger", "table/schema", "table/dataset",
			"table/feature", "table/engine", "table/engine/blocks", "table/engine/memory", "table/engine/spark", "model",
			"learn", "learn/*", "tune", "atomicfile"},
		never: append([]string{"cmd/*", "cli", "service/*", "federated/*"}, seeds...),
		std:   []string{"os/exec", "net", "net/http", "log", "log/slog", "time"}},
	{pkg: ".", words: "the library says what the use cases say, in words of its own: no flags, no network, no seeds",
		uses: []string{"privacy/dp", "privacy/ledger", "table/schema", "table/column", "table/coding", "table/dataset",
			"table/rows", "model", "model/explain", "model/export", "model/metrics", "learn", "train", "atomicfile"},
		never: append([]string{"cmd/*", "cli", "service/*"}, seeds...),
		std:   []string{"os/exec", "net", "net/http", "log", "log/slog"}},
	{pkg: "service/identity", words: "service/identity is certificates and roles: dp, files and the standard library, " +
		"never messages, rows or noise",
		uses: []string{"privacy/dp", "atomicfile"},
		never: append([]string{"privacy/mech", "learn", "privacy/rng", "table/schema", "table/engine", "model"},
			append(rows, seeds...)...)},
	{pkg: "service/rpc",
		words: "service/rpc is calls and their envelopes, generated from its .proto files: it never knows what they carry",
		libs:  []string{"connectrpc.com/connect", "google.golang.org/protobuf"}},
	{pkg: "service/inference/oip",
		words: "service/inference/oip is calls and their envelopes, generated from its .proto file",
		libs:  []string{"connectrpc.com/connect", "google.golang.org/protobuf"}},
	{pkg: "service/inference", words: "service/inference serves models: model, schema and coding; never a loader of " +
		"tables, learners, noise, randomness or accounts",
		uses: []string{"privacy/dp", "table/schema", "table/column", "table/coding", "model", "model/explain",
			"service/inference/oip", "service/places"},
		libs: []string{"connectrpc.com/connect", "github.com/prometheus/client_golang", "github.com/spf13/cobra",
			"google.golang.org/protobuf"},
		never: append([]string{"privacy/mech", "privacy/rng", "privacy/ledger", "learn", "learn/*", "train", "table/engine",
			"table/rows", "federated/*"}, append(rows, seeds...)...), std: []string{"os/exec"}},
	{pkg: "service/problem", words: "service/problem is how a process says no, and when to ask again: the calls' " +
		"envelopes, never reports, rows or noise",
		uses: []string{"service/identity", "service/rpc"}, libs: []string{"connectrpc.com/connect"}},
	{pkg: "service/aggregator/store",
		words: "service/aggregator/store is what an aggregator must not forget: bytes in tables, never what they mean",
		uses:  []string{"anchor", "sqldb"}},
	{pkg: "federated/multiparty", words: "federated/multiparty combines votes: the contract, a public table's columns " +
		"and convex minimisation; never a party's rows, files, the network or seeds",
		uses: []string{"edkey", "privacy/dp", "privacy/rng", "table/schema", "table/column", "table/feature", "table/engine",
			"table/engine/kernel", "privacy/mech", "model", "learn", "privacy/response", "optimize"}, libs: []string{gonum},
		never: append([]string{"learn/*", "cmd/*"}, append(rows, seeds...)...), std: impure},
	{pkg: "service/ballot", words: "service/ballot casts a party's votes: its model, another program or a file about a " +
		"public table; never other parties' votes or seeds",
		uses: []string{"privacy/dp", "privacy/rng", "privacy/mech", "table/schema", "table/dataset", "table/feature",
			"model", "federated/multiparty", "service/party", "audit/subject", "train"},
		never: append([]string{"cmd/*", "cli"}, seeds...), std: []string{"net", "net/http"}},
	{pkg: "service/combine", words: "service/combine makes one classifier of parties' votes: it collects, charges and " +
		"keeps; never a party's rows, flags or seeds",
		uses: []string{"privacy/dp", "privacy/rng", "privacy/mech", "privacy/ledger", "table/schema", "learn", "model",
			"federated/multiparty", "federated/secsum", "service/*", "train"},
		never: append([]string{"cmd/*", "cli"}, seeds...), std: []string{"os/exec", "net", "net/http"}},
	{pkg: "service/admission",
		words: "service/admission stands before calls: callers and problems, never what calls carry",
		uses:  []string{"service/identity", "service/places", "service/problem", "sqldb"}, libs: []string{
			"connectrpc.com/connect", "github.com/prometheus/client_golang", "golang.org/x/time", "google.golang.org/protobuf"}},
	{pkg: "service/places",
		words: "service/places is what callers hold of a service at a time: the standard library alone, never messages"},
	{pkg: "service/secretsum", words: "service/secretsum is a secret sum over the network, as its collector and its " +
		"participants see it: never what is summed, rows, stores or helpers' code",
		uses: []string{"edkey", "privacy/dp", "federated/secsum", "service/identity", "service/problem", "service/rpc"},
		libs: []string{"connectrpc.com/connect"},
		never: append([]string{"privacy/mech", "learn", "table/schema", "federated/wire", "sqldb"},
			append(rows, seeds...)...)},
	{pkg: "service/helper", words: "service/helper holds shares and answers once: never what is summed, tasks or rows",
		uses: []string{"anchor", "privacy/dp", "federated/secsum", "service/admission", "service/identity", "service/problem",
			"service/rpc", "service/secretsum", "sqldb"},
		libs: []string{"connectrpc.com/connect", "github.com/prometheus/client_golang"},
		never: append([]string{"privacy/mech", "learn", "table/schema", "federated/wire", "federated/answer",
			"federated/collect"}, append(rows, seeds...)...)},
	{pkg: "service/helper/helpertest", words: "service/helper/helpertest is helpers that tests kill: never production",
		uses: []string{"privacy/rng", "federated/secsum", "service/helper", "service/identity", "service/rpc",
			"service/secretsum"},
		libs: []string{"github.com/cloudflare/circl", "google.golang.org/protobuf"}},
	{pkg: "service/tasks",
		words: "service/tasks is what operators sign: local/wire and identities, never reports' contents, rows or stores",
		uses:  []string{"edkey", "privacy/dp", "federated/wire", "service/identity", "service/secretsum", "stats"},
		never: append([]string{"privacy/mech", "federated/answer", "federated/collect"}, append(rows, seeds...)...)},
	{pkg: "service/operator",
		words: "service/operator asks an aggregator for what operators and readers may have: never rows, noise or stores",
		uses: []string{"privacy/dp", "federated/wire", "model", "service/identity", "service/problem", "service/rpc",
			"service/tasks"}, libs: []string{"connectrpc.com/connect"},
		never: append([]string{"privacy/mech", "federated/answer"}, append(rows, seeds...)...)},
	{pkg: "service/owner/spending",
		words: "service/owner/spending is an owner's memory: keys and what was given, never rows or the network",
		uses:  []string{"anchor", "privacy/dp", "federated/wire", "federated/answer", "sqldb"}, never: seeds,
		std: []string{"net", "net/http"}},
	{pkg: "service/aggregator", words: "service/aggregator serves the side that asks: the protocol's core and stores, " +
		"never rows, mechanisms, randomness or owners' code",
		uses: []string{"edkey", "privacy/dp", "model", "federated/wire", "privacy/response", "federated/collect",
			"federated/secsum", "service/*", "service/*/*"},
		libs: []string{"connectrpc.com/connect", "github.com/prometheus/client_golang"},
		never: append([]string{"privacy/mech", "federated/answer", "service/owner", "service/owner/spending",
			"service/helper"}, append(rows, seeds...)...)},
	{pkg: "service/owner",
		words: "service/owner takes part for owners: the protocol's core and the book, never the aggregator",
		uses: []string{"privacy/dp", "privacy/rng", "privacy/mech", "table/schema", "table/dataset", "federated/wire",
			"federated/answer", "federated/secsum", "service/*", "service/*/*"}, libs: []string{"connectrpc.com/connect"},
		never: append([]string{"federated/collect", "service/aggregator", "service/helper", "service/aggregator/store"},
			seeds...)},
	{pkg: "service/party",
		words: "service/party is votes over the network: multiparty's files and parameters, never rows, models or seeds",
		uses:  []string{"anchor", "diskroom", "privacy/dp", "privacy/rng", "federated/multiparty", "service/*", "sqldb"},
		libs:  []string{"connectrpc.com/connect", "github.com/prometheus/client_golang"},
		never: append([]string{"federated/answer", "federated/collect", "service/owner", "service/owner/spending",
			"service/aggregator", "service/helper", "service/aggregator/store"}, append(rows, seeds...)...)},
	{pkg: "cmd/*", words: "cmd is flags and printing over the library and the use cases: never a learner, noise, an " +
		"engine or seeds of its own, nor what the library does in its place",
		uses: []string{".", "anchor", "cli", "card", "census", "demo", "forecast", "predict", "audit",
			"audit/finding", "audit/subject", "heldout", "train", "tune", "learn", "model", "model/metrics",
			"federated/collect", "federated/multiparty", "federated/simulate",
			"federated/wire", "service/aggregator", "service/aggregator/store", "service/ballot", "service/combine",
			"service/helper", "service/identity", "service/inference", "service/operator",
			"service/owner", "service/owner/spending",
			"service/party", "service/problem", "service/rpc", "service/tasks", "privacy/dp", "privacy/rng", "privacy/ledger",
			"table/schema", "table/dataset", "table/feature"},
		libs: []string{"connectrpc.com/connect", "github.com/spf13/cobra", "github.com/vbauerster/mpb/v8"}},
	{pkg: "lab/cmd/*", words: "lab/cmd is flags and printing of the laboratory",
		uses: []string{"cli", "privacy/dp", "lab/*", "lab/experiment/*"},
		libs: []string{"github.com/spf13/cobra"}},
	{pkg: "atomicfile", words: "atomicfile writes files whole and says who may read them and what is not " +
		"replaced: the standard library only"},
	{pkg: "cli", words: "cli is what the commands share: exit codes, error lines, flags in sections, progress, files " +
		"written whole",
		uses: []string{"privacy/dp", "privacy/ledger", "plot", "atomicfile"},
		libs: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/vbauerster/mpb/v8"}},
	{pkg: "cli/clitest", words: "cli/clitest is what the script tests of both commands share",
		libs: []string{"github.com/rogpeppe/go-internal"}},
	{pkg: "table/sample", words: "table/sample draws rows for experiments and comparisons, never to hide anything",
		uses: []string{"privacy/rng", "table/dataset"}, never: []string{"privacy/mech", "learn"}, std: impure},
	{pkg: "realdata", words: "realdata finds the real data sets for tests: the standard library only"},
	{pkg: "anchor", words: "anchor remembers how far something has come: the standard library alone"},
	{pkg: "diskroom", words: "diskroom keeps part of a disk free: the standard library alone"},
	{pkg: "edkey", words: "edkey is what a public key may be: the standard library alone, never private keys or messages"},
	{pkg: "optimize", words: "optimize minimises convex functions of vectors and knows nothing else",
		libs: []string{gonum}, std: impure},
	{pkg: "shrink", words: "shrink makes estimates of noisy sums that have left a mechanism: numbers and public bins, " +
		"never noise, rows or learners",
		uses: []string{"table/feature", "table/schema"}, libs: []string{gonum},
		never: append([]string{"privacy/mech", "privacy/rng", "learn", "table/engine"}, append(rows, seeds...)...),
		std:   impure},
	{pkg: "nettest", words: "nettest is a bad network, for tests: the standard library alone",
		uses: nil},
	{pkg: "sqldb/sqldbtest",
		words: "sqldb/sqldbtest is faults between a database and its user, and full disks, for tests",
		uses:  []string{"diskroom"}},
	{pkg: "sqldb", words: "sqldb opens databases that keep what they acknowledged and knows nothing of what is stored",
		uses: []string{"anchor", "diskroom"}, libs: []string{"modernc.org/sqlite", "github.com/jackc/pgx/v5"}},
	{pkg: "stats", words: "stats is exact statements about counts and knows nothing of what was counted",
		libs: []string{gonum}, std: impure},
	{pkg: "stattest", words: "stattest judges samples and knows nothing of their origin",
		uses: []string{"stats"}, std: impure},
	{pkg: "lint", words: "lint reads sources: the standard library, and x/tools for who calls whom",
		uses: []string{"lint/private"}, libs: []string{"golang.org/x/tools"}},
	{pkg: "lint/private", words: "lint/private follows private numbers through programs: x/tools, never what it follows",
		libs: []string{"golang.org/x/tools"}},
	{pkg: "mutants", words: "mutants runs the go command on sabotaged sources: the standard library only"},
	{pkg: "noninterference", words: "noninterference searches for a private row that shows, in tests alone"},
}

// rowOf finds a package's row: its own, or the one with a *.
func rowOf(pkg string) (row, bool) {
	for _, pattern := range []string{pkg, path.Join(path.Dir(pkg), "*")} {
		if i := slices.IndexFunc(table, func(r row) bool { return r.pkg == pattern }); i >= 0 {
			return table[i], true
		}
	}
	return row{}, false
}

func matchesAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, pkg); return ok })
}

// testOnly reports whether a package exists for tests: production cannot reach it.
func testOnly(pkg string) bool {
	return strings.HasSuffix(pkg, "test") || under(pkg, "lint") || pkg == "mutants" || pkg == "realdata"
}

const cure = "; a new arrow starts in internal/lint/imports.go, with its reason in docs/decisions/0002-packages.md"

// checkImports holds production code to the table. Tests may import any package.
func checkImports(m *Module) (bad []string) {
	arrows := map[string][]string{}
	for _, p := range m.production() {
		rule, ok := rowOf(p.Name)
		if !ok {
			bad = append(bad, p.Name+": this package has no row in the table"+cure)
			continue
		}
		for _, f := range p.Files {
			if f.Test {
				continue
			}
			for _, spec := range f.AST.Imports {
				ip := importPath(spec)
				to, ours := m.shortName(ip)
				allowed := true
				switch {
				case ours:
					arrows[p.Name] = append(arrows[p.Name], to)
					allowed = matchesAny(rule.uses, to)
					if testOnly(to) && !testOnly(p.Name) {
						bad = append(bad, m.at(spec.Pos(), "%s imports %s, which exists for tests only", p.Name, to))
						continue
					}
				case standard(ip):
					allowed = !slices.Contains(rule.std, ip)
				default:
					allowed = slices.ContainsFunc(rule.libs, func(lib string) bool { return under(ip, lib) })
				}
				if !allowed {
					bad = append(bad, m.at(spec.Pos(), "%s may not import %s: %s%s", p.Name, strings.TrimPrefix(ip, m.Path+"/"),
						rule.words, cure))
				}
			}
		}
	}
	for _, p := range m.production() {
		rule, _ := rowOf(p.Name)
		for _, to := range reachablePaths(arrows, p.Name) {
			if matchesAny(rule.never, to[len(to)-1]) {
				bad = append(bad, p.Name+" must never reach "+to[len(to)-1]+" (by "+strings.Join(to, " → ")+"): "+rule.words)
			}
		}
	}
	return bad
}

// reachablePaths lists a shortest path from a package to every package it imports, directly
// or through others.
func reachablePaths(arrows map[string][]string, from string) (paths [][]string) {
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

const (
	packagePage = "docs/decisions/0002-packages.md"
	tableBegin  = "<!-- the table begins -->\n"
	tableEnd    = "<!-- the table ends -->\n"
)

// packageTable is the table of the page about packages.
func packageTable() string {
	var b strings.Builder
	b.WriteString("| package | its rule | may import | must never reach |\n|---|---|---|---|\n")
	for _, r := range table {
		_, rule, _ := strings.Cut(r.words, r.pkg+" ")
		if rule == "" {
			rule = r.words
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.pkg, rule, strings.Join(slices.Concat(r.uses, r.libs), ", "),
			strings.Join(r.never, ", "))
	}
	return b.String()
}

// checkPackagePage wants the page about packages to hold the table as it is.
func checkPackagePage(m *Module) (bad []string) {
	page, err := fs.ReadFile(m.FS, packagePage)
	if err != nil {
		return []string{err.Error()}
	}
	if written, ok := replaceTable(string(page)); !ok || written != string(page) {
		return []string{packagePage +
			": must hold the table of internal/lint/imports.go; run go test ./internal/lint -update"}
	}
	return nil
}

// replaceTable puts the table into the page. ok is false where it has no place.
func replaceTable(page string) (written string, ok bool) {
	before, rest, ok1 := strings.Cut(page, tableBegin)
	_, after, ok2 := strings.Cut(rest, tableEnd)
	return before + tableBegin + packageTable() + tableEnd + after, ok1 && ok2
}
