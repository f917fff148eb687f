// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"bytes"
	"crypto/ed25519"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/yamltext"
)

const clauses = `version: 1
number: 1
data: people
training: {epsilon: "0.5", delta: "0"}
lifetime: {epsilon: "1"}
until: "2099-12-31"
`

func parse(text string) error {
	var c Clauses
	if err := yamltext.Decode("policy", []byte(text), &c); err != nil {
		return err
	}
	return c.Check()
}

// Each clause is refused by its name, on either side of what it may be.
func TestClausesAreChecked(t *testing.T) {
	if err := parse(clauses); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, bad, good, key string }{
		{"version: 1", "version: 2", "version: 1 ", "version"},
		{"number: 1", "number: 0", "number: 2", "number"},
		{"data: people", `data: ""`, "data: p", "data"},
		{`{epsilon: "0.5"`, `{epsilon: "1.000000001"`, `{epsilon: "1"`, "training"},
		{`delta: "0"`, `delta: "1e-15"`, "", "training"},
		{`{epsilon: "0.5"`, `{epsilon: "none"`, `{epsilon: "0.1"`, "training"},
		{`{epsilon: "1"}`, `{epsilon: "0"}`, `{epsilon: "1", delta: "1e-6"}`, "lifetime"},
		{`"2099-12-31"`, "soon", `"2020-01-01"`, "until"},
	} {
		if err := parse(strings.Replace(clauses, c.old, c.good, 1)); err != nil {
			t.Errorf("with %s: %v", c.good, err)
		}
		if err := parse(strings.Replace(clauses, c.old, c.bad, 1)); err == nil || !strings.HasPrefix(err.Error(), c.key+" must ") {
			t.Errorf("with %s: %v", c.bad, err)
		}
	}
}

// A signature is of the text, the kind and the key; another one is none.
func TestSignaturesAreOfTheText(t *testing.T) {
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	var once, twice bytes.Buffer
	if err := Kind("a").Sign([]byte(clauses), key, &once); err != nil {
		t.Fatal(err)
	}
	if err := Kind("a").Sign(once.Bytes(), key, &twice); err != nil || once.String() != twice.String() {
		t.Errorf("signed again: %q, %v", twice.String(), err)
	}
	path := filepath.Join(t.TempDir(), "p")
	for what, c := range map[string]struct {
		kind   Kind
		text   string
		key    ed25519.PublicKey
		signed bool
	}{
		"as signed":       {"a", once.String(), public, true},
		"without a key":   {"a", clauses, nil, true},
		"unsigned":        {"a", clauses, public, false},
		"of another kind": {"b", once.String(), public, false},
		"by another key":  {"a", once.String(), other, false},
		"changed":         {"a", strings.Replace(once.String(), "0.5", "5.0", 1), public, false},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		body, err := c.kind.ReadSigned(path, c.key)
		if (err == nil) != c.signed || err == nil && string(body) != clauses {
			t.Errorf("%s: %q, %v", what, body, err)
		}
	}
	if _, ok := Kind("a").Open(once.Bytes(), nil); ok {
		t.Error("no key has signed it")
	}
}
