// SPDX-License-Identifier: Apache-2.0

package dossier

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/keyfile"
	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/internal/train"
)

// runner has the page's own script verify each file named, and prints what is wrong with each, by name.
const runner = `
const fs = require("fs"), [keys, ...files] = process.argv.slice(2);
(async () => {
  const out = {};
  for (const f of files) {
    try { const v = await verify(new Uint8Array(fs.readFileSync(f)), fs.readFileSync(keys, "utf8")); out[f] = "ok " + v.sum; }
    catch (e) { out[f] = e.message; }
  }
  console.log(JSON.stringify(out));
})();`

func readPage(t *testing.T) (page, script string) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/verify.html")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "<script>")
	script, _, ended := strings.Cut(rest, "</script>")
	if !ok || !ended || strings.Contains(rest, "<script") {
		t.Fatal("the page must have one script")
	}
	return string(text), script
}

// verifyByPage has the page verify archives with a file of keys, under node.
func verifyByPage(t *testing.T, keys string, archives map[string][]byte) map[string]string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	dir := t.TempDir()
	_, script := readPage(t)
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	args, names := []string{write("page.js", []byte(script+runner)), keys}, map[string]string{}
	for name, data := range archives {
		path := write(fmt.Sprintf("r%d.zip", len(names)), data)
		names[path], args = name, append(args, path)
	}
	var failed bytes.Buffer
	c := exec.CommandContext(t.Context(), node, args...)
	c.Stderr = &failed
	out, err := c.Output()
	var answers map[string]string
	if err != nil || json.Unmarshal(out, &answers) != nil {
		t.Fatalf("%v\n%s%s", err, out, failed.Bytes())
	}
	said := map[string]string{}
	for path, answer := range answers {
		said[names[path]] = answer
	}
	return said
}

// TestPageAgrees: the page in a browser verifies what the program verifies, and refuses
// forgeries with and without the key. What it cannot check is listed here and on the page.
func TestPageAgrees(t *testing.T) {
	good, all := forgeries(t)
	plain, _ := makeRelease(t, Params{Exports: []string{"sql"}}, trainModel(t, "brc", "0.3", "0", nil))
	l := newLedger(t)
	delta, _ := makeRelease(t, Params{Ledger: l}, trainModel(t, "additive", "1", "1e-6", &train.Job{Ledger: l, Dataset: "d"}))
	none, _ := makeRelease(t, Params{}, trainModel(t, "logistic", "", "0", nil))
	whole := take(t, good).sign(t)
	archives := map[string][]byte{"good": whole, "good, plain": plain, "good, with a delta": delta, "good, not private": none,
		"truncated": whole[:len(whole)-9], "longer": append(bytes.Clone(whole), 0), "empty": nil, "no archive": []byte("{}")}
	for i := 0; i < len(whole); i += 1 + len(whole)/300 {
		bad := bytes.Clone(whole)
		bad[i] ^= 1
		archives[fmt.Sprintf("byte %d", i)] = bad
	}
	// Facts that follow from the model's wording, exports, reports and entries of other trainings.
	unseen := map[string]bool{"swapped export": true, "no report": true, "no evaluation": true, "swapped evaluation": true,
		"a better evaluation": true, "an impossible evaluation": true, "an impossible group": true, "a report of one run": true,
		"another claim in a report": true, "an attack's higher bound": true, "a better group": true, "a group that is told": true, "a report without its root": true,
		"no report for SACRO-ML": true, "words of the page": true, "another bound in a report": true, "an entry more": false,
		"card with another data": true, "card with more columns": true, "card with another lead": true,
		"card of another program": true, "program on two lines": true, "card of another day": true, "another head, no hash": true,
		"another total": true,
		"another note":  true, "too little spent": true, "too much left": true, "left in no words": true,
		"another time of training": true, "no time": true, "time in another spelling": true}
	for name, f := range all {
		in := take(t, good)
		f.forge(in)
		archives["forged: "+name] = in.sign(t)
	}
	keys := filepath.Join(t.TempDir(), "k.pub")
	if err := keyfile.WritePublic("test", keys, trusted[0]); err != nil {
		t.Fatal(err)
	}
	for name, said := range verifyByPage(t, keys, archives) {
		forged, isForged := strings.CutPrefix(name, "forged: ")
		if want := strings.HasPrefix(name, "good") || isForged && unseen[forged]; strings.HasPrefix(said, "ok ") != want {
			t.Errorf("%s: verified must be %v: %s", name, want, said)
		}
	}
	other := filepath.Join(t.TempDir(), "other.pub")
	if err := keyfile.WritePublic("test", other, theirs.Public().(ed25519.PublicKey)); err != nil {
		t.Fatal(err)
	}
	if said := verifyByPage(t, other, map[string][]byte{"r": whole}); !strings.Contains(said["r"], "names another") {
		t.Errorf("by another key: %v", said)
	}
	weak := filepath.Join(t.TempDir(), "weak.pub")
	if err := keyfile.WritePublic("test", weak, append([]byte{1}, make([]byte, 31)...)); err != nil {
		t.Fatal(err)
	}
	if said := verifyByPage(t, weak, map[string][]byte{"r": whole}); !strings.Contains(said["r"], "anybody can sign") {
		t.Errorf("by a key of nobody: %v", said)
	}
}

// TestPageAsksNobody: the page makes no request and names nothing outside of itself, and its
// constants are the program's.
func TestPageAsksNobody(t *testing.T) {
	page, script := readPage(t)
	for _, word := range []string{"src=", "href=", "url(", "@import", "fetch(", "import(", "XMLHttpRequest", "WebSocket",
		"sendBeacon", "innerHTML", "eval("} {
		if strings.Contains(page, word) {
			t.Errorf("the page has %q", word)
		}
	}
	for _, want := range []string{`content="default-src 'none'; script-src 'unsafe-inline'`, release.PayloadType,
		release.PredicateType} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	list := regexp.MustCompile(`(?s)const names = \[(.*?)\]`).FindStringSubmatch(script)
	var got []string
	if err := json.Unmarshal([]byte("["+list[1]+"]"), &got); err != nil {
		t.Fatal(err)
	}
	if want := release.Names(); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the page knows %v, want %v", got, want)
	}
}
