// SPDX-License-Identifier: Apache-2.0

package atomicfile

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"regexp"

	"github.com/discreet-dp/discreet/internal/ground/openfile"
)

// Kind is the kind of a valuable file that should not be replaced without asking.
type Kind string

// The kinds of files.
const (
	Plain     Kind = ""
	Database  Kind = "an SQLite database, such as a ledger"
	Schema    Kind = "a schema"
	PaidModel Kind = "a model that was paid for"
	Key       Kind = "a key or a certificate"
)

// The beginnings of files by kind. A schema is text whose keys may be in any order: at the start of a
// line of YAML, or anywhere in the outermost object of JSON.
var (
	databaseStart = []byte("SQLite format 3\x00")
	modelStart    = []byte("{\n  \"discreet_model\": ")
	keyStart      = []byte("-----BEGIN ")
	columnsKey    = regexp.MustCompile(`(?m)^["']?columns["']?[ \t]*:`)
	relationKey   = regexp.MustCompile(`(?m)^["']?(relation|unit)["']?[ \t]*:`)
)

// maxLook bounds how many bytes of a file are examined: slightly more than the size of the largest
// model.
const maxLook = 65 << 20

// KindOf returns the kind of the file at path. It returns Plain if the file does not exist or cannot
// be read.
func KindOf(path string) Kind {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return Plain
	}
	f, err := openfile.Regular(path)
	if err != nil {
		return Plain
	}
	defer f.Close()
	start := make([]byte, 1<<16)
	n, err := io.ReadFull(f, start)
	if start = start[:n]; n == 0 || err != nil && err != io.ErrUnexpectedEOF {
		return Plain
	}
	start = bytes.TrimPrefix(start, []byte("\xef\xbb\xbf"))
	switch {
	case bytes.HasPrefix(start, databaseStart):
		return Database
	case bytes.HasPrefix(start, keyStart):
		return Key
	case bytes.HasPrefix(start, modelStart):
		rest, err := io.ReadAll(io.LimitReader(f, maxLook))
		if err == nil && wasPaid(append(start, rest...)) {
			return PaidModel
		}
	case isSchema(start):
		return Schema
	}
	return Plain
}

// Spared is the error for a valuable file, which is not replaced.
type Spared struct {
	Path string
	Kind Kind
}

func (e *Spared) Error() string {
	return e.Path + " must be another file: this one is " + string(e.Kind)
}

// CheckSpared refuses to replace a valuable file by other content; nil means content that is not known
// yet.
func CheckSpared(path string, content []byte) error {
	kind := KindOf(path)
	if kind == Plain || content != nil && holds(path, content) {
		return nil
	}
	return &Spared{path, kind}
}

// holds reports whether the file at path has the given bytes.
func holds(path string, want []byte) bool {
	got, err := openfile.Read(path)
	return err == nil && bytes.Equal(got, want)
}

// wasPaid reports whether a model was charged to an account, and true for a model that cannot be read.
func wasPaid(file []byte) bool {
	var m struct {
		Body struct {
			Privacy struct {
				Counted *bool `json:"counted"`
			} `json:"privacy"`
		} `json:"body"`
	}
	err := json.Unmarshal(file, &m)
	return err != nil || m.Body.Privacy.Counted == nil || *m.Body.Privacy.Counted
}

// isSchema reports whether a text has the keys that every schema has and that no other file of this
// program has together.
func isSchema(start []byte) bool {
	if columnsKey.Match(start) && relationKey.Match(start) {
		return true
	}
	d, keys := json.NewDecoder(bytes.NewReader(start)), map[string]bool{}
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return false
	}
	for d.More() {
		key, err := d.Token()
		if name, ok := key.(string); err == nil && ok {
			keys[name] = true
		}
		if d.Decode(new(json.RawMessage)) != nil {
			break // also at the end of what is looked at
		}
	}
	return keys["columns"] && (keys["relation"] || keys["unit"])
}
