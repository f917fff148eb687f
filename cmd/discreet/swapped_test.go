// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/check/testkit/clitest"
	"github.com/discreet-dp/discreet/internal/commands/cli"
)

// reading are the flags and arguments that name a file or a folder to read, by
// command, with the rest of a command line that gets as far as reading it: FILE is
// what was given by mistake, and words without a dash are commands.
var reading = map[string]string{
	"doctor --schema":   "doctor --schema FILE",
	"doctor --model":    "doctor --model FILE",
	"doctor --ledger":   "doctor --ledger FILE",
	"doctor --anchors":  "doctor --ledger l.db --anchors FILE",
	"doctor --tls-cert": "doctor --tls-cert FILE --tls-key FILE",
	"doctor --tls-key":  "doctor --tls-cert FILE --tls-key FILE",
	"doctor --tokens":   "doctor --tokens FILE",

	"audit --model":      "audit --model FILE --epsilon 1 --runs 64",
	"audit --schema":     "audit --learner brc --schema FILE --epsilon 1 --runs 64",
	"audit --neighbours": "audit --command cat_{data} --neighbours FILE,FILE --epsilon 1 --runs 64",

	"schema init --public-sample": "schema init census.csv --public-sample FILE",

	"release FILE":                  "release FILE --key key.pem --out n.zip",
	"release --key":                 with(releaseLine, "--key FILE"),
	"release --audit":               with(releaseLine, "--audit FILE"),
	"release --evaluation":          with(releaseLine, "--evaluation FILE"),
	"release --attack":              with(releaseLine, "--attack FILE") + " --not-private",
	"release --ledger":              with(releaseLine, "--ledger FILE"),
	"release --anchors":             with(releaseLine, "--ledger l.db --anchors FILE"),
	"verify FILE":                   "verify FILE --keys sign.pub",
	"plan --policy":                 "plan --schema census.yaml --epsilon 1 --policy FILE",
	"train --policy":                with(trainLine, withLedger+" --policy FILE"),
	"site fit --policy":             with(partyTrainLine, withLedger+" --policy FILE"),
	"release --policy":              with(releaseLine, "--policy FILE"),
	"verify --policy":               "verify r.zip --keys sign.pub --policy FILE",
	"verify --keys":                 "verify r.zip --keys FILE",
	"verify --schema":               "verify r.zip --keys sign.pub --schema FILE",
	"predict --require-signed":      "predict --model r.zip --data census.csv --out p.csv --require-signed FILE",
	"predict-rows --require-signed": "predict-rows --model r.zip --require-signed FILE",
	"serve --require-signed":        "serve --model r.zip --listen NOWHERE --require-signed FILE",

	"schema check FILE":         "schema check FILE",
	"schema check --data":       "schema check census.yaml --data FILE",
	"schema check --checks":     "schema check census.yaml --data census.csv --checks FILE",
	"train --checks":            with(trainLine, "--checks FILE"),
	"site fit --checks":         with(partyTrainLine, "--checks FILE"),
	"simulate --checks":         with(simulateLine, "--checks FILE"),
	"schema init DATA":          "schema init FILE",
	"plan --schema":             "plan --schema FILE --epsilon 1",
	"plan --ledger":             "plan --schema census.yaml --epsilon 1 --ledger FILE --dataset d",
	"train --data":              with(trainLine, "--data FILE"),
	"train --schema":            with(trainLine, "--schema FILE"),
	"site vote --anchors":       with(combineLine, withLedger+" --anchors FILE"),
	"site fit --anchors":        with(partyTrainLine, withLedger+" --anchors FILE"),
	"simulate --anchors":        with(simulateLine, withLedger+" --anchors FILE"),
	"train --anchors":           with(trainLine, withLedger+" --anchors FILE"),
	"plan --anchors":            "plan --schema census.yaml --epsilon 1 " + withLedger + " --anchors FILE",
	"budget init --anchors":     "budget init --dataset other --epsilon 1 --ledger l.db --anchors FILE",
	"budget show --anchors":     "budget show --ledger l.db --anchors FILE",
	"budget history --anchors":  "budget history --ledger l.db --anchors FILE",
	"budget verify --anchors":   "budget verify --ledger l.db --anchors FILE",
	"budget recover --anchors":  "budget recover --ledger l.db --anchors FILE",
	"aggregator --anchors":      with(aggregatorLine, "--anchors FILE"),
	"helper --anchors":          with(helperLine, "--anchors FILE"),
	"owner keys --anchors":      "owner keys --book b.db --lifetime-epsilon 1 --anchors FILE",
	"train --ledger":            with(trainLine, "--ledger FILE --dataset d"),
	"budget init --ledger":      "budget init --ledger FILE --dataset d --epsilon 1",
	"train --key":               with(trainLine, withLedger+" --key FILE"),
	"site fit --key":            with(partyTrainLine, withLedger+" --key FILE"),
	"budget init --key":         "budget init --ledger new.db --dataset d --epsilon 1 --key FILE",
	"budget init --policy":      "budget init --ledger new.db --key sign --policy FILE",
	"budget sign --draft":       "budget sign --draft FILE --key sign --out n.yaml",
	"budget sign --key":         "budget sign --draft project.yaml --key FILE --out n.yaml",
	"budget appoint --ledger":   "budget appoint --ledger FILE --key sign --policy project.signed",
	"budget appoint --key":      "budget appoint --ledger l.db --key FILE --policy project.signed",
	"budget appoint --anchors":  "budget appoint --ledger l.db --key sign --policy project.signed --anchors FILE",
	"budget appoint --policy":   "budget appoint --ledger l.db --key sign --policy FILE",
	"budget allot --ledger":     "budget allot --ledger FILE --dataset d --key k --name n --public k.pub --epsilon 0.1",
	"budget allot --key":        "budget allot --ledger l.db --dataset d --key FILE --name n --public k.pub --epsilon 0.1",
	"budget allot --anchors":    "budget allot --ledger l.db --dataset d --key k --name n --public k.pub --epsilon 0.1 --anchors FILE",
	"budget allot --public":     "budget allot --ledger l.db --dataset d --key k --name n --public FILE --epsilon 0.1",
	"budget approve --ledger":   "budget approve --ledger FILE --dataset d --key k --job j",
	"budget approve --key":      "budget approve --ledger l.db --dataset d --key FILE --job j",
	"budget approve --anchors":  "budget approve --ledger l.db --dataset d --key k --job j --anchors FILE",
	"budget refuse --ledger":    "budget refuse --ledger FILE --dataset d --key k --job j --reason r",
	"budget refuse --key":       "budget refuse --ledger l.db --dataset d --key FILE --job j --reason r",
	"budget refuse --anchors":   "budget refuse --ledger l.db --dataset d --key k --job j --reason r --anchors FILE",
	"budget forecast --ledger":  "budget forecast --ledger FILE --dataset d",
	"budget forecast --anchors": "budget forecast --ledger l.db --dataset d --anchors FILE",
	"budget report --ledger":    "budget report --ledger FILE --dataset d",
	"budget report --anchors":   "budget report --ledger l.db --dataset d --anchors FILE",
	"budget init --parts":       "budget init --ledger new.db --dataset d --epsilon 1 --parts FILE",
	"budget show --ledger":      "budget show --ledger FILE",
	"budget history --ledger":   "budget history --ledger FILE",
	"budget verify --ledger":    "budget verify --ledger FILE",
	"budget recover --ledger":   "budget recover --ledger FILE",
	"simulate --data":           with(simulateLine, "--data FILE"),
	"simulate --ledger":         with(simulateLine, "--ledger FILE --dataset d"),
	"site fit --ledger":         with(partyTrainLine, "--ledger FILE --dataset d"),
	"simulate --schema":         with(simulateLine, "--schema FILE"),
	"site plan --schema":        "site plan --schema FILE --parties 9 --epsilon 1",
	"site fit --data":           "site fit --data FILE --schema census.yaml --learner logistic --model n.json",
	"site fit --schema":         "site fit --data census.csv --schema FILE --learner logistic --model n.json",
	"site cast --model":         with(voteLine, "--model FILE"),
	"site cast --csv":           "site cast --csv FILE --schema census.yaml --aux census.csv --out v",
	"site cast --aux":           with(voteLine, "--aux FILE"),
	"site cast --schema":        with(voteLine, "--schema FILE"),
	"site cast --key":           with(voteLine, "--key FILE"),
	"site vote --schema":        with(combineLine, "--schema FILE"),
	"site vote --votes":         with(combineLine, "--votes FILE"),
	"site vote --aux":           with(combineLine, "--aux FILE"),
	"site vote --roster":        with(combineLine, "--roster FILE"),
	"site vote --ledger":        with(combineLine, "--ledger FILE --dataset d"),
	"site vote --sites":         with(askLine, "--sites FILE"),
	"site vote --certs":         with(askLine, "--certs FILE"),
	"predict --model":           "predict --model FILE --data census.csv --out p.csv",
	"predict-rows --model":      "predict-rows --model FILE",
	"predict --data":            "predict --model m.json --data FILE --out p.csv",
	"show FILE":                 "show FILE",
	"card --model":              "card --model FILE --out c.html",
	"card --ledger":             "card --model m.json --out c.html --ledger FILE",
	"card --anchors":            "card --model m.json --out c.html --ledger l.db --anchors FILE",
	"card --audit":              "card --model m.json --out c.html --audit FILE",
	"card --about-file":         "card --model m.json --out c.yaml --about-file FILE",
	"schema init --codebook":    "schema init census.csv --codebook FILE",
	"schema init --types":       "schema init census.csv --types FILE",
	"explain --model":           "explain --model FILE --out e.html",
	"export --model":            "export --model FILE --format onnx --out m.onnx",
	"split --data":              "split --data FILE --schema census.yaml --train a.csv --test b.csv",
	"split --schema":            "split --data census.csv --schema FILE --train a.csv --test b.csv",
	"split --ledger":            "split --data census.csv --schema clinics.yaml --train a.csv --test b.csv --sides x,y --ledger FILE",
	"split --anchors":           "split --data census.csv --schema clinics.yaml --train a.csv --test b.csv --sides x,y --ledger l.db --anchors FILE",
	"ui --files":                "ui --files FILE",
	"ui --ledger":               "ui --ledger FILE --dataset d",
	"ui --anchors":              "ui --ledger l.db --dataset d --anchors FILE",
	"serve --model":             "serve --model FILE --listen NOWHERE",
	"serve --tls-cert":          "serve --model m.json --listen NOWHERE --tls-cert FILE --tls-key FILE",
	"serve --tls-key":           "serve --model m.json --listen NOWHERE --tls-cert FILE --tls-key FILE",
	"serve --tokens":            "serve --model m.json --tokens FILE --listen NOWHERE",
	"evaluate --model":          "evaluate --model FILE --data census.csv",
	"evaluate --data":           "evaluate --model m.json --data FILE",
	"evaluate --schema":         with(judgeLine, "--schema FILE"),
	"evaluate --compare":        with(judgeLine, "--compare FILE"),
	"evaluate --ledger":         with(judgeLine, "--ledger FILE --dataset d"),
	"evaluate --anchors":        with(judgeLine, withLedger+" --anchors FILE"),
	"evaluate --key":            with(judgeLine, withLedger+" --key FILE"),
	"net-doctor --certs":        "net-doctor --certs FILE",
	"net-doctor --gateway":      "net-doctor --certs certs --gateway FILE",
	"certs trial --dir":         "certs trial --dir FILE owner/x",
	"certs request --dir":       "certs request owner/x --dir FILE",
	"serve --config":            "serve --config FILE",
	"site serve --config":       "site serve --config FILE",
	"aggregator --config":       "aggregator --config FILE",
	"helper --config":           "helper --config FILE",
	"aggregator --certs":        with(aggregatorLine, "--certs FILE"),
	"aggregator --state":        with(aggregatorLine, "--state FILE"),
	"helper --certs":            with(helperLine, "--certs FILE"),
	"helper --store":            with(helperLine, "--store FILE"),
	"task create --certs":       with(createLine, "--certs FILE"),
	"task create --schema":      with(createLine, "--schema FILE"),
	"task create --roster":      with(createLine, "--roster FILE"),
	"task list --certs":         "task list --certs FILE --as reader/x --server SERVER",
	"task show --certs":         "task show TASK --certs FILE --as reader/x --server SERVER",
	"task close --certs":        "task close TASK --certs FILE --as operator/x --server SERVER",
	"owner --certs":             with(ownerLine, "--certs FILE"),
	"owner --book":              "", // opened as that of owner keys is
	"owner --anchors":           "", // opened as that of owner keys is
	"owner --data":              "", // read as train's is, once an aggregator has told the task
	"owner keys --book":         "owner keys --book FILE --lifetime-epsilon 1",
	"demo people --data":        "demo people --schema census.yaml --data FILE --save trial",
	"demo people --schema":      "demo people --data census.csv --schema FILE --save trial",
	"demo sites --data":         "demo sites --schema census.yaml --data FILE --save trial",
	"demo sites --schema":       "demo sites --data census.csv --schema FILE --save trial",
	"demo votes --data":         "demo votes --schema census.yaml --data FILE --save trial",
	"demo votes --schema":       "demo votes --data census.csv --schema FILE --save trial",
	"site init --sites":         with(siteInitLine, "--sites FILE"),
	"site init --schema":        with(siteInitLine, "--schema FILE"),
	"site kit --sites":          with(siteKitLine, "--sites FILE"),
	"site kit --schema":         with(siteKitLine, "--schema FILE"),
	"site kit --policy":         with(siteKitLine, "--policy FILE"),
	"site kit --certs":          with(siteKitLine, "--certs FILE"),
	"site kit --key":            with(siteKitLine, "--key FILE"),
	"site open --kit":           with(siteOpenLine, "--kit FILE"),
	"site open --from":          with(siteOpenLine, "--from FILE"),
	"site open --dir":           with(siteOpenLine, "--dir FILE"),
	"site check --policy":       "site check --policy FILE --schema clinics.yaml",
	"site check --officer":      "site check --policy signed.yaml --schema clinics.yaml --officer FILE",
	"site check --map":          "site check --policy signed.yaml --schema clinics.yaml --map FILE",
	"site check --schema":       "site check --policy signed.yaml --schema FILE",
	"site sign --policy":        "site sign --policy FILE --key key.pem --out n.yaml",
	"site sign --key":           "site sign --policy policy.yaml --key FILE --out n.yaml",
	"site serve --policy":       with(siteServeLine, "--policy FILE"),
	"site serve --officer":      with(siteServeLine, "--officer FILE"),
	"site serve --key":          with(siteServeLine, "--key FILE"),
	"site serve --certs":        with(siteServeLine, "--certs FILE"),
	"site serve --schema":       with(siteServeLine, "--schema FILE"),
	"site serve --data":         with(siteServeLine, "--data FILE"),
	"site serve --ledger":       with(siteServeLine, "--ledger FILE"),
	"site serve --anchors":      with(siteServeLine, "--anchors FILE"),
	"site serve --map":          with(siteServeLine, "--map FILE"),
	"site serve --state":        with(siteServeLine, "--state FILE"),
	"site serve --held-out":     with(siteServeLine, "--held-out FILE"),
	"site serve --checks":       with(siteServeLine, "--checks FILE"),
	"site serve --model":        with(voterLine, "--model FILE"),
	"site serve --aux-schema":   with(voterLine, "--aux-schema FILE"),
	"site init --aux":           with(siteInitLine, "--aux-schema census.yaml --aux FILE"),
	"site init --aux-schema":    with(siteInitLine, "--aux census.csv --aux-schema FILE"),
	"site check --data":         "site check --policy signed.yaml --schema clinics.yaml --data FILE",
	"site check --checks":       "site check --policy signed.yaml --schema clinics.yaml --data census.csv --checks FILE",
	"site end --state":          "site end --state FILE",
	"site evaluate --certs":     with(siteEvaluateLine, "--certs FILE"),
	"site evaluate --sites":     with(siteEvaluateLine, "--sites FILE"),
	"site evaluate --schema":    with(siteEvaluateLine, "--schema FILE"),
	"site evaluate --model":     with(siteEvaluateLine, "--model FILE"),
	"site evaluate --compare":   with(siteEvaluateLine, "--compare FILE"),
	"site evaluate --state":     with(siteEvaluateLine, "--state FILE"),
	"site train --certs":        with(siteTrainLine, "--certs FILE"),
	"site train --sites":        with(siteTrainLine, "--sites FILE"),
	"site train --schema":       with(siteTrainLine, "--schema FILE"),
	"site train --state":        with(siteTrainLine, "--state FILE"),
}

// Lines of commands that read several files.
const (
	server     = "https://127.0.0.1:1"
	withLedger = "--ledger l.db --dataset d"

	trainLine      = "train --data census.csv --schema census.yaml --epsilon 1 --model n.json"
	simulateLine   = "simulate --data census.csv --schema census.yaml --epsilon 1 --model n.json"
	partyTrainLine = "site fit --data census.csv --schema census.yaml --learner brc --epsilon 1 --model n.json"
	voteLine       = "site cast --model m.json --aux census.csv --out v"
	askLine        = "site vote --sites peers.txt --certs certs --as combiner/x --aux census.csv --schema census.yaml " +
		"--parties 9 --epsilon 1 --model n.json"
	judgeLine   = "evaluate --model m.json --data census.csv --epsilon 1"
	releaseLine = "release m.json --key key.pem --out n.zip"
	voterLine   = "site serve --certs certs --as party/x --listen NOWHERE --state state --policy votes.yaml --officer own.pem.pub " +
		"--key own.pem --aux-schema census.yaml --model m.json --ledger v.db"
	combineLine = "site vote --votes votes --aux census.csv --schema census.yaml --parties 9 --epsilon 1 --model " +
		"n.json"
	createLine = "task create --certs certs --as operator/x --server SERVER --schema census.yaml --classifier " +
		"stump --epsilon 1 --owners 1000 --minimum 10 --slot 1m --ends 1h"
	ownerLine = "owner --certs certs --as owner/x --server SERVER --task TASK --data census.csv --book b.db " +
		"--max-epsilon 1 --lifetime-epsilon 1"
	aggregatorLine = "aggregator --certs certs --as aggregator/x --listen NOWHERE --state s.db --max-epsilon 1"
	siteInitLine   = "site init --site x --sites sites.txt --schema clinics.yaml --coordinator x --honest 1 --epsilon 1 " +
		"--lifetime-epsilon 1 --until 2999-12-31 --out n.yaml"
	siteKitLine   = "site kit --sites sites.txt --schema clinics.yaml --policy policy.yaml --certs certs --key own.pem --out n.kit"
	siteOpenLine  = "site open --kit x.kit --from own.pem.pub --site x --dir opened"
	siteServeLine = "site serve --certs certs --as party/x --listen NOWHERE --state site --policy signed.yaml --officer " +
		"own.pem.pub --key own.pem --schema clinics.yaml --data census.csv --ledger s.db"
	siteTrainLine = "site train --certs certs --as combiner/x --sites sites.txt --schema clinics.yaml --epsilon 1 --honest 1 " +
		"--declared-rows 1000000 --state run --wait 1ms --model n.json"
	siteEvaluateLine = "site evaluate --certs certs --as combiner/x --sites sites.txt --schema clinics.yaml --model m.json " +
		"--epsilon 1 --honest 1 --state run --wait 1ms"
	helperLine = "helper --certs certs --as helper/x --listen NOWHERE --store h.db"
)

// writing are the flags that name what is written.
var writing = []string{"--model", "--out", "--train", "--test", "--answers", "--save", "--announcement", "--roster"}

// A flag that names a file is in one of the two lists, so that no one adds one
// whose mistakes quote a person's row.
func TestEveryFileFlagIsTried(t *testing.T) {
	named := namedFiles(newBoth(&cli.App{Stdout: io.Discard, Stderr: io.Discard}))
	for what := range named {
		flag := what[strings.LastIndexByte(what, ' ')+1:]
		if _, tried := reading[what]; !tried && !slices.Contains(writing, flag) {
			t.Errorf("%s names a file and is not tried", what)
		}
	}
	for what := range reading {
		if !named[what] {
			t.Errorf("%s is tried and names no file", what)
		}
	}
}

// scene is a folder with everything that the lines of reading need.
func scene(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	if err := clitest.WriteCensus(dir, 60); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"site fit --data census.csv --schema census.yaml --learner logistic --model m.json",
		"keygen --out key.pem",
		"keygen --out sign",
		"release m.json --key sign --out r.zip",
		"site cast --model m.json --aux census.csv --out votes/one",
		"budget init --ledger l.db --dataset d --epsilon 1",
	} {
		if strings.Contains(line, "votes/") {
			if err := os.Mkdir("votes", 0o700); err != nil {
				t.Fatal(err)
			}
		}
		tell(t, strings.Fields(line))
	}
	for _, role := range roles {
		tell(t, []string{"certs", "trial", "--dir", "certs", role + "/x"})
	}
	if err := os.WriteFile("peers.txt", []byte(server+" "+strings.Repeat("ab", 32)+" x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var keys [2]string // what keygen prints last
	for i, name := range []string{"own.pem", "other.pem"} {
		words := strings.Fields(tell(t, []string{"keygen", "--out", name}))
		keys[i] = words[len(words)-1]
	}
	census, err := os.ReadFile("census.yaml")
	if err != nil {
		t.Fatal(err)
	}
	clinics := strings.NewReplacer("replace-one", "add-remove", "role: public", "role: private").Replace(string(census))
	for name, text := range map[string]string{"clinics.yaml": clinics, "project.yaml": "version: 1\nnumber: 1\ndata: d\nunit: row\n" +
		"training: {epsilon: \"1\"}\nlifetime: {epsilon: \"1\"}\nuntil: \"2099-12-31\"\n",
		"sites.txt": server + " " + keys[0] + " x\n" + server + " " + keys[1] + " y\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tell(t, strings.Fields("budget sign --draft project.yaml --key sign --out project.signed"))
	tell(t, strings.Fields(strings.ReplaceAll(siteInitLine, "n.yaml", "policy.yaml")))
	tell(t, strings.Fields("site init --site x --sites sites.txt --aux census.csv --aux-schema census.yaml --coordinator x --epsilon 1 "+
		"--lifetime-epsilon 1 --until 2999-12-31 --out draft.yaml"))
	tell(t, strings.Fields("site sign --policy draft.yaml --key own.pem --out votes.yaml"))
	if said := tell(t, strings.Fields("site sign --policy policy.yaml --key own.pem --out signed.yaml")); said != "signed policy number 1 of site x\n" {
		t.Fatal(said)
	}
	if said := tell(t, strings.Fields(strings.ReplaceAll(siteKitLine, "n.kit", "x.kit"))); said != "" {
		t.Fatal(said)
	}
	return dir
}

// networkCommands are the commands that discreet-net alone has.
var networkCommands = sync.OnceValue(func() (names []string) {
	for _, c := range newNetRoot(&cli.App{}).Commands() {
		if !c.Hidden && !slices.Contains(shared, c.Name()) {
			names = append(names, c.Name())
		}
	}
	return names
})

// programOf is the tree of the program that has a command: it is made in half the time of both.
func programOf(command string) func(*cli.App) *cobra.Command {
	if command == "demo" || slices.Contains(networkCommands(), command) { // discreet demo reads nothing
		return newNetRoot
	}
	return newRoot
}

// FuzzSwappedFiles is the same for any text, each word of which is a canary but
// for those by which files are known.
func FuzzSwappedFiles(f *testing.F) {
	whats := []string{}
	for what, line := range reading {
		if line != "" {
			whats = append(whats, what)
		}
	}
	slices.Sort(whats)
	for i, text := range mistaken {
		f.Add(text, uint8(i))
	}
	word := regexp.MustCompile(`[A-Za-z0-9]{2,}`)
	known := strings.Fields("name unit relation columns role number label brc rounds discreet model bytes " +
		"no yes BEGIN END CERTIFICATE PRIVATE KEY PAR1 SQLite format")
	here, err := os.Getwd()
	if err != nil {
		f.Fatal(err)
	}
	dir := scene(f)
	f.Chdir(here) // where seeds are kept
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		t.Chdir(dir)
		text = word.ReplaceAllStringFunc(text, func(w string) string {
			if slices.Contains(known, w) {
				return w
			}
			return "CANARY" + w
		})
		swap(t, whats[int(which)%len(whats)], text, forms[int(which)%len(forms)])
	})
}
