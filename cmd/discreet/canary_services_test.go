// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/commands/cli"
)

// No service shows a protected cell: owners, their aggregator and their helpers, in both modes,
// parties, their combiner and their helpers, in both modes, and sites and their coordinator: not on an
// output, in a log, on a page or in a file. Owners and parties are given tables that they cannot read, too.
func TestNoServiceShowsAProtectedCell(t *testing.T) {
	owners := size.Of(100, 300)
	tr := newTrial(t, owners)
	t.Chdir(tr.dir)
	t.Setenv("TMPDIR", makeFolder(t, "temp"))
	t.Setenv("XDG_STATE_HOME", makeFolder(t, "home"))
	plantVisits(t, owners)
	// Owners' programs need not know buckets, dates or columns that are derived.
	own, _, _ := strings.Cut(visits, "derived:")
	for _, change := range [][2]string{{"pairs: [[usual, city]]\n", ""}, {"person: {column: who, rows: 2}\n", ""},
		{"buckets: 3, ", ""}, {"private, date: {format: DD.MM.YYYY, lower: 2015-01-01, upper: 2049-12-31, " +
			"default: 2020-01-01}", "ignored"}, {"private, category: {buckets: 7}", "ignored"}} {
		own = strings.Replace(own, change[0], change[1], 1)
	}
	give(t, "own.yaml", own)
	given := []string{"visits.csv", "given.txt"}
	give(t, "given.txt", mistaken[0])
	runDiscreet(t, strings.Fields("site fit --data visits.csv --schema single.yaml --learner logistic --model m.json")...)
	t.Setenv(canaryProcess, "1")

	var said bytes.Buffer
	var running []*exec.Cmd
	t.Cleanup(func() {
		for _, c := range running {
			c.Process.Kill()
			c.Wait()
		}
	})
	do := func(code int, as, line string) string {
		t.Helper()
		c := tr.command(as, strings.Fields(line)...)
		var out, talk bytes.Buffer
		c.Stdout, c.Stderr = &out, &talk
		if err := c.Run(); c.ProcessState == nil || c.ProcessState.ExitCode() != code {
			t.Fatalf("%s: %v, want exit code %d\n%s", line, err, code, &talk)
		}
		said.Write(out.Bytes())
		said.Write(talk.Bytes())
		return strings.TrimSpace(out.String())
	}
	for role, names := range map[string]string{"party": "a b c d e f", "combiner": "uni"} {
		for name := range strings.FieldsSeq(names) {
			runDiscreet(t, "certs", "trial", "--dir", "certs", role+"/"+name)
		}
	}
	pages := []string{tr.page}
	running = append(running, tr.serve())
	starts, helpers := tr.helpers(3)
	for _, start := range starts {
		running = append(running, start())
	}

	// Owners.
	for _, mode := range []string{"local", "aggregate"} {
		book := mode + ".db"
		args := []string{"--schema", "own.yaml", "--rounds", "1", "--minimum", "2"}
		if mode == "aggregate" {
			args = append(append(args, "--helpers", helpers), tr.listed(book, owners)...)
		}
		task := tr.announce(owners, args...)
		line := strings.Join(tr.ownerArgs(task, book, owners), " ") + " --mode " + mode
		line = with(line, "--data visits.csv")
		if mode == "aggregate" {
			line += fmt.Sprint(" --honest ", owners)
		}
		do(1, "owner/clinic", with(line, "--data given.txt"))
		closed := tr.closeWhenFull(task, owners, book)
		do(0, "owner/clinic", line)
		closed()
		do(0, "reader/ben", "task show "+task+" --server https://"+tr.address+" --wait --model "+mode+".json")
	}

	// Parties. The rows that they vote on are the combiner's own.
	if err := copyFile("visits.csv", "aux.csv"); err != nil {
		t.Fatal(err)
	}
	given = append(given, "aux.csv")
	keys, peers := map[string]string{}, map[string]string{}
	for name := range strings.FieldsSeq("a b c d e f") {
		keys[name] = strings.TrimSpace(runDiscreet(t, "keygen", "--out", name+".pem"))
	}
	for mode, names := range map[string]string{"local": "a b c", "aggregate": "d e f"} {
		list := ""
		for name := range strings.FieldsSeq(names) {
			list += "https://127.0.0.1:1 " + keys[name] + " " + name + "\n"
		}
		give(t, mode+".txt", list)
	}
	for i, name := range strings.Fields("a b c d e f") {
		at, page := freeAddress(t), freeAddress(t)
		args := []string{"site", "serve", "--listen", at, "--page", page, "--state", "s" + name, "--aux-schema", "single.yaml",
			"--key", name + ".pem", "--policy", name + ".votes", "--officer", "d.pem.pub", "--ledger", "s" + name + ".db"}
		mode, draft := "local", "site init --site "+name+" --aux aux.csv --aux-schema single.yaml --coordinator uni --epsilon 20 "+
			"--lifetime-epsilon 60 --lifetime-delta 1e-12 --until 2999-12-31 --out "+name+".draft"
		if i >= 3 {
			mode = "aggregate"
			draft += " --honest 2 --helpers " + helpers
		}
		runDiscreet(t, strings.Fields(draft+" --sites "+mode+".txt")...)
		runDiscreet(t, strings.Fields("site sign --policy "+name+".draft --key d.pem --out "+name+".votes")...)
		if voter := []string{"--model", "m.json"}; i%3 > 0 {
			args = append(args, voter...)
		} else {
			args = append(args, "--command", `awk 'NR==1{print "no,yes"} NR>1{print 3","NR%7}'`)
		}
		running = append(running, tr.start(name+".log", "party/"+name, args...))
		pages = append(pages, page)
		peers[mode] += fmt.Sprintf("https://%s %s %s\n", at, keys[name], name)
	}
	for mode, list := range peers {
		give(t, "peers.txt", list)
		line := "site vote --sites peers.txt --wait 1m --aux aux.csv --schema single.yaml --parties 10 --epsilon 20 --model c.json"
		if mode == "aggregate" {
			line += " --secure-sum --honest 2 --minimum 3 --helpers " + helpers
		}
		do(0, "combiner/uni", with(line, "--model "+mode+"-c.json"))
		do(1, "combiner/uni", with(line, "--aux given.txt"))
	}

	// Sites.
	give(t, "site.yaml", strings.NewReplacer("replace-one", "add-remove", "role: public", "role: private").Replace(own))
	rows, err := os.ReadFile("visits.csv")
	if err != nil {
		t.Fatal(err)
	}
	give(t, "later.csv", string(rows[:bytes.LastIndexByte(bytes.TrimSpace(rows), '\n')+1])) // all rows but one
	given = append(given, "later.csv")
	list, serve := "", map[string][]string{}
	for name := range strings.FieldsSeq("a b c") {
		at := freeAddress(t)
		list += fmt.Sprintf("https://%s %s %s\n", at, keys[name], name)
		serve[name] = strings.Fields(fmt.Sprintf("site serve --listen %s --state t%s --policy %s.signed --officer d.pem.pub --key "+
			"%s.pem --schema site.yaml --data visits.csv --held-out later.csv --ledger t%s.db", at, name, name, name, name))
	}
	give(t, "sites.txt", list)
	give(t, "map.yaml", "columns: {city: {name: city}}\n")
	serve["a"] = append(serve["a"], "--map", "map.yaml")
	for name, args := range serve {
		runDiscreet(t, strings.Fields("site init --site "+name+" --sites sites.txt --schema site.yaml --coordinator uni --honest "+
			"2 --epsilon 20 --lifetime-epsilon 60 --held-out later --until 2999-12-31 --out "+name+".yaml")...)
		draft, err := os.ReadFile(name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		give(t, name+".yaml", strings.Replace(string(draft), "number: 1", "number: 2", 1)) // after that of its votes
		runDiscreet(t, strings.Fields("site sign --policy "+name+".yaml --key d.pem --out "+name+".signed")...)
		before := said.Len()
		do(1, "party/"+name, strings.Join(args, " "))
		if words := said.String()[before:]; !strings.Contains(words, "nobody has checked that this schema fits this table; discreet-net site check") {
			t.Errorf("a site does not ask for a check: %s", words)
		}
		check := "site check --policy " + name + ".signed --schema site.yaml --checks " + name + ".checks --mostly 100 "
		if name == "a" {
			check += "--map map.yaml "
		}
		for _, data := range []string{"given.txt", "visits.csv", "later.csv"} {
			cli.Run(t.Context(), newBoth, strings.Fields(check+"--data "+data), nil, strings.NewReader(""), &said, &said)
		}
		args = append(args, "--checks", name+".checks")
		do(1, "party/"+name, with(strings.Join(args, " "), "--data given.txt"))
		do(1, "party/"+name, with(strings.Join(args, " "), "--held-out given.txt"))
		running = append(running, tr.start("t"+name+".log", "party/"+name, args...))
	}
	do(0, "combiner/uni", "site train --sites sites.txt --schema site.yaml --epsilon 20 --honest 2 --declared-rows 900 --wait 1m "+
		"--state run --model sites.json")
	do(0, "combiner/uni", "site evaluate --sites sites.txt --schema site.yaml --epsilon 20 --honest 2 --wait 1m --state run "+
		"--model sites.json")

	for _, page := range pages {
		for _, path := range []string{"/", "/metrics", "/healthz", "/readyz"} {
			answer, err := http.Get("http://" + page + path)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			said.Write(text)
		}
	}
	if showsCanary(said.String()) {
		t.Errorf("said: %s", &said)
	}
	looked := map[string]bool{}
	for name, text := range listFiles(t, tr.dir) {
		looked[filepath.Base(name)] = text != ""
		public := strings.Contains(filepath.ToSlash(name), "/tables/") // what coordinators sent of the public table
		if !public && !slices.Contains(given, name) && showsCanary(name+"\n"+text) {
			t.Errorf("%s shows a protected cell", name)
		}
	}
	for _, name := range []string{"aggregator.log", "h0.log", "a.log", "d.log", "state.db", "h0.db", "local.db", "aggregate.db",
		"local.json", "aggregate.json", "local-c.json", "aggregate-c.json", "ta.log", "ta.db", "sites.json"} {
		if !looked[name] {
			t.Errorf("%s is not looked at", name)
		}
	}
}

// makeFolder makes a folder below this one and returns its path.
func makeFolder(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(name)
	if err == nil {
		err = os.Mkdir(path, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}
