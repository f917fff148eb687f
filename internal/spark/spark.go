// SPDX-License-Identifier: Apache-2.0

package spark

import (
	"bufio"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/engine/question"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

//go:embed driver.py
var driverSource []byte

// Options select a cluster, and the data to read there.
type Options struct {
	// Submit is the command that submits, with its arguments separated by spaces; "" for
	// "spark-submit".
	Submit string
	// Master is the cluster's address in Spark's form; "" for Submit's default.
	Master string
	// Worker is the program that executors run; "" for this one. It must be the same file.
	Worker string
	// Data are paths of Parquet files, or one table:NAME of a catalogue, or one query:SELECT.
	Data []string
	// Rows selects the rows that executors use; nil for all.
	Rows *dataset.Selection
	// BlockRows is the approximate number of rows of a block; 0 for 2^18.
	BlockRows int
	// Report receives the name of the running job. It does not receive the number of tasks, which
	// depends on the size of the files. It may be nil.
	Report func(job string)

	passesRows bool // rows pass through Java, for any Data
}

// ShowJobs makes show display each job, one at a time, until hide is called; show may be nil.
func (o *Options) ShowJobs(show func(job string) (done func())) (hide func()) {
	shown, done := "", func() {}
	if show != nil {
		o.Report = func(job string) {
			if job != shown {
				done()
				shown = job
				done = show(job)
			}
		}
	}
	return func() { done() }
}

// Check refuses what can be refused before Spark is started.
func (o *Options) Check(op string) error {
	if len(o.Data) == 0 {
		return &dp.ParamError{Op: op, Param: "data", Want: "must name a path, table:NAME or query:SELECT"}
	}
	for _, d := range o.Data {
		kind, text, named := strings.Cut(d, ":")
		switch {
		case named && (kind == "table" || kind == "query"):
			if len(o.Data) > 1 || strings.TrimSpace(text) == "" {
				return &dp.ParamError{Op: op, Param: "data", Want: "must be one table or query, or paths of Parquet files"}
			}
		case d == "-" || d == "cells:-" || d == "":
			return &dp.ParamError{Op: op, Param: "data", Want: "must be readable by executors: a path, table: or query:"}
		}
	}
	files, _ := listFiles(o.Data) // of others Spark knows the files
	return dataset.CheckOnce(context.Background(), nil, files...)
}

// Session holds rows in a cluster, in blocks that Spark stores. It must be used by one goroutine only.
type Session struct {
	s      *schema.Schema
	rows   int
	blocks map[string]string // the blocks' names, and the IDs of their rows
	rowsOf map[string]int    // by block
	asked  int               // number of questions
	report func(job string)

	folder  string
	log     string
	cmd     *exec.Cmd
	ended   chan struct{}
	link    net.Conn
	r       *bufio.Reader
	closing sync.Once
	failed  bool

	local    bool // executors open the files of paths themselves
	parallel int  // simultaneous tasks

	persons *persons // nil if the schema declares none
	buckets int      // of persons
	views   int
}

// Start starts a session, and codes the rows into blocks there. text is the file of schema s. Spark's
// output is written to a file for the user alone, since it may contain cells; the file is removed
// after a session without errors.
func Start(ctx context.Context, s *schema.Schema, text []byte, o Options) (_ *Session, err error) {
	sn, cfg, err := begin(ctx, &o)
	if err != nil {
		return nil, err
	}
	defer sn.closeAfter(&err)
	s = s.Clone()
	sn.s, cfg.Schema, cfg.Keep = s, string(text), o.Rows
	if s.Person != nil {
		var secret [32]byte
		rand.Read(secret[:]) // it never fails
		cfg.Secret = hex.EncodeToString(secret[:])
	}
	load := header{Op: "load", Data: o.Data, Columns: columnNames(s), Config: cfg}
	if sn.local {
		if load.Pieces, err = cutFiles(o.Data, sn.parallel, cfg.Rows); err != nil {
			return nil, err
		}
	}
	if err = sn.load(load); err == nil && s.Person != nil {
		err = sn.countPersons(cfg.Rows)
	}
	return sn, err
}

// begin starts a session without data.
func begin(ctx context.Context, o *Options) (_ *Session, _ *config, err error) {
	folder, err := os.MkdirTemp("", "discreet-spark-*")
	if err != nil {
		return nil, nil, fmt.Errorf("spark: %w", err)
	}
	sn := &Session{report: o.Report, folder: folder, log: filepath.Join(folder, "spark.log"), ended: make(chan struct{})}
	if sn.report == nil {
		sn.report = func(string) {}
	}
	defer sn.closeAfter(&err)
	program, err := programID()
	if err != nil {
		return nil, nil, err
	}
	if o.Worker == "" {
		if o.Worker, err = os.Executable(); err != nil {
			return nil, nil, fmt.Errorf("spark: %w", err)
		}
	}
	if o.BlockRows == 0 {
		o.BlockRows = 1 << 18
	}
	listener, err := sn.submit(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	defer listener.Close()
	return sn, &config{Session: rand.Text(), Worker: filepath.Base(o.Worker), Program: program, Rows: o.BlockRows},
		sn.accept(ctx, listener)
}

// closeAfter closes a session that an error ends.
func (sn *Session) closeAfter(err *error) {
	if *err != nil {
		sn.failed = true
		sn.Close()
	}
}

// columnNames returns the columns to read, including the one that identifies persons, and the label.
func columnNames(s *schema.Schema) (names []string) {
	for _, c := range s.FileColumns() {
		if c.Role != schema.Ignored || s.Person != nil && c.Name == s.Person.Column {
			names = append(names, c.Name)
		}
	}
	return append(names, s.Label.Name)
}

// Java also reads options from a variable, after which those of its command take precedence. A
// session, and executors that only forward questions, do too little for Java's optimising compilers to
// be worthwhile, which took half of their processor time.
const (
	javaVariable = "JDK_JAVA_OPTIONS"
	quickJava    = "-XX:TieredStopAtLevel=1"
)

// settings are Spark's settings for a session.
func settings(o *Options) []string {
	out := []string{"spark.ui.enabled=false"}
	if _, ok := listFiles(o.Data); ok && !o.passesRows {
		out = append(out, "spark.executorEnv."+javaVariable+"="+quickJava)
	}
	return out
}

// submit starts the session's process and listens for its call.
func (sn *Session) submit(ctx context.Context, o *Options) (net.Listener, error) {
	script := filepath.Join(sn.folder, "driver.py")
	if err := os.WriteFile(script, driverSource, 0o600); err != nil {
		return nil, fmt.Errorf("spark: %w", err)
	}
	listener, err := net.Listen("unix", filepath.Join(sn.folder, "link"))
	if err != nil {
		return nil, fmt.Errorf("spark: %w", err)
	}
	words := strings.Fields(o.Submit)
	if len(words) == 0 {
		words = []string{"spark-submit"}
	}
	args := words[1:]
	for _, c := range settings(o) {
		if key, _, _ := strings.Cut(c, "="); !strings.Contains(o.Submit, key+"=") { // the user's own counts
			args = append(args, "--conf", c)
		}
	}
	if o.Master != "" {
		args = append(args, "--master", o.Master)
	}
	args = append(args, "--deploy-mode", "client", "--files", o.Worker, script, listener.Addr().String())
	log, err := os.OpenFile(sn.log, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return listener, fmt.Errorf("spark: %w", err)
	}
	defer log.Close()
	sn.cmd = exec.CommandContext(ctx, words[0], args...)
	sn.cmd.Stdout, sn.cmd.Stderr = log, log
	sn.cmd.Env = append(os.Environ(), javaVariable+"="+strings.TrimSpace(quickJava+" "+os.Getenv(javaVariable)))
	if err := sn.cmd.Start(); err != nil {
		sn.cmd = nil
		listener.Close()
		return nil, &dp.ParamError{Op: "spark", Param: "command that submits", Want: "must be a program that runs: " +
			err.Error(), Got: strconv.Quote(words[0]), Hint: "spark-submit comes with Apache Spark, which needs Java 17 and " +
			"Python", Next: dp.Step{Kind: dp.GiveParam, Name: "spark-submit", Why: "to name another"}}
	}
	go func() {
		sn.cmd.Wait()
		close(sn.ended)
		listener.Close()
	}()
	return listener, nil
}

// accept waits for the session to connect.
func (sn *Session) accept(ctx context.Context, listener net.Listener) (err error) {
	if sn.link, err = listener.Accept(); err != nil {
		return sn.lost(ctx)
	}
	context.AfterFunc(ctx, func() { sn.link.Close() })
	sn.r = bufio.NewReaderSize(sn.link, 1<<20)
	h, _, err := receive(sn.r)
	if err != nil || h.Op != "ready" {
		return sn.lost(ctx)
	}
	sn.local, sn.parallel = h.Local, h.Parallel
	return nil
}

// lost is the error of a session that ended unexpectedly.
func (sn *Session) lost(ctx context.Context) error {
	sn.failed = true
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("spark: %w", err)
	}
	return fmt.Errorf("spark: the session ended; what Spark printed, which may hold private cells, is in %s", sn.log)
}

// refused is the error for a failure that the session reports.
func (sn *Session) refused(reason string) error {
	sn.failed = true
	return fmt.Errorf("spark: %s (what Spark printed, which may hold private cells, is in %s)", reason, sn.log)
}

// next returns the next message of the session. Progress messages are reported instead.
func (sn *Session) next(ctx context.Context, doing string) (h header, parts [][]byte, err error) {
	for {
		h, parts, err = receive(sn.r)
		switch {
		case err != nil:
			return h, nil, sn.lost(ctx)
		case h.Op == "failed":
			return h, nil, sn.refused(h.Error)
		case h.Op != "progress":
			return h, parts, nil
		}
		sn.report(doing)
	}
}

func (sn *Session) load(request header) error {
	if err := send(sn.link, request); err != nil {
		return sn.lost(context.Background())
	}
	sn.blocks, sn.rowsOf = map[string]string{}, map[string]int{}
	for {
		h, _, err := sn.next(context.Background(), "coding the rows")
		if err != nil {
			return err
		}
		switch {
		case h.Op == "done" && len(request.Pieces) > 0 && len(sn.blocks) != len(request.Pieces):
			return sn.refused(fmt.Sprintf("%d of %d pieces of files were coded", len(sn.blocks), len(request.Pieces)))
		case h.Op == "done":
			if sn.rows == 0 && sn.s.Relation == dp.ReplaceOne {
				return sn.refused("the table must have at least one row")
			}
			return nil
		case h.Op != "block" || h.Rows < 0 || sn.blocks[h.Block] != "" || h.ID == "":
			return sn.refused("the session named its blocks wrongly")
		}
		sn.blocks[h.Block], sn.rowsOf[h.Block] = h.ID, h.Rows
		sn.rows += h.Rows
	}
}

// Table returns a table that answers from all rows.
func (sn *Session) Table() *question.Table {
	t := question.NewTable(sn.s, sn.rows, sn)
	if sn.persons == nil {
		return t
	}
	return t.WithPersons(sn.persons)
}

// Ask implements question.Asker.
func (sn *Session) Ask(ctx context.Context, q *question.Question) (*question.Sums, error) {
	if sn.persons != nil {
		return nil, fmt.Errorf("spark: %s cannot be asked before it is settled what a person's rows count for", q.Kind)
	}
	return sn.ask(ctx, q, nil)
}

// ask asks about the rows, weighted as in a view if there are persons. An answer counts once per
// block, even if it arrives repeatedly. Every block must answer, with the rows that it had when it was
// made.
func (sn *Session) ask(ctx context.Context, q *question.Question, v *view) (*question.Sums, error) {
	text, err := question.Encode(q)
	if err != nil {
		return nil, err
	}
	if err := send(sn.link, header{Op: "ask", View: v}, text); err != nil {
		return nil, sn.lost(ctx)
	}
	sn.asked++
	var sum question.Adder
	counted := map[string]bool{}
	for {
		h, parts, err := sn.next(ctx, fmt.Sprintf("question %d", sn.asked))
		if err != nil {
			return nil, err
		}
		switch {
		case h.Op == "done":
			if len(counted) != len(sn.blocks) {
				return nil, sn.refused(fmt.Sprintf("%d of %d blocks answered", len(counted), len(sn.blocks)))
			}
			return sum.Sum()
		case h.Op != "answer" || len(parts) != 1:
			return nil, sn.refused("there was an answer that nobody was asked for")
		}
		if err := sn.checkBlock(&h); err != nil {
			return nil, err
		}
		if counted[h.Block] {
			continue
		}
		counted[h.Block] = true
		answer, err := question.DecodeSums(parts[0])
		if err == nil {
			err = sum.Add(answer)
		}
		if err != nil {
			return nil, err
		}
	}
}

// Close ends the session.
func (sn *Session) Close() (err error) {
	sn.closing.Do(func() {
		if sn.link != nil {
			sn.link.Close() // upon which the session stops its cluster's application
		} else if sn.cmd != nil {
			sn.cmd.Process.Kill()
		}
		if sn.cmd != nil {
			<-sn.ended
		}
		if !sn.failed {
			err = os.RemoveAll(sn.folder)
			return
		}
		for _, name := range []string{"driver.py", "link"} {
			if gone := os.Remove(filepath.Join(sn.folder, name)); gone != nil && !errors.Is(gone, os.ErrNotExist) {
				err = errors.Join(err, gone)
			}
		}
	})
	return err
}

var _ io.Closer = (*Session)(nil)
