// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
)

// TestRestoredSite is the restore of docs/sites-protocol.md after the trial: a site whose machine was
// lost goes on with its ledger and no state, and does not start with a ledger older than its anchor.
func TestRestoredSite(t *testing.T) {
	out := runAfterDemo(t, `
lose() { kill $(cat north.pid); wait $(cat north.pid) || true; rm -r north north.db; cp backup.db north.db; }
serve north; serve south; serve west
cp north.db backup.db
lose; serve north
(train --epsilon 1 --delta 1e-6 --wait 20s --model again.json)
discreet budget show --ledger north.db
lose; serve north
if wait $(cat north.pid); then exit 1; fi
cat north.log
`)
	if n := strings.Count(out, "wrote "); n != 1 || !regexp.MustCompile(`\nrows +3 +2 +0 +1\n`).MatchString(out) {
		t.Errorf("%d trainings after the demo ended with a model and their price:\n%s", n, out)
	}
	if !regexp.MustCompile(`ledger.*anchor`).MatchString(out) {
		t.Errorf("an old ledger is not refused for its anchor:\n%s", out)
	}
}

// TestKilledSites kills sites fifteen times: at rest, after the demo, and, in each of
// four trainings, it kills one site as it begins and the others at an early and a late measurement. With the same command on
// the same ledger each goes on. Every training ends with a model, and every ledger holds its price once.
func TestKilledSites(t *testing.T) {
	out := runAfterDemo(t, `
fail() { cat ./*.log; exit 1; }
end() { kill -9 $1; wait $1 || true; echo killed; }
at() {
	until [ $(grep -c "v1/$2\"" $1.log) -ge $3 ]; do kill -0 $train || fail; sleep 0.02; done
	end $(cat $1.pid)
	serve $1
}
for n in north south west; do serve $n; end $(cat $n.pid); serve $n; done
for n in 1 2 3 4; do
	: > north.log; : > south.log; : > west.log
	train --epsilon 0.2 --delta 1e-7 --wait 1m --model k$n.json & train=$!
	at north begin 1
	at south ask $n
	at west ask $((2 + 3 * n))
	wait $train || fail
done
for n in north south west; do discreet budget show --ledger $n.db; end $(cat $n.pid) > /dev/null; done
`)
	if n := strings.Count(out, "killed\n"); n != 15 {
		t.Errorf("%d kills", n)
	}
	if n := strings.Count(out, "\nwrote "); n != 4 {
		t.Errorf("%d models:\n%s", n, out)
	}
	if n := len(regexp.MustCompile(`\nrows +3 +1\.8 +0 +1\.2\n`).FindAllString(out, -1)); n != 3 {
		t.Errorf("%d ledgers of 3 hold each price once:\n%s", n, out)
	}
}

// TestSiteIsKilledForGood kills a site in a training that it may leave, and never starts it again: before the first measurement,
// at an early one and at a later one (which may have been the last as it is seen). Each training ends with a model, and every ledger holds its price once.
func TestSiteIsKilledForGood(t *testing.T) {
	out := runAfterDemo(t, `
for n in north south west; do
	sed 's/^number: 1/number: 2/; s/^minimum_sites: 3/minimum_sites: 2/; s/^training:/own_numbers: true\nmay_leave: 1\ntraining:/' $n.yaml > own.yaml
	discreet-net site sign --policy own.yaml --key officer --out $n.signed.yaml
	serve $n
done
k=0
for at in "begin 1" "ask 3" "ask 8"; do
	k=$((k + 1))
	: > west.log
	train --epsilon 0.2 --delta 1e-7 --honest 1 --may-leave 1 --wait 5s --model k$k.json & train=$!
	until [ $(grep -c "v1/${at% *}\"" west.log) -ge ${at#* } ]; do kill -0 $train; sleep 0.02; done
	kill -9 $(cat west.pid); wait $(cat west.pid) || true
	wait $train
	serve west
done
for n in north south west; do discreet budget show --ledger $n.db; done
`)
	if n := len(regexp.MustCompile(`2 of 3 sites answered all \d+ measurements; west left after \d+\.`).FindAllString(out, -1)); n < 2 || strings.Count(out, "\nwrote ") != 3 {
		t.Errorf("%d of 3 trainings ended without west:\n%s", n, out)
	}
	if n := len(regexp.MustCompile(`\nrows +3 +1\.6 +0 +1\.4\n`).FindAllString(out, -1)); n != 3 {
		t.Errorf("%d ledgers of 3 hold each price once:\n%s", n, out)
	}
}

// runAfterDemo runs a script in the folder of discreet-net demo sites, and returns what it prints. The script has two functions:
// serve NAME starts a site with the command that the demo left, and train trains across them.
func runAfterDemo(t *testing.T, script string) string {
	t.Helper()
	size.OnlyLong(t, "trains across sites several times; the tests of services train the same models")
	c := exec.CommandContext(t.Context(), "sh", "-c", `set -eu
trap 'jobs -p > jobs; kill $(cat jobs) && wait' EXIT
discreet-net demo sites --save demo > /dev/null 2>&1
cd demo
one() { sed -e ':a' -e '/\\$/N; s/\\\n *//; ta' commands.sh | sed -n "s/ &$//; s/^\(discreet-net $1 .*\)/exec \1/p"; }
serve() {
	one "site serve" | grep "party/$1 " > $1.sh
	: > $1.log
	sh $1.sh 2> $1.log &
	echo $! > $1.pid
}
train() {
	exec discreet-net site train --certs certs --as combiner/uni --sites members.txt --schema schema.yaml --honest 2 \
		--declared-rows 10000 --state run "$@"
}
`+script)
	c.Dir = t.TempDir()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}
