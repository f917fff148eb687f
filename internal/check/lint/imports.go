// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"path"
	"slices"
	"strings"
)

// barrier separates packages within the order of rooms, which checkRooms checks: no package that matches
// of may import one that matches never, directly or indirectly. In patterns * stands for one name, and **
// for any number of them.
type barrier struct {
	of, never []string
	why       string
}

var barriers = []barrier{
	{[]string{"learn", "learn/*"}, []string{"table/read/dataset", "table/engine/memory", "table/census", "ledger", sealed},
		"a learner asks a guard: it sees no rows, files or accounts"},
	{[]string{"guard", "guard/**"}, []string{"table/read/dataset", "table/engine/memory"},
		"the promise rests on the guard alone, wherever rows are"},
	{[]string{"ledger"}, []string{"table/**"}, "prices do not know what they are for"},
	{[]string{"table/read/dataset", "table/read/rows", "table/read/object", "table/engine/*"}, []string{"privacy/mech", "privacy/rng"},
		"rows and their sums do not know noise"},
	{[]string{"table/schema", "table/column", "table/feature", "table/read/coding", "table/engine", "table/engine/kernel",
		"table/engine/question", "table/engine/solver", "table/engine/statistic"}, []string{"table/read/dataset", "table/engine/memory", "table/census"},
		"they do not know where rows are"},
	{[]string{"table/read/pages"}, []string{"table/**", "privacy/**"}, "pages know neither schemas nor tables"},
	{[]string{"model", "model/**", "release/card"}, []string{"privacy/mech", "privacy/rng", "learn", "guard", "table/engine"},
		"what is released is read without noise, learners or training rows"},
	{[]string{"net/federated/collect", "net/service/aggregator", "net/service/helper"}, []string{"net/federated/answer", "net/service/owner",
		"table/read/dataset"}, "an aggregator has no rows and no owner's code"},
	{[]string{"net/federated/answer", "net/service/owner"}, []string{"net/federated/collect", "net/service/aggregator"},
		"an owner has none of the aggregator's code"},
	{[]string{".", "guard", "train", "net/service/**", "commands/cli", "train/forecast"}, []string{"privacy/rng/replay"},
		"seeded randomness is for tests and experiments"},
	{[]string{"explorer/planning", "explorer/engine", "explorer/worker"}, []string{"explorer/serve"},
		"what runs in the page does not know the network"},
}

// sealed is the package that opens a guard; only the packages in mayOpen may import it.
const sealed = "guard/extend"

var mayOpen = []string{"net/federated/sites", "net/service/site", "lab/**"}

// besideGuard are packages that learners may not import directly, because the guard's answers already
// have noise.
var besideGuard = []string{"privacy/mech", "privacy/rng"}

// beforeCharge is the package that runs before a charge. It may not import packages that read rows
// directly.
const beforeCharge = "explorer/planning"

var readers = []string{"table/read/dataset", "table/read/object", "table/read/sqlrows", "table/read/rows", "table/engine/memory"}

// pure are packages that use no files, network, clock or other processes.
var pure = []string{"ground/dp", "privacy/response", "privacy/mech", "privacy/accounting", "table/column",
	"table/feature", "table/read/coding", "table/engine", "table/engine/kernel", "table/engine/question", "table/engine/solver", "table/engine/statistic",
	"table/read/pages", "model/metrics", beforeCharge,
	"guard", "guard/**", "learn", "learn/*", "ground/optimize", "model/shrink", "net/federated/flp", "net/federated/secsum", "net/federated/wire",
	"net/federated/answer", "net/federated/collect", "net/federated/multiparty"}

var impure = []string{"os", "os/exec", "io/ioutil", "syscall", "net", "net/http", "log", "log/slog", "time"}

// beyondPure are packages that learners may not import either, because they could reveal what the
// guard seals.
var beyondPure = []string{"runtime", "unsafe", "reflect"}

// yamlDoor is the only package that may import a YAML library.
const yamlDoor = "ground/yamltext"

// seeded are the packages that may use reproducible randomness. Elsewhere it is forbidden, because
// anyone who knows the seed can subtract the noise. Heldout uses it to split rows.
var seeded = []string{"privacy/rng/replay", "train/heldout", "lab/**"}

var reproducible = []string{"math/rand", "math/rand/v2", "privacy/rng/replay"}

// matches reports whether a package matches one of the patterns.
func matches(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if root, deep := strings.CutSuffix(p, "/**"); deep {
			return strings.HasPrefix(pkg, root+"/")
		}
		ok, _ := path.Match(p, pkg)
		return ok
	})
}

// testOnly reports whether a package is for tests only, so that production code may not import it.
func testOnly(pkg string) bool {
	return under(pkg, "check") || under(pkg, "net/testkit")
}

// checkImports checks the imports of production code against the barriers. Tests may import any
// package.
func checkImports(m *Module) (bad []string) {
	arrows := map[string][]string{}
	for _, f := range m.production() {
		from := f.Package
		for _, spec := range f.AST.Imports {
			ip := importPath(spec)
			to, ours := m.shortName(ip)
			switch {
			case ours && testOnly(to) && !testOnly(from):
				bad = append(bad, m.at(spec.Pos(), "%s imports %s, which exists for tests only", from, to))
			case ours && to == sealed && !matches(mayOpen, from),
				ours && matches([]string{"learn", "learn/*"}, from) && slices.Contains(besideGuard, to) && !testOnly(from),
				ours && from == beforeCharge && slices.Contains(readers, to):
				bad = append(bad, m.at(spec.Pos(), "%s may not import %s", from, to))
			case slices.Contains(reproducible, to) && !matches(seeded, from) && !testOnly(from):
				bad = append(bad, m.at(spec.Pos(), "%s may not import %s: draw from rng.Source", from, to))
			case !ours && strings.Contains(ip, "yaml") && from != yamlDoor:
				bad = append(bad, m.at(spec.Pos(), "%s may not import %s: only %s reads YAML, within its bounds", from, ip, yamlDoor))
			case ours:
				arrows[from] = append(arrows[from], to)
			case testOnly(from):
			case matches(pure, from) && slices.Contains(impure, ip),
				matches([]string{"learn", "learn/*"}, from) && slices.Contains(beyondPure, ip):
				bad = append(bad, m.at(spec.Pos(), "%s may not import %s", from, ip))
			}
		}
	}
	for from := range arrows {
		for _, b := range barriers {
			if !matches(b.of, from) || testOnly(from) {
				continue
			}
			for _, way := range reachablePaths(arrows, from) {
				if matches(b.never, way[len(way)-1]) && !testOnly(way[len(way)-1]) {
					bad = append(bad, from+" must never reach "+way[len(way)-1]+" (by "+strings.Join(way, " → ")+"): "+b.why)
				}
			}
		}
	}
	slices.Sort(bad)
	return bad
}

// reachablePaths lists a shortest path from a package to every package it imports, directly or
// indirectly.
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
