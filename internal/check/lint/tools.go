// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// notCalled are files, or functions in them, that no program of the product calls. They are used by
// tests of several packages, or by the laboratory, and need unexported parts of their package.
var notCalled = []string{"internal/privacy/mech/exit.go NewTapedExit",
	"internal/privacy/mech/select.go Exponential.Name", "internal/privacy/mech/select.go Exponential.pick",
	"internal/privacy/mech/select.go ExponentialFor", "internal/privacy/response/law.go Decode",
	"internal/privacy/response/table.go CellLaws", "internal/privacy/response/table.go VectorLaws",
	"internal/release/names.go", "internal/ground/stats/exact.go", "internal/table/sample/sample.go Balance",
	"internal/train/learners.go Register", "internal/train/value.go Int", "internal/train/value.go Number",
	"internal/train/value.go Word", "lab/internal/learners/all.go"}

// roundedTwice are the packages that must round products before adding them, on every machine:
// evidence/decisions/0006-floats.md.
var roundedTwice = []string{"./internal/model", "./internal/table/feature"}

// goEnv returns the environment of the go command, with the workspace of dir instead of the user's.
func goEnv(dir string) ([]string, error) {
	work, err := filepath.Abs(filepath.Join(dir, "go.work"))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(work); errors.Is(err, fs.ErrNotExist) {
		work = "off"
	} else if err != nil {
		return nil, err
	}
	return append(os.Environ(), "GOWORK="+work), nil
}

// runTool runs a program in dir and passes its output to read. env is added to the environment.
func runTool(name, dir string, env []string, read func(io.Reader) error, args ...string) error {
	whole, err := goEnv(dir)
	if err != nil {
		return err
	}
	c := exec.Command(name, args...)
	c.Dir = dir
	c.Env = append(whole, env...)
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
		return fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), args[0], err, said.String())
	}
	return failed
}

// users represent programs that use the library: its own tests, and the explorer's engine, which is
// built only for browsers.
var users = []struct{ environment, tests, program string }{
	{"", "-test", "."},
	{"GOOS=js GOARCH=wasm", "-test=false", "./internal/explorer/worker"},
}

// findDead lists functions that neither the given programs nor the users call, so that no proof
// depends on code that never runs. deadcode misses only calls by reflection and from assembly.
func findDead(dir string, programs ...string) (which []string, err error) {
	dead, err := listUncalled(dir, nil, programs...)
	if err != nil {
		return nil, err
	}
	for _, u := range users {
		environment := strings.Fields(u.environment)
		uncalled, err := listUncalled(dir, environment, u.tests, u.program)
		if err != nil {
			return nil, err
		}
		err = runTool("go", dir, environment, func(r io.Reader) error {
			built := map[string]bool{}
			for lines := bufio.NewScanner(r); lines.Scan(); {
				if name, err := filepath.Rel(dir, lines.Text()); err == nil {
					built[filepath.ToSlash(name)] = true
				}
			}
			maps.DeleteFunc(dead, func(name string, _ bool) bool {
				file, _, _ := strings.Cut(name, " ")
				return built[file] && !uncalled[name]
			})
			return nil
		}, "list", "-deps", "-f", `{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}`, u.program)
		if err != nil {
			return nil, err
		}
	}
	for name := range dead {
		if file, _, _ := strings.Cut(name, " "); !slices.Contains(notCalled, name) && !slices.Contains(notCalled, file) {
			which = append(which, name)
		}
	}
	slices.Sort(which)
	return which, nil
}

// listUncalled runs deadcode and returns names that consist of a file and a function.
func listUncalled(dir string, environment []string, args ...string) (map[string]bool, error) {
	var deadcode bytes.Buffer // its file: the go command would build it for the environment
	err := runTool("go", dir, nil, func(r io.Reader) error {
		_, err := deadcode.ReadFrom(r)
		return err
	}, "tool", "-n", "deadcode")
	if err != nil {
		return nil, err
	}
	uncalled := map[string]bool{}
	err = runTool(strings.TrimSpace(deadcode.String()), dir, environment, func(r io.Reader) error {
		var packages []struct {
			Funcs []struct {
				Name     string
				Position struct{ File string }
				Marker   bool
			}
		}
		if err := json.NewDecoder(r).Decode(&packages); err != nil {
			return err
		}
		for _, p := range packages {
			for _, f := range p.Funcs {
				if !f.Marker {
					uncalled[filepath.ToSlash(f.Position.File)+" "+f.Name] = true
				}
			}
		}
		return nil
	}, append([]string{"-json"}, args...)...)
	return uncalled, err
}

// fusedMultiplication matches, in the compiler's listing, one of arm64's instructions that multiply
// and add with a single rounding, and its source line.
var fusedMultiplication = regexp.MustCompile(`\(([^()]*:\d+)\)\tFN?M(?:ADD|SUB)[SD]\t`)

// findFused lists the lines of some packages that arm64 computes with one rounding instead of two.
func findFused(dir string, packages ...string) (which []string, err error) {
	whole, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	err = runTool("go", dir, []string{"GOARCH=arm64", "CGO_ENABLED=0"}, func(r io.Reader) error {
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
