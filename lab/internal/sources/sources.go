// SPDX-License-Identifier: Apache-2.0

// Package sources says which code a figure was measured by: a digest of a package and all of this repository's that it
// imports, without comments and tests.
package sources

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// module is the path of this repository's modules: that of the laboratory is below it.
const module = "github.com/discreet-dp/discreet"

// Root is the checkout around a folder, "" if there is none.
func Root(folder string) string {
	folder, err := filepath.Abs(folder)
	for err == nil {
		text, failed := os.ReadFile(filepath.Join(folder, "go.mod"))
		if failed == nil && bytes.HasPrefix(text, []byte("module "+module+"\n")) {
			return folder
		}
		if folder == filepath.Dir(folder) {
			break
		}
		folder = filepath.Dir(folder)
	}
	return ""
}

// Digest is that of a package by its folder in a checkout, such as lab/internal/experiment/shen, and what it depends on:
// code, embedded files, and go.mod. It is "" if a file is newer than built, when the program that runs was built; the zero
// time compares nothing.
func Digest(root, folder string, built time.Time) (string, error) {
	d := &digester{files: os.DirFS(root), built: built, sums: map[string][sha256.Size]byte{}, seen: map[string]bool{}}
	err := errors.Join(d.addFile("go.mod"), d.addFile("lab/go.mod"), d.addPackage(folder))
	if err != nil || d.newer {
		return "", err
	}
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(d.sums)) {
		fmt.Fprintf(h, "%x %s\n", d.sums[name], name)
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

type digester struct {
	files fs.FS
	built time.Time
	newer bool // a file is newer than the program
	sums  map[string][sha256.Size]byte
	seen  map[string]bool // packages
}

func (d *digester) read(name string) ([]byte, error) {
	info, err := fs.Stat(d.files, name)
	if err != nil {
		return nil, err
	}
	d.newer = d.newer || !d.built.IsZero() && info.ModTime().After(d.built)
	return fs.ReadFile(d.files, name)
}

func (d *digester) addFile(name string) error {
	text, err := d.read(name)
	d.sums[name] = sha256.Sum256(text)
	return err
}

func (d *digester) addPackage(folder string) error {
	if d.seen[folder] {
		return nil
	}
	d.seen[folder] = true
	names, err := fs.Glob(d.files, path.Join(folder, "*.go"))
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("sources: %s: %w", folder, fs.ErrNotExist)
	}
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") {
			err = errors.Join(err, d.addSource(name))
		}
	}
	return err
}

func (d *digester) addSource(name string) error {
	text, err := d.read(name)
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution) // which leaves out comments
	if err != nil {
		return err
	}
	var code bytes.Buffer
	if err := format.Node(&code, token.NewFileSet(), file); err != nil { // positions would show where comments were
		return err
	}
	d.sums[name] = sha256.Sum256(code.Bytes())
	for _, i := range file.Imports {
		if err := d.addImport(i); err != nil {
			return err
		}
	}
	for line := range strings.Lines(string(text)) {
		patterns, embeds := strings.CutPrefix(line, "//go:embed ")
		for _, pattern := range strings.Fields(patterns) {
			if !embeds {
				break
			}
			if err := d.addEmbedded(path.Join(path.Dir(name), strings.TrimPrefix(pattern, "all:"))); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *digester) addImport(i *ast.ImportSpec) error {
	name, err := strconv.Unquote(i.Path.Value)
	if err != nil {
		return err
	}
	if name == module {
		return d.addPackage(".")
	}
	if folder, ours := strings.CutPrefix(name, module+"/"); ours {
		return d.addPackage(folder)
	}
	return nil
}

func (d *digester) addEmbedded(pattern string) error {
	names, err := fs.Glob(d.files, pattern)
	for _, name := range names {
		err = errors.Join(err, fs.WalkDir(d.files, name, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			return d.addFile(name)
		}))
	}
	return err
}
