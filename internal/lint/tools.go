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
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// What is counted by tools takes a minute of processor time, and the tools need the
// go command and its module cache.

// notCalled are files, or functions of one, that no program of the product calls: tests of several
// packages do, or the laboratory, for which these need what their package keeps to itself.
var notCalled = []string{"internal/census/csv.go", "internal/census/generate.go Parts", "internal/census/parquet.go",
	"internal/learn/binary.go",
	"internal/privacy/mech/exit.go NewTapedExit", "internal/release/names.go", "internal/table/sample/sample.go Balance",
	"internal/train/learners.go Register", "internal/train/value.go Int", "internal/train/value.go Number",
	"internal/train/value.go Word", "lab/internal/learners/all.go"}

// roundedTwice are the packages in which products are rounded before they are added, on every
// machine: evidence/decisions/0006-floats.md.
var roundedTwice = []string{"./internal/model", "./internal/table/feature"}

// goEnv is the environment of the go command: its workspace is that of dir, whatever the user's.
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

// goTool runs the go command in dir and gives its output to read. env is added to
// the environment.
func goTool(dir string, env []string, read func(io.Reader) error, args ...string) error {
	whole, err := goEnv(dir)
	if err != nil {
		return err
	}
	c := exec.Command("go", args...)
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
		return fmt.Errorf("go %s: %w\n%s", args[0], err, said.String())
	}
	return failed
}

// findDead lists functions that are called by none of the given programs and by none of the library's
// own tests, which stand for programs that use it: so no proof of the product leans on what never runs.
// deadcode misses calls by reflection and assembly alone.
func findDead(dir string, programs ...string) (which []string, err error) {
	dead := map[string]int{}
	for times, args := range [][]string{programs, {"-test", "."}} {
		err := goTool(dir, nil, func(r io.Reader) error {
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
					if name := filepath.ToSlash(f.Position.File) + " " + f.Name; !f.Marker && dead[name] == times {
						dead[name]++
					}
				}
			}
			return nil
		}, append([]string{"tool", "deadcode", "-json"}, args...)...)
		if err != nil {
			return nil, err
		}
	}
	library := map[string]bool{} // folders of what the library imports
	err = goTool(dir, nil, func(r io.Reader) error {
		for lines := bufio.NewScanner(r); lines.Scan(); {
			if name, err := filepath.Rel(dir, lines.Text()); err == nil {
				library[filepath.ToSlash(name)] = true
			}
		}
		return nil
	}, "list", "-deps", "-f", "{{.Dir}}", ".")
	for name, times := range dead {
		file, _, _ := strings.Cut(name, " ")
		if (times == 2 || !library[path.Dir(file)]) && !slices.Contains(notCalled, name) && !slices.Contains(notCalled, file) {
			which = append(which, name)
		}
	}
	slices.Sort(which)
	return which, err
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
