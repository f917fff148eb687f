// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// What is counted by tools takes a minute of processor time, and the tools need the
// go command and its module cache.

// maxDead is how many functions no command and no user of the library reaches. The
// aim is 0.
const maxDead = 61

// roundedTwice are the packages in which products are rounded before they are added, on every
// machine: docs/decisions/0006-floats.md.
var roundedTwice = []string{"./internal/model", "./internal/table/feature"}

// commands are what functions must be reached from; the library's own tests, which
// its readers see as examples, stand for programs that use it.
var commands = []string{"./cmd/discreet", "./lab/cmd/discreet-lab"}

// goTool runs the go command in dir and gives its output to read. env is added to
// the environment.
func goTool(dir string, env []string, read func(io.Reader) error, args ...string) error {
	c := exec.Command("go", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), env...)
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if slices.Contains(args, "-gcflags=-S") { // the compiler's listing comes as its messages do
		c.Stdout, c.Stderr = nil, nil
		if out, err = c.StderrPipe(); err != nil {
			return err
		}
	}
	if err := c.Start(); err != nil {
		return err
	}
	failed := read(out)
	if err := c.Wait(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", args[0], err, said.String())
	}
	return failed
}

// findDead lists functions that nobody reaches who is no test: no command, and, of
// the packages that the library is made of, no user of the library.
func findDead(dir string) (which []string, err error) {
	byCommands, err := runDeadcode(dir, commands...)
	if err != nil {
		return nil, err
	}
	byUsers, err := runDeadcode(dir, "-test", ".")
	if err != nil {
		return nil, err
	}
	ofLibrary := map[string]bool{}
	if err := goTool(dir, nil, func(r io.Reader) error {
		for lines := bufio.NewScanner(r); lines.Scan(); {
			ofLibrary[lines.Text()] = true
		}
		return nil
	}, "list", "-deps", "."); err != nil {
		return nil, err
	}
	for _, f := range byCommands {
		if !ofLibrary[f.pkg] || slices.Contains(byUsers, f) {
			which = append(which, f.at+": "+f.name)
		}
	}
	return which, nil
}

type function struct{ pkg, name, at string }

func runDeadcode(dir string, args ...string) (out []function, err error) {
	err = goTool(dir, nil, func(r io.Reader) error {
		var packages []struct {
			Path  string
			Funcs []struct {
				Name     string
				Position struct {
					File string
					Line int
				}
			}
		}
		if err := json.NewDecoder(r).Decode(&packages); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		for _, p := range packages {
			for _, f := range p.Funcs {
				out = append(out, function{p.Path, f.Name, fmt.Sprintf("%s:%d", filepath.ToSlash(f.Position.File),
					f.Position.Line)})
			}
		}
		return nil
	}, append([]string{"tool", "deadcode", "-json"}, args...)...)
	return out, err
}

// fusedMultiplication is one of arm64's instructions that multiply and add with one
// rounding, in the compiler's listing, and the line of source that it is for.
var fusedMultiplication = regexp.MustCompile(`\(([^()]*:\d+)\)\tFN?M(?:ADD|SUB)[SD]\t`)

// findFused lists the lines of some packages that arm64 computes with one rounding where amd64 has
// two.
func findFused(dir string, packages ...string) (which []string, err error) {
	whole, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	err = goTool(dir, []string{"GOARCH=arm64", "CGO_ENABLED=0"}, func(r io.Reader) error {
		for lines := bufio.NewReader(r); ; {
			line, err := lines.ReadString('\n')
			if m := fusedMultiplication.FindStringSubmatch(line); m != nil {
				if at, ours := strings.CutPrefix(m[1], whole+string(filepath.Separator)); ours {
					which = append(which, filepath.ToSlash(at))
				}
			}
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
		}
	}, append([]string{"build", "-gcflags=-S"}, packages...)...)
	slices.Sort(which)
	return which, err
}

// byPackage says how many of some places, file:line, are in each folder.
func byPackage(places []string) string {
	counts := map[string]int{}
	for _, p := range places {
		counts[filepath.ToSlash(filepath.Dir(p))]++
	}
	var b strings.Builder
	for i, dir := range slices.SortedFunc(maps.Keys(counts),
		func(a, c string) int { return cmp.Or(counts[c]-counts[a], strings.Compare(a, c)) }) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %d", dir, counts[dir])
	}
	return b.String()
}
