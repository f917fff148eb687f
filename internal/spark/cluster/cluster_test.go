// SPDX-License-Identifier: Apache-2.0

//go:build !js

package cluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/realdata"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/spark"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/question"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// Executors run the file that asks, which here is the test's.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "worker" {
		if err := ServeWorker(context.Background(), os.Stdin, heldAnswers{os.Stdout}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 2 && os.Args[1] == "session" {
		if err := playSession(os.Args[2], os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// heldAnswers writes answers to questions only after anyone who holds them lets go: see holdAnswers.
type heldAnswers struct{ io.Writer }

func (w heldAnswers) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(`"op":"answer"`)) {
		if f, err := os.Open(os.Getenv(clusterHold)); err == nil {
			io.Copy(io.Discard, f) // until it is closed on the other side
			f.Close()
		}
	}
	return w.Writer.Write(b)
}

// holdAnswers lets during be called while a job is running: when a worker has found the answer to
// a question and before it gives it.
func holdAnswers(t *testing.T, during func()) {
	t.Helper()
	pipe := os.Getenv(clusterHold)
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		f, err := os.OpenFile(pipe, os.O_WRONLY, 0) // which waits for a worker
		if err != nil {
			t.Error(err)
			return
		}
		during()
		os.Remove(pipe)
		f.Close()
	}()
}

// sparkCluster is a master and two workers on this machine, from the package of PyPI.
type sparkCluster struct{ home, master string }

// Variables of a cluster's processes: its name, and the pipe at which its workers wait where it is.
const (
	clusterName = "DISCREET_TEST_CLUSTER"
	clusterHold = "DISCREET_TEST_HOLD"
)

// startSpark starts a cluster from the Python environment in DISCREET_SPARK, which has pyspark and
// pyarrow (make spark).
func startSpark(t *testing.T) *sparkCluster {
	t.Helper()
	env := os.Getenv("DISCREET_SPARK")
	if env == "" {
		t.Skip("needs Spark: make spark")
	}
	homes, err := filepath.Glob(filepath.Join(env, "lib", "python3*", "site-packages", "pyspark"))
	if err != nil || len(homes) != 1 {
		t.Fatalf("DISCREET_SPARK=%s has no pyspark: %v, %v", env, homes, err)
	}
	python := filepath.Join(env, "bin", "python")
	short, err := os.MkdirTemp("", "s") // the path of a socket is limited to about 100 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(short) })
	for name, value := range map[string]string{"SPARK_HOME": homes[0], "SPARK_LOCAL_IP": "127.0.0.1", "TMPDIR": short,
		"PYSPARK_PYTHON": python, "PYSPARK_DRIVER_PYTHON": python, clusterHold: filepath.Join(short, "hold")} {
		t.Setenv(name, value)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	t.Setenv(clusterName, fmt.Sprintf("spark://127.0.0.1:%d", port))
	c := &sparkCluster{homes[0], fmt.Sprintf("spark://127.0.0.1:%d", port)}
	c.start(t, "Master", "--host", "127.0.0.1", "--port", fmt.Sprint(port), "--webui-port", "0")
	for range 2 {
		c.start(t, "Worker", "--host", "127.0.0.1", "--webui-port", "0", "-c", "1", "-m", "1g", "-d", t.TempDir(), c.master)
	}
	return c
}

// start runs a process of the cluster until the test ends.
func (c *sparkCluster) start(t *testing.T, what string, args ...string) {
	t.Helper()
	class := "org.apache.spark.deploy." + strings.ToLower(what) + "." + what
	cmd := exec.Command(filepath.Join(c.home, "bin", "spark-class"), append([]string{class}, args...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
}

func (c *sparkCluster) options(data ...string) spark.Options {
	submit := filepath.Join(c.home, "bin", "spark-submit") + " --conf spark.executor.memory=512m"
	return spark.Options{Master: c.master, Data: data, BlockRows: 700, Submit: submit}
}

// writeRows writes rows of the census in several files of Parquet.
func writeRows(t *testing.T, rows int) (folder string, files []string) {
	t.Helper()
	folder = t.TempDir()
	for k := range 4 {
		b := censustest.Parquet(uint64(k+1), rows/4)
		files = append(files, filepath.Join(folder, fmt.Sprintf("part-%d.parquet", k)))
		if err := os.WriteFile(files[k], b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder, files
}

func censusText(t *testing.T, s *schema.Schema) []byte {
	t.Helper()
	text, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// duringQuestions calls do before a question.
type duringQuestions struct {
	question.Asker
	asked, at int
	do        func()
}

func (d *duringQuestions) Ask(ctx context.Context, q *question.Question) (*question.Sums, error) {
	if d.asked++; d.asked == d.at {
		d.do()
	}
	return d.Asker.Ask(ctx, q)
}

// On a cluster of two executors, one of which is killed in the middle of a job, models are the same
// bytes as in memory. Bad rows, unreadable files and a killed driver are errors without a cell.
func TestSparkCluster(t *testing.T) {
	c := startSpark(t)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Minute)
	defer cancel()
	s := census.Schema()
	folder, files := writeRows(t, 4000)
	t.Run("doctor", func(t *testing.T) {
		for worker, want := range map[string]string{"": "", anotherProgram(t): "all machines' worker"} {
			o := c.options()
			o.Worker = worker
			var missing []string
			spark.Examine(ctx, o, func(what, found, want string) {
				t.Logf("%s: %s %s", what, found, want)
				if want != "" {
					missing = append(missing, what)
				}
			})
			if strings.Join(missing, " ") != want {
				t.Errorf("missing: %q, want %q", missing, want)
			}
		}
	})
	for _, learner := range []string{"brc", "additive"} {
		t.Run(learner, func(t *testing.T) {
			c.compareWithMemory(t, ctx, learner, s, c.options(folder), files, func(sn *spark.Session) question.Asker {
				return &duringQuestions{Asker: sn, at: 2, do: func() {
					holdAnswers(t, func() { killProcess(t, c.master, "java", "CoarseGrainedExecutorBackend") })
				}}
			})
		})
	}
	// The other ways that rows come: in files that Spark passes on whole, and through Spark.
	t.Run("whole files", func(t *testing.T) {
		o := c.options(folder)
		o.Submit += " --conf spark.io.encryption.enabled=true"
		c.compareWithMemory(t, ctx, "brc", s, o, files, nil)
	})
	t.Run("a query", func(t *testing.T) {
		for _, learner := range []string{"brc", "additive"} {
			c.compareWithMemory(t, ctx, learner, s, c.options("query:SELECT * FROM parquet.`"+folder+"`"), files, nil)
		}
	})
	t.Run("a file named twice", func(t *testing.T) {
		o := c.options(append([]string{files[1]}, files...)...)
		if err := o.Check("brc"); err == nil || !strings.Contains(err.Error(), "must name each table once") {
			t.Errorf("a file counts twice: %v", err)
		}
	})
	t.Run("predict", func(t *testing.T) { c.compareScores(t, ctx, s, files) })
	t.Run("persons", func(t *testing.T) { c.comparePersons(t, ctx) })
	t.Run("adult", func(t *testing.T) {
		s, path := writeAdult(t)
		for _, learner := range []string{"brc", "additive"} {
			o := c.options(path)
			o.BlockRows = 5000
			c.compareWithMemory(t, ctx, learner, s, o, []string{path}, nil)
		}
	})
	t.Run("large", func(t *testing.T) {
		rows, err := strconv.Atoi(os.Getenv("DISCREET_SPARK_ROWS"))
		if err != nil {
			t.Skip("needs DISCREET_SPARK_ROWS, a number of rows: make spark SPARK_ROWS=10000000")
		}
		folder, files := writeRows(t, rows)
		for _, learner := range []string{"brc", "additive"} {
			o := c.options(folder)
			o.BlockRows = 0
			c.compareWithMemory(t, ctx, learner, s, o, files, nil)
		}
	})
	t.Run("a killed driver", func(t *testing.T) {
		for _, program := range []string{"python", "java"} {
			c.killDriver(t, ctx, folder, program)
		}
	})
	t.Run("faults", func(t *testing.T) {
		s := *s
		s.Label.Default = -1
		for name, f := range map[string]struct{ data, worker, want string }{
			"a row without a label": {addRowWithoutLabel(t, files), "", "must hold one of the classes"},
			"no such file":          {filepath.Join(folder, "none"), "", "the job of Spark failed"},
			"half a file":           {addHalfAFile(t, files), "", "must be undamaged Parquet"},
			"another worker":        {folder, anotherProgram(t), "not the program that asks"},
		} {
			o := c.options(f.data)
			o.Worker = f.worker
			sn, err := spark.Start(ctx, &s, censusText(t, &s), o)
			if err == nil {
				sn.Close()
			}
			if err == nil || !strings.Contains(err.Error(), f.want) || strings.Contains(err.Error(), "CANARY") {
				t.Errorf("%s: error %v", name, err)
			}
		}
	})
}

// compareWithMemory trains on rows that Spark holds and on the same rows in memory: the models are
// the same bytes. It logs what either took.
func (c *sparkCluster) compareWithMemory(t *testing.T, ctx context.Context, learner string, s *schema.Schema,
	o spark.Options, files []string, through func(*spark.Session) question.Asker) {
	t.Helper()
	req := requestOf(t, learner, "1")
	fit := func(rows engine.Table) []byte {
		units := rows.Rows()
		if s.Person != nil {
			units = guard.PublicUnits(rows)
		}
		pl, err := req.Plan(s, units)
		if err != nil {
			t.Fatal(err)
		}
		return learntest.Bytes(t, learntest.FitFrom(t, pl, rows, nil, 11))
	}
	begin := time.Now()
	tab, err := dataset.Read(ctx, s, dataset.Options{}, files...)
	if err != nil {
		t.Fatal(err)
	}
	want := fit(learntest.Engine(t, tab))
	local := time.Since(begin)

	begin = time.Now()
	var started time.Duration
	o.Report = func(string) {
		if started == 0 {
			started = time.Since(begin)
		}
	}
	sn, err := spark.Start(ctx, s, censusText(t, s), o)
	if err != nil {
		t.Fatal(err)
	}
	defer sn.Close()
	loaded := time.Since(begin)
	asked := &duringQuestions{Asker: sn}
	if through != nil {
		asked.Asker = through(sn)
	}
	if n := sn.Table().Rows(); n != tab.Rows {
		t.Fatalf("%d rows, want %d", n, tab.Rows)
	}
	rows := question.NewTable(s, tab.Rows, asked)
	if s.Person != nil { // who have views of their own, which ask the session
		rows = sn.Table()
	}
	if !bytes.Equal(fit(rows), want) {
		t.Error("another model than in memory")
	}
	t.Logf("%s, %d rows: memory %v; Spark %v, of which %v until the first job runs, %v for coding, %v for %d questions",
		learner, tab.Rows, local, time.Since(begin), started, loaded-started, time.Since(begin)-loaded, asked.asked)
}

// writePersons writes rows of persons, of whom many have rows in all files and some none; some rows
// are no one's.
func writePersons(t *testing.T, count int) (s *schema.Schema, files []string) {
	t.Helper()
	whole := *census.Schema()
	whole.Columns = append([]schema.Column{{Name: "pid", Role: schema.Ignored}}, whole.Columns...)
	whole.Label.Position++
	folder := t.TempDir()
	for k := range 4 {
		b := censustest.CSV(uint64(k+1), count/4)
		lines := strings.Split(strings.TrimSpace(string(b)), "\n")
		lines[0] = "pid," + lines[0]
		for i := 1; i < len(lines); i++ {
			id := ""
			if i%97 > 0 {
				id = fmt.Sprintf("CANARY%d", (k*count/4+i)*i%1201)
			}
			lines[i] = id + "," + lines[i]
		}
		from := filepath.Join(t.TempDir(), "rows.csv")
		if err := os.WriteFile(from, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, filepath.Join(folder, fmt.Sprintf("part-%d.parquet", k)))
		writeAsParquet(t, &whole, files[k], from)
	}
	return &whole, files
}

// comparePersons trains where the rows of a person lie in several blocks.
func (c *sparkCluster) comparePersons(t *testing.T, ctx context.Context) {
	whole, files := writePersons(t, 4000)
	folder := filepath.Dir(files[0])
	of := func(rows int) *schema.Schema {
		s := *whole
		s.Person = &schema.Person{Column: "pid", Rows: rows}
		return &s
	}
	kill := func(sn *spark.Session) question.Asker {
		holdAnswers(t, func() { killProcess(t, c.master, "java", "CoarseGrainedExecutorBackend") })
		return sn
	}
	for _, run := range []struct {
		learner string
		rows    int
		through func(*spark.Session) question.Asker
	}{{"additive", 1, kill}, {"brc", 1, kill}, {"brc", 3, nil}} {
		t.Run(fmt.Sprintf("%s %d", run.learner, run.rows), func(t *testing.T) {
			o := c.options(folder)
			o.BlockRows = 100 // so that there are several buckets of persons
			c.compareWithMemory(t, ctx, run.learner, of(run.rows), o, files, run.through)
		})
	}
	t.Run("whole files", func(t *testing.T) {
		o := c.options(folder)
		o.Submit += " --conf spark.io.encryption.enabled=true"
		c.compareWithMemory(t, ctx, "additive", of(2), o, files, nil)
	})
	t.Run("a query", func(t *testing.T) {
		c.compareWithMemory(t, ctx, "additive", of(1), c.options("query:SELECT * FROM parquet.`"+folder+"`"), files, nil)
		// Where rows pass through Spark their order is Spark's: of one file, the file's.
		c.compareWithMemory(t, ctx, "brc", of(1), c.options("query:SELECT * FROM parquet.`"+files[0]+"`"), files[:1], nil)
	})
	t.Run("no such column", func(t *testing.T) {
		_, plain := writeRows(t, 400)
		for _, data := range []string{plain[0], "query:SELECT * FROM parquet.`" + plain[0] + "`"} {
			sn, err := spark.Start(ctx, of(1), censusText(t, of(1)), c.options(data))
			if err == nil {
				sn.Close()
			}
			if err == nil || !strings.Contains(err.Error(), "pid") {
				t.Errorf("%s: error %v", data, err)
			}
		}
	})
}

// sameRows ends well if two tables in Parquet have the same rows, in any order. Numbers that
// pass through Spark keep their types.
const sameRows = `
import sys, pandas
tables = []
for path in sys.argv[1:]:
    t = pandas.read_parquet(path)
    for c in t.columns:
        t[c] = t[c].astype(float if pandas.api.types.is_numeric_dtype(t[c]) else str)
    tables.append(t.sort_values(list(t.columns)).reset_index(drop=True))
pandas.testing.assert_frame_equal(*tables, check_exact=True)
`

// compareScores has the program predict the rows of files on the cluster and on this machine.
func (c *sparkCluster) compareScores(t *testing.T, ctx context.Context, s *schema.Schema, files []string) {
	t.Helper()
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	run := func(fails bool, program string, args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
		if (err != nil) != fails {
			t.Fatalf("%s %q: %v\n%s", program, args, err, out)
		}
		return string(out)
	}
	if err := os.WriteFile(at("s.yaml"), censusText(t, s), 0o600); err != nil {
		t.Fatal(err)
	}
	var data []string
	for _, path := range files {
		data = append(data, "--data", path)
	}
	program := at("discreet")
	run(false, "go", "build", "-o", program, "github.com/discreet-dp/discreet/cmd/discreet")
	run(false, program, slices.Concat([]string{"train", "--schema", at("s.yaml"), "--learner", "additive",
		"--epsilon", "1", "--model", at("m.json")}, data)...)
	ask := []string{"predict", "--model", at("m.json"), "--explain", "--interval", "--threshold", "0.3"}
	onCluster := append(ask, "--engine", "spark", "--master", c.master, "--spark-submit", c.options().Submit)
	here := run(false, program, slices.Concat(ask, data, []string{"--out", at("here.parquet")})...)
	there := run(false, program, slices.Concat(onCluster, data, []string{"--out", at("there")})...)
	if here != there {
		t.Errorf("the cluster says %q, this machine %q", there, here)
	}
	run(false, os.Getenv("PYSPARK_PYTHON"), "-c", sameRows, at("here.parquet"), at("there"))
	for want, args := range map[string][]string{
		"PATH_ALREADY_EXISTS":                 append(data, "--out", at("there")),
		"the columns label, score, score_low": {"--data", at("there"), "--out", at("none")},
	} {
		if said := run(true, program, slices.Concat(onCluster, args)...); !strings.Contains(said, want) {
			t.Errorf("%q, want %q", said, want)
		}
	}
	if _, err := os.Stat(at("none")); err == nil {
		t.Error("a job that failed left a folder")
	}
}

// killDriver kills a program of the session while it asks: the training has spent its price, once.
func (c *sparkCluster) killDriver(t *testing.T, ctx context.Context, data, program string) {
	t.Helper()
	folder := t.TempDir()
	l, spent := newLedger(t, ctx, folder)
	text := censusText(t, census.Schema())
	s, err := schema.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	holdAnswers(t, func() { killProcess(t, c.master, program, "driver.py") })
	for range 2 { // the same job is not begun again
		o := c.options()
		run := &train.Training{Op: "train", Request: requestOf(t, "brc", "1"), Schema: s, SchemaText: text, Data: []string{data},
			Rows:   &train.RowSource{Engine: train.EngineSpark, Files: []string{data}, Cluster: &Cluster{o}},
			Output: train.Output{Path: filepath.Join(folder, "model.json")}, Job: &train.Job{Ledger: l, Dataset: "people", ID: "monday"}}
		_, err := run.Run(ctx)
		t.Logf("%s is killed: %v", program, err)
		if err == nil {
			t.Errorf("%s is killed, and there is a model", program)
		}
		if got := spent(); got != dp.Nano {
			t.Errorf("%s is killed: %v spent", program, got)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "model.json")); err == nil {
		t.Errorf("%s is killed, and there is the file of a model", program)
	}
}

// writeAdult writes Adult as Parquet.
func writeAdult(t *testing.T) (s *schema.Schema, path string) {
	t.Helper()
	s, err := schema.Load(filepath.Join(realdata.Root(), "examples", "adult.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	from := realdata.File(t, "adult/adult.data.gz")
	path = filepath.Join(t.TempDir(), "adult.parquet")
	writeAsParquet(t, s, path, from)
	return s, path
}

func writeAsParquet(t *testing.T, s *schema.Schema, path, from string) {
	t.Helper()
	var b bytes.Buffer
	if err := dataset.CopyRows(t.Context(), s, dataset.Options{}, &b, dataset.Parquet, nil, nil, from); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// linkFiles makes a folder of these files.
func linkFiles(t *testing.T, files []string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for _, path := range files {
		if err := os.Symlink(path, filepath.Join(folder, filepath.Base(path))); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// addRowWithoutLabel adds a file whose last row has no class of the label.
func addRowWithoutLabel(t *testing.T, files []string) (folder string) {
	t.Helper()
	folder = linkFiles(t, files[1:])
	b := censustest.CSV(9, 50)
	text := bytes.TrimSpace(b)
	text = append(text[:bytes.LastIndexByte(text, ',')+1], "CANARY\n"...)
	from := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(from, text, 0o600); err != nil {
		t.Fatal(err)
	}
	writeAsParquet(t, census.Schema(), filepath.Join(folder, "bad.parquet"), from)
	return folder
}

// addHalfAFile adds a file that ends too early.
func addHalfAFile(t *testing.T, files []string) (folder string) {
	t.Helper()
	folder = linkFiles(t, files[1:])
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "half.parquet"), b[:len(b)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// anotherProgram is this one with a byte more, as another version would be.
func anotherProgram(t *testing.T) (path string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "worker")
	if err := os.WriteFile(path, append(program, 0), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// killProcess kills a process of the cluster that runs a program with this word among its
// arguments.
func killProcess(t *testing.T, master, program, word string) {
	t.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Error(err)
	}
	for _, path := range processes {
		line, err := os.ReadFile(path)
		name, _, _ := bytes.Cut(line, []byte{0})
		if err != nil || !strings.HasPrefix(filepath.Base(string(name)), program) || !bytes.Contains(line, []byte(word)) {
			continue
		}
		environment, err := os.ReadFile(filepath.Join(filepath.Dir(path), "environ"))
		if err != nil || !bytes.Contains(environment, []byte(clusterName+"="+master)) {
			continue // another's
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil {
			t.Logf("killing %s, process %d", word, pid)
			err = syscall.Kill(pid, syscall.SIGKILL)
		}
		if err != nil {
			t.Error(err)
		}
		return
	}
	t.Errorf("there is no process %s %s to kill", program, word)
}
