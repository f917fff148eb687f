// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
)

var port = regexp.MustCompile(`:84\d\d\b`)

// TestPartiesTrials runs the commands of the page about parties as they stand
// there, but for the ports.
func TestPartiesTrials(t *testing.T) {
	out := runPage(t, "../../docs/parties.md", 11, "discreet evaluate --model global.json --data sample/held-out.csv\n"+
		"discreet evaluate --model secret.json --data sample/held-out.csv\n")
	for _, want := range []string{"3 of 3 parties voted", "3 of 3 parties are in the secret sum", "multiparty: G-MULTI-1",
		"multiparty: G-MULTI-5"} {
		if !strings.Contains(out, want) {
			t.Errorf("the trials do not say %q:\n%s", want, out)
		}
	}
	if n := strings.Count(out, "\naccuracy "); n != 2 {
		t.Errorf("%d models are evaluated, want 2:\n%s", n, out)
	}
}

// TestSitesTrial is the same of the page about sites. Each site's ledger holds the price afterwards.
func TestSitesTrial(t *testing.T) {
	out := runPage(t, "../../docs/sites.md", 13, "for n in north south west; do discreet budget show --ledger $n.db; done\n")
	for _, want := range []string{"Site north adds up noisy sums with south, west.", "\naccuracy ", "claim          additive: G-",
		"An evaluation is charged to data set \"later\""} {
		if !strings.Contains(out, want) {
			t.Errorf("the trial does not say %q:\n%s", want, out)
		}
	}
	t.Logf("AUC in one table, across sites and alone: %q", regexp.MustCompile(`(?m)^AUC .*`).FindAllString(out, -1))
	if n := strings.Count(out, "\naccuracy "); n < 3 {
		t.Errorf("%d models are evaluated, want 3:\n%s", n, out)
	}
	for _, of := range []string{"rows", "later"} {
		spent := regexp.MustCompile(`\n` + of + ` +3 +1 +0 +2\n`)
		if n := len(spent.FindAllString(out, -1)); n != 3 {
			t.Errorf("%d ledgers of 3 hold the price of %s:\n%s", n, of, out)
		}
	}
}

// TestRestoredSite is the restore of docs/sites-protocol.md after the trial: a site whose machine was
// lost goes on with its ledger and no state, and does not start with a ledger older than its anchor.
func TestRestoredSite(t *testing.T) {
	out := runPage(t, "../../docs/sites.md", 13, `
serve() {
	exec timeout $1 discreet-net site serve --certs certs --as party/north --listen 127.0.0.1:8461 --state north --policy north.signed.yaml \
		--officer officer.pub --key north.pem --schema clinics.yaml --data north.train.csv --held-out north.held-out.csv \
		--ledger north.db
}
lose() { kill $1; wait $1 || true; rm -r north north.db; cp backup.db north.db; }
cp north.db backup.db
jobs -p > running
lose $(tail -n 1 running)
serve 60 & north=$!
discreet-net site train --certs certs --as combiner/uni --sites sites.txt --schema clinics.yaml --epsilon 1 --delta 1e-6 --honest 2 \
	--declared-rows 10000 --wait 20s --state run --model again.json
discreet budget show --ledger north.db
lose $north
if (serve 5); then exit 1; fi
`)
	if n := strings.Count(out, "wrote "); n != 4 || !regexp.MustCompile(`\nrows +3 +2 +0 +1\n`).MatchString(out) {
		t.Errorf("%d trainings ended with a model and their price:\n%s", n, out)
	}
	if !regexp.MustCompile(`ledger.*anchor`).MatchString(out) {
		t.Errorf("an old ledger is not refused for its anchor:\n%s", out)
	}
}

// TestKilledSites kills sites fifteen times while they work. It kills the three sites of the trial. Then, in each of
// four trainings, it kills one site as it begins and the others at an early and a late measurement. With the same command on
// the same ledger each goes on. Every training ends with a model, and every ledger holds its price once.
func TestKilledSites(t *testing.T) {
	out := runPage(t, "../../docs/sites.md", 13, `
serve() {
	: > $1.log
	discreet-net site serve --certs certs --as party/$1 --listen 127.0.0.1$2 --state $1 --policy $1.signed.yaml --officer officer.pub \
		--key $1.pem --schema clinics.yaml --data $1.train.csv --held-out $1.held-out.csv --ledger $1.db 2> $1.log &
	echo $! > $1.pid
}
fail() { cat ./*.log; exit 1; }
end() { kill -9 $1; wait $1 || true; echo killed; }
at() {
	until [ $(grep -c "v1/$2\"" $1.log) -ge $3 ]; do kill -0 $train || fail; sleep 0.02; done
	end $(cat $1.pid)
	serve $1 $4
}
jobs -p > running
for p in $(cat running); do end $p; done
serve north :8461; serve south :8462; serve west :8463
for n in 1 2 3 4; do
	: > north.log; : > south.log; : > west.log
	discreet-net site train --certs certs --as combiner/uni --sites sites.txt --schema clinics.yaml --epsilon 0.2 --delta 1e-7 \
		--honest 2 --declared-rows 10000 --wait 1m --state run --model k$n.json & train=$!
	at north begin 1 :8461
	at south ask $n :8462
	at west ask $((2 + 3 * n)) :8463
	wait $train || fail
done
for n in north south west; do discreet budget show --ledger $n.db; end $(cat $n.pid) > /dev/null; done
`)
	if n := strings.Count(out, "killed\n"); n != 15 {
		t.Errorf("%d kills", n)
	}
	if n := strings.Count(out, "\nwrote "); n != 7 { // with the models of the page
		t.Errorf("%d models:\n%s", n, out)
	}
	if n := len(regexp.MustCompile(`\nrows +3 +1\.8 +0 +1\.2\n`).FindAllString(out, -1)); n != 3 {
		t.Errorf("%d ledgers of 3 hold each price once:\n%s", n, out)
	}
}

// runPage runs the commands of a page, and some after them, and returns what they print.
func runPage(t *testing.T, path string, want int, after string) string {
	t.Helper()
	size.OnlyLong(t, "runs every trial of the page; the tests of services train the same models")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	script := "set -eu\ntrap 'jobs -p > jobs; kill $(cat jobs) && wait' EXIT\ndiscreet demo --rows 4000 --save sample " +
		"> /dev/null\n"
	commands := 0
	for _, block := range strings.Split(string(page), "```console\n")[1:] {
		text, _, _ := strings.Cut(block, "```")
		for line := range strings.Lines(text) {
			command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
			if !ok {
				t.Fatalf("the page's block has a line that is no command: %q", line)
			}
			script += command + "\n"
			commands++
		}
	}
	if commands != want {
		t.Errorf("the page has %d commands, %d are known", commands, want)
	}
	free := map[string]string{}
	script = port.ReplaceAllStringFunc(script+after, func(p string) string {
		if free[p] == "" {
			a := freeAddress(t)
			free[p] = a[strings.LastIndexByte(a, ':'):]
		}
		return free[p]
	})
	c := exec.CommandContext(t.Context(), "sh", "-c", script)
	c.Dir = t.TempDir()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}
