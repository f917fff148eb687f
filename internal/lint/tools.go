// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"bufio"
	"bytes"
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

// forTests are files whose functions tests of several packages call, and nothing else:
// they need what their package keeps to itself. Other helpers of tests are in packages
// of their own, whose names end in test, or in files that do.
var forTests = []string{"internal/census/csv.go", "internal/census/parquet.go", "internal/release/names.go",
	"lab/internal/learners/all.go"}

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

// findDead lists functions that no program calls.
func findDead(r *reach) (which []string) {
	for _, f := range r.functions {
		file, _, _ := strings.Cut(f.at, ":")
		if !r.byProduct[f.at] && !r.byLab[f.at] && !slices.Contains(forTests, file) {
			which = append(which, f.at+": "+f.name)
		}
	}
	return which
}

// findUnproved lists functions that proofs lean on and that the product does not call, or, of the
// laboratory's own, its program: what is proved would not be what runs.
func findUnproved(m *Module, r *reach) (which []string) {
	reached, declared := map[string]bool{}, map[string]bool{}
	for _, f := range r.functions {
		in := path.Dir(f.at) + " " + f.name
		declared[in] = true
		reached[in] = reached[in] || r.byProduct[f.at] || under(f.at, "lab") && r.byLab[f.at]
	}
	pages, _ := readTagPages(m)
	for _, page := range pages {
		for t := range page.listed {
			for _, p := range m.production() {
				if !slices.Contains(page.packages, p.Name) || findTags(m, p)[t] == "" {
					continue
				}
				if in := p.Dir + " " + t.name; declared[in] && !reached[in] {
					which = append(which, fmt.Sprintf("%s: tag %s leans on %s of %s, which no program calls", page.file, t.tag,
						t.name, p.Name))
				}
			}
		}
	}
	slices.Sort(which)
	return which
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
