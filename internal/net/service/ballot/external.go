// SPDX-License-Identifier: Apache-2.0

package ballot

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
)

// voteExternally writes the votes of another classifier on one auxiliary file.
func (v *Voter) voteExternally(ctx context.Context, aux string, h multiparty.Header, to io.Writer) error {
	if v.CSV != "" {
		f, err := openfile.Regular(v.CSV)
		if err != nil {
			return err
		}
		defer f.Close()
		return v.csvVotes(f, v.CSV, h, to)
	}
	in, err := openfile.Regular(aux)
	if err != nil {
		return err
	}
	defer in.Close()
	line := strings.ReplaceAll(v.Command, "{data}", shellWord(aux))
	ctx, cancel := context.WithCancel(ctx) // whatever ends this ends the command
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "-c", line)
	var said bytes.Buffer
	c.Env, c.Stderr = v.Env, &said
	if !strings.Contains(v.Command, "{data}") {
		c.Stdin = in
	}
	inGroup(c)
	c.WaitDelay = grace
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	votes := &ending{Reader: out, wait: func() error {
		if err := c.Wait(); err != nil {
			last := strings.TrimSpace(said.String())
			return fmt.Errorf("party: command %q: %w: %s", line, errors.Join(ctx.Err(), err),
				last[strings.LastIndexByte(last, '\n')+1:])
		}
		return nil
	}}
	// The file takes its name only when the command has ended well.
	if err = v.csvVotes(votes, "command", h, to); err != nil && !votes.ended {
		cancel()
		_ = c.Wait() // the votes' own fault is the one to tell
	}
	return err
}

// shellWord quotes a text as one word of the shell.
func shellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// grace is how long a killed command may leave its output open.
const grace = 5 * time.Second

// ending is a reader with an additional check at its end.
type ending struct {
	io.Reader
	wait  func() error
	ended bool
	err   error
}

func (e *ending) Read(b []byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	n, err := e.Reader.Read(b)
	if err != nil {
		e.ended = true
		if e.err = e.wait(); e.err == nil {
			e.err = err
		}
		return n, e.err
	}
	return n, nil
}

// csvVotes converts votes in CSV to a votes file. Errors name lines, never cells.
func (v *Voter) csvVotes(from io.Reader, name string, h multiparty.Header, to io.Writer) error {
	r := csv.NewReader(from)
	r.ReuseRecord = true
	header, err := r.Read()
	if err != nil {
		return fmt.Errorf("party: %s: must begin with a header: %w", name, err)
	}
	place, probabilities := votesHeader(header, h.Levels)
	switch {
	case place == nil && len(header) != 1:
		return fmt.Errorf("party: %s: must have one column, the level, or one for each level, named after it", name)
	case h.Kind == multiparty.Probabilities && !probabilities:
		return fmt.Errorf("party: %s: must have a column for each level to hand in probabilities", name)
	}
	codes := map[string]uint8{}
	for k, l := range v.public.Label.Levels {
		for _, text := range append(slices.Clone(l.Aliases), l.Value) {
			codes[text] = uint8(k)
		}
	}
	return v.writeVotes(h, to, func(w *multiparty.Writer) error {
		p := make([]float64, len(h.Levels))
		rows := 0
		for ; ; rows++ {
			record, err := r.Read()
			if err == io.EOF {
				break
			}
			if err != nil {
				if _, ok := errors.AsType[*csv.ParseError](err); ok {
					err = fmt.Errorf("must be a table of %d columns", len(header))
				}
				return fmt.Errorf("party: %s: row %d: %w", name, rows+1, err)
			}
			if rows == h.Rows {
				return fmt.Errorf("party: %s: must have a vote for each of %d rows (has more)", name, h.Rows)
			}
			if !probabilities {
				code, ok := codes[record[0]]
				if !ok {
					return fmt.Errorf("party: %s: row %d: must be a level of the label", name, rows+1)
				}
				if err := w.Labels([]uint8{code}); err != nil {
					return err
				}
				continue
			}
			for at, k := range place {
				if p[k], err = strconv.ParseFloat(strings.TrimSpace(record[at]), 64); err != nil {
					return fmt.Errorf("party: %s: row %d: must have numbers only", name, rows+1)
				}
			}
			if h.Kind == multiparty.Labels {
				err = w.Labels([]uint8{bestClass(p)})
			} else {
				err = w.Probabilities(p)
			}
			if err != nil {
				return err
			}
		}
		if rows != h.Rows {
			return fmt.Errorf("party: %s: must have a vote for each of %d rows (got %d)", name, h.Rows, rows)
		}
		return nil
	})
}

// votesHeader returns the level of each column, if there is one column for each level.
func votesHeader(header, levels []string) (place []int, probabilities bool) {
	if len(header) != len(levels) {
		return nil, false
	}
	for _, name := range header {
		k := slices.Index(levels, strings.TrimSpace(name))
		if k < 0 || slices.Contains(place, k) {
			return nil, false
		}
		place = append(place, k)
	}
	return place, true
}

// bestClass returns the level with the highest score, the first if several are equal.
func bestClass(p []float64) uint8 {
	most := 0
	for k := range p {
		if p[k] > p[most] {
			most = k
		}
	}
	return uint8(most)
}
