// SPDX-License-Identifier: Apache-2.0

package subject

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train/audit"
)

// Program is another program, run by the shell. In Command, {data} is replaced by the name of a CSV
// file, {epsilon} by the claim, and {runs} by the number of runs to make at once. It must print one
// line of numbers per run.
type Program struct {
	Command    string
	Neighbours []string // two CSV files; nil: made from Schema
	Schema     string   // a schema file
	Rows       int      // of the files that are made; 0 for 100
	Env        []string
}

// Subject makes the subject of an audit. clean removes the files it made; it is never nil.
func (t *Program) Subject(ctx context.Context, eps dp.Epsilon,
	src rng.Source) (sub audit.Subject, clean func(), err error) {
	clean = func() {}
	type files struct {
		name  string
		paths [2]string
	}
	var pairs []files
	if t.Neighbours != nil {
		for _, path := range t.Neighbours {
			if _, err := os.Stat(path); err != nil {
				return sub, clean, err
			}
		}
		pairs = []files{{strings.Join(t.Neighbours, " against "), [2]string(t.Neighbours)}}
	} else {
		s, err := schema.Load(t.Schema)
		if err != nil {
			return sub, clean, err
		}
		dir, err := os.MkdirTemp("", "discreet-audit-")
		if err != nil {
			return sub, clean, err
		}
		clean = func() { os.RemoveAll(dir) }
		rows := t.Rows
		if rows == 0 {
			rows = 100
		}
		for i, n := range audit.AllNeighbours(s, rows, audit.Scope(s), src) {
			f := files{name: n.Name}
			for side, tab := range n.Tables {
				f.paths[side] = filepath.Join(dir, fmt.Sprintf("pair%d-%d.csv", i+1, side+1))
				if err := writeFile(f.paths[side], tab); err != nil {
					return sub, clean, err
				}
			}
			pairs = append(pairs, f)
		}
	}
	sub.Name = "command " + t.Command
	for _, f := range pairs {
		p, err := t.pair(ctx, f.name, f.paths, eps)
		if err != nil {
			return sub, clean, err
		}
		sub.Pairs = append(sub.Pairs, p)
	}
	return sub, clean, nil
}

// pair is the pair of running the command on two files.
func (t *Program) pair(ctx context.Context, name string, paths [2]string, eps dp.Epsilon) (p audit.Pair, err error) {
	many := strings.Contains(t.Command, "{runs}")
	call := func(ctx context.Context, side, runs int) ([][]float64, error) {
		line := strings.NewReplacer("{data}", shellWord(paths[side]), "{epsilon}", eps.String(), "{runs}",
			strconv.Itoa(runs)).Replace(t.Command)
		var said bytes.Buffer
		c := exec.CommandContext(ctx, "sh", "-c", line)
		c.Env, c.Stderr = t.Env, &said
		out, err := c.Output()
		if err != nil {
			last := strings.TrimSpace(said.String())
			return nil, fmt.Errorf("audit: command %q: %w: %s", line, err, last[strings.LastIndexByte(last, '\n')+1:])
		}
		return readRuns(out, line, runs)
	}
	first, err := call(ctx, 0, 1)
	if err != nil {
		return p, err
	}
	p = audit.Pair{Name: name, Batch: 1}
	if many {
		p.Batch = 5000
	}
	for k := range first[0] {
		p.Outputs = append(p.Outputs, fmt.Sprintf("number %d", k+1))
	}
	width := len(p.Outputs)
	p.Draw = func(ctx context.Context, side int, _ rng.Source, out []float64) error {
		for len(out) > 0 {
			runs := 1
			if many {
				runs = len(out) / width
			}
			found, err := call(ctx, side, runs)
			if err != nil {
				return err
			}
			for _, run := range found {
				if len(run) != width {
					return fmt.Errorf("audit: command: a run must print as many numbers as the first did, %d (got %d)", width,
						len(run))
				}
				copy(out, run)
				out = out[width:]
			}
		}
		return nil
	}
	return p, nil
}

// readRuns reads one line of numbers per run.
func readRuns(out []byte, line string, runs int) (found [][]float64, err error) {
	for text := range strings.Lines(string(out)) {
		var run []float64
		for _, word := range strings.FieldsFunc(text, func(r rune) bool {
			return r == ' ' || r == ',' || r == '\t' || r == '\n' || r == '\r'
		}) {
			x, err := strconv.ParseFloat(word, 64)
			if err != nil && !math.IsInf(x, 0) {
				return nil, fmt.Errorf("audit: command %q: must print numbers only", line)
			}
			run = append(run, x)
		}
		if len(run) > 0 {
			found = append(found, run)
		}
	}
	if len(found) != runs {
		return nil, fmt.Errorf("audit: command %q: must print one line a run, %d (got %d)", line, runs, len(found))
	}
	return found, nil
}

// shellWord quotes a text as one word of the shell.
func shellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// writeTable writes a table in its schema's CSV dialect. Ignored columns are empty, except the one
// that identifies persons.
func writeTable(w io.Writer, t *dataset.Table) error {
	s := t.Schema
	out := csv.NewWriter(w)
	out.Comma = s.Dialect.Delimiter
	place := func(of func(j int) string, label string) []string {
		record := make([]string, 0, len(s.Columns)+1)
		for j := range s.FileColumns() {
			record = append(record, of(j))
		}
		at := s.Label.Position
		return append(record[:at:at], append([]string{label}, record[at:]...)...)
	}
	if s.Dialect.Header {
		if err := out.Write(place(func(j int) string { return s.Columns[j].Name }, s.Label.Name)); err != nil {
			return err
		}
	}
	for i := range t.Rows {
		record := place(func(j int) string {
			c := &s.Columns[j]
			switch {
			case j == s.PersonColumn():
				return strconv.FormatUint(uint64(t.Persons[i]), 10)
			case c.Role == schema.Ignored:
				return ""
			case c.Date != "":
				days := c.Since + int(t.Cols[j].Values[t.Cols[j].Codes.At(i)])
				return schema.FormatDate(c.Date, days)
			case c.Kind == schema.Number:
				return strconv.FormatFloat(t.Cols[j].Values[t.Cols[j].Codes.At(i)], 'g', -1, 64)
			}
			return c.Levels[t.Cols[j].Codes.At(i)].Value
		}, s.Label.Levels[t.Labels[i]].Value)
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func writeFile(path string, tab *dataset.Table) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(writeTable(f, tab), f.Close())
}
