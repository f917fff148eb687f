// SPDX-License-Identifier: Apache-2.0

package spark

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/engine/question"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

var aQuestion = &question.Question{Kind: question.Sum, Against: engine.WholeLabel,
	Statistic: statistic.ClassCells{Bins: []feature.Bins{feature.NewBins(census.Schema(), 1, nil)}}}

// askPlayed asks a session of two blocks that plays these answers.
func askPlayed(t *testing.T, v *view, play func(w io.Writer)) (*question.Sums, error) {
	t.Helper()
	ours, theirs := net.Pipe()
	sn := &Session{s: census.Schema(), blocks: map[string]string{"0-0": "a", "1-0": "b"}, link: ours,
		r: bufio.NewReader(ours), log: "spark.log", report: func(string) {}}
	go func() {
		defer theirs.Close()
		if _, _, err := receive(theirs); err == nil {
			play(theirs)
		}
	}()
	defer ours.Close()
	return sn.ask(context.Background(), aQuestion, v)
}

func answerOf(block, id string, n int64) func(io.Writer) {
	return func(w io.Writer) {
		send(w, header{Op: "answer", Block: block, ID: id}, (&question.Sums{Plain: []int64{n}}).Encode())
	}
}

// A block counts once, must answer, and must hold the rows it was made of.
func TestBlocksCountOnce(t *testing.T) {
	first, second := answerOf("0-0", "a", 5), answerOf("1-0", "b", 7)
	done := func(w io.Writer) { send(w, header{Op: "done"}) }
	for _, c := range []struct {
		name  string
		plays []func(io.Writer)
		want  string // of the error; "" for the sum 12
	}{
		{"each once", []func(io.Writer){first, second, done}, ""},
		{"the other order", []func(io.Writer){second, first, done}, ""},
		{"speculative duplicates", []func(io.Writer){first, second, first, second, first, done}, ""},
		{"one is missing", []func(io.Writer){first, done}, "1 of 2 blocks answered"},
		{"a duplicate in place of one", []func(io.Writer){first, first, done}, "1 of 2 blocks answered"},
		{"an unknown one", []func(io.Writer){first, second, answerOf("2-0", "c", 1), done}, "nobody was asked for"},
		{"other rows", []func(io.Writer){first, answerOf("1-0", "c", 7), done}, "holds other rows"},
		{"a failure", []func(io.Writer){first, func(w io.Writer) { send(w, header{Op: "failed", Error: "why"}) }}, "why"},
		{"the driver is killed", []func(io.Writer){first}, "the session ended"},
		{"half a message", []func(io.Writer){first, func(w io.Writer) { w.Write([]byte{0, 0, 0}) }}, "the session ended"},
	} {
		for _, v := range []*view{nil, {Name: "1", Kind: "weigh", Most: 2}} {
			sums, err := askPlayed(t, v, func(w io.Writer) {
				for _, play := range c.plays {
					play(w)
				}
			})
			switch {
			case c.want == "" && (err != nil || !reflect.DeepEqual(sums.Plain, []int64{12})):
				t.Errorf("%s: %v, %v", c.name, sums, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%s: error %v, want %q", c.name, err, c.want)
			}
		}
	}
}

// played is a worker in this process.
type played struct {
	t   *testing.T
	in  *io.PipeWriter
	out io.Reader
}

func playWorker(t *testing.T) *played {
	t.Helper()
	in, toWorker := io.Pipe()
	fromWorker, out := io.Pipe()
	go func() { out.CloseWithError(ServeWorker(context.Background(), in, out, nil)) }()
	t.Cleanup(func() { toWorker.Close() })
	return &played{t, toWorker, fromWorker}
}

func (p *played) call(h header, parts ...[]byte) (header, [][]byte) {
	p.t.Helper()
	if err := send(p.in, h, parts...); err != nil {
		p.t.Fatal(err)
	}
	answer, data, err := receive(p.out)
	if err != nil {
		p.t.Fatal(err)
	}
	return answer, data
}

func (p *played) begin(keep *dataset.Selection) {
	p.t.Helper()
	text, err := census.Schema().YAML()
	if err != nil {
		p.t.Fatal(err)
	}
	program, err := programID()
	if err != nil {
		p.t.Fatal(err)
	}
	begin := header{Op: "begin", Program: program, Rows: 700, Folder: p.t.TempDir(), Keep: keep}
	if answer, _ := p.call(begin, text); answer.Error != "" {
		p.t.Fatal(answer.Error)
	}
}

func TestWorkerAnswersAsMemory(t *testing.T) {
	w := playWorker(t)
	w.begin(nil)
	file := censustest.Parquet(3, 500)
	coded, data := w.call(header{Op: "code", Name: "0-0"}, file)
	if coded.Error != "" || coded.Rows != 500 {
		t.Fatalf("%+v", coded)
	}
	// A file makes the blocks of its row groups, and an answer without data ends them.
	if err := send(w.in, header{Op: "file", Name: "part.parquet"}, file); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{coded.ID, ""} {
		answer, _, err := receive(w.out)
		if err != nil || answer.Error != "" || answer.ID != want {
			t.Fatalf("%+v, %v, want the block %q", answer, err, want)
		}
	}
	text, err := question.Encode(aQuestion)
	if err != nil {
		t.Fatal(err)
	}
	answer, sums := w.call(header{Op: "ask"}, text, data[0])
	if answer.Error != "" || answer.ID != coded.ID {
		t.Fatalf("%+v", answer)
	}
	m, err := memory.New(censustest.Table(3, 500))
	if err != nil {
		t.Fatal(err)
	}
	want, err := question.AnswerFrom(context.Background(), m, aQuestion)
	if err != nil || !bytes.Equal(want.Encode(), sums[0]) {
		t.Errorf("another answer, %v", err)
	}
	data[0][len(data[0])-1] ^= 1
	if answer, _ := w.call(header{Op: "ask"}, text, data[0]); answer.Error == "" {
		t.Error("a damaged block is not refused")
	}
	next := bytes.Replace(text, fmt.Appendf(nil, `"Version":%d`, question.Version), fmt.Appendf(nil, `"Version":%d`, question.Version+1), 1)
	if answer, _ := w.call(header{Op: "ask"}, next, data[0]); !strings.Contains(answer.Error, fmt.Sprintf("version %d, this", question.Version+1)) {
		t.Errorf("error %q", answer.Error)
	}
	if answer, _ := w.call(header{Op: "code", Name: "0-1"}, []byte("no Parquet")); !strings.Contains(answer.Error,
		"undamaged Parquet") {
		t.Errorf("error %q", answer.Error)
	}
}

func TestWorkerOfAnotherProgramIsRefused(t *testing.T) {
	w := playWorker(t)
	if answer, _ := w.call(header{Op: "ask"}, nil, nil); !strings.Contains(answer.Error, "schema first") {
		t.Errorf("error %q", answer.Error)
	}
	if answer, _ := w.call(header{Op: "begin", Program: "another"}, nil); !strings.Contains(answer.Error,
		"not the program that asks") {
		t.Errorf("error %q", answer.Error)
	}
}

// A submit command that is not there, or that ends, is an error and leaves nothing but its log.
func TestSessionThatDoesNotBegin(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	text, err := census.Schema().YAML()
	if err != nil {
		t.Fatal(err)
	}
	for _, submit := range []string{filepath.Join(t.TempDir(), "none"), "false"} {
		o := Options{Submit: submit, Data: []string{"x"}}
		if _, err := Start(context.Background(), census.Schema(), text, o); err == nil {
			t.Errorf("%s: no error", submit)
		}
	}
	left, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range left {
		if filepath.Base(path) != "spark.log" {
			t.Errorf("%s is left", path)
		}
	}
}

func TestVersionsFrom(t *testing.T) {
	for _, c := range []struct {
		version, least string
		want           bool
	}{
		{"17.0.15", "17", true}, {"21", "17", true}, {"11.0.2", "17", false}, {"1.8.0_292", "17", false},
		{"", "17", false}, {"3.10.1", "3.9", true}, {"3.8.19", "3.9", false}, {"3", "3.9", false},
		{"4.0.1", "4", true}, {"2.7", "3.9", false},
	} {
		if got := isVersionFrom(c.version, c.least); got != c.want {
			t.Errorf("%q from %q: %v", c.version, c.least, got)
		}
	}
}

// What this machine lacks is named, all of it, and no session is started.
func TestExamineNamesWhatIsMissing(t *testing.T) {
	programs := t.TempDir()
	for name, text := range map[string]string{
		"java":    `echo 'openjdk version "11.0.2" 2019' >&2`,
		"python3": "echo 3.8.1",
	} {
		if err := os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"JAVA_HOME", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"} {
		t.Setenv(name, "")
	}
	for _, c := range []struct{ path, folder, want string }{
		{t.TempDir(), os.TempDir(), "Java spark-submit Python"},
		{programs, os.TempDir(), "Java 11.0.2 spark-submit Python 3.8.1"},
		{programs, strings.Repeat("/long", 30), "folder for temporary files Java 11.0.2 spark-submit Python 3.8.1"},
	} {
		t.Setenv("PATH", c.path)
		t.Setenv("TMPDIR", c.folder)
		var missing []string
		Examine(context.Background(), Options{}, func(what, found, want string) {
			if want == "" {
				return
			}
			missing = append(missing, what)
			if what == "Java" || what == "Python" {
				missing = append(missing, found)
			}
		})
		if got := strings.Join(strings.Fields(strings.Join(missing, " ")), " "); got != c.want {
			t.Errorf("missing: %s, want %s", got, c.want)
		}
	}
}

func TestOptionsThatCannotBe(t *testing.T) {
	folder := writeFolder(t, 1, "a.parquet")
	for _, data := range [][]string{nil, {"-"}, {""}, {"table:"}, {"table:a", "b"}, {"query: "},
		{folder, filepath.Join(folder, "a.parquet")}} {
		if err := (&Options{Data: data}).Check("train"); err == nil {
			t.Errorf("%q is not refused", data)
		}
	}
	for _, data := range [][]string{{"a", "b"}, {"table:a.b"}, {"query:SELECT 1"}, {"s3a://a/b"}} {
		if err := (&Options{Data: data}).Check("train"); err != nil {
			t.Errorf("%q: %v", data, err)
		}
	}
}

// Whatever bytes come, they are a message or an error, and room is made for no more than came.
func FuzzReceive(f *testing.F) {
	var b bytes.Buffer
	if err := send(&b, header{Op: "ask"}, []byte("question"), []byte("block")); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		h, parts, err := receive(bytes.NewReader(b))
		if err == nil && h.Parts != len(parts) {
			t.Errorf("%d parts, %d were announced", len(parts), h.Parts)
		}
		if errors.Is(err, errMessage) {
			return
		}
	})
}
