// SPDX-License-Identifier: Apache-2.0

package train

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/census"
	"github.com/discreet-dp/discreet/internal/learn/learntest"
	"github.com/discreet-dp/discreet/internal/table/dataset"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/question"
	"github.com/discreet-dp/discreet/internal/table/engine/spark"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Executors run the file that asks, which here is the test's.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "worker" {
		if err := spark.ServeWorker(context.Background(), os.Stdin, os.Stdout); err != nil {
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

// sparkCluster is a master and two workers on this machine, from the package of PyPI.
type sparkCluster struct{ home, master string }

// clusterName is the variable by which processes of a cluster are known.
const clusterName = "DISCREET_TEST_CLUSTER"

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
	for name, value := range map[string]string{"SPARK_HOME": homes[0], "SPARK_LOCAL_IP": "127.0.0.1",
		"PYSPARK_PYTHON": python, "PYSPARK_DRIVER_PYTHON": python} {
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
		var b bytes.Buffer
		if err := census.StreamParquet(&b, uint64(k+1), rows/4); err != nil {
			t.Fatal(err)
		}
		files = append(files, filepath.Join(folder, fmt.Sprintf("part-%d.parquet", k)))
		if err := os.WriteFile(files[k], b.Bytes(), 0o600); err != nil {
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

// On a cluster of two executors, one of which is killed in the middle, models are the same bytes as
// in memory. Bad rows and unreadable files are errors without a cell.
func TestSparkCluster(t *testing.T) {
	c := startSpark(t)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Minute)
	defer cancel()
	s := census.Schema()
	text := censusText(t, s)
	folder, files := writeRows(t, 4000)
	tab, err := dataset.Read(ctx, s, dataset.Options{}, files...)
	if err != nil {
		t.Fatal(err)
	}
	for _, learner := range []string{"brc", "additive"} {
		t.Run(learner, func(t *testing.T) {
			sn, err := spark.Start(ctx, s, text, c.options(folder))
			if err != nil {
				t.Fatal(err)
			}
			defer sn.Close()
			killing := &duringQuestions{Asker: sn, at: 2, do: func() { killExecutor(t, c.master) }}
			req := requestOf(t, learner, "1")
			fit := func(rows engine.Table) []byte {
				pl, err := req.Plan(s, tab.Rows)
				if err != nil {
					t.Fatal(err)
				}
				return learntest.Bytes(t, learntest.FitFrom(t, pl, rows, nil, 11))
			}
			if n := sn.Table().Rows(); n != tab.Rows {
				t.Fatalf("%d rows, want %d", n, tab.Rows)
			}
			got := fit(question.NewTable(s, tab.Rows, killing))
			if !bytes.Equal(got, fit(learntest.Engine(t, tab))) {
				t.Error("another model than in memory")
			}
			t.Logf("%d questions", killing.asked)
		})
	}
	t.Run("faults", func(t *testing.T) {
		bad := *s
		bad.Columns = append([]schema.Column(nil), s.Columns...)
		for j := range bad.Columns {
			if bad.Columns[j].Role == schema.Public && bad.Columns[j].Kind == schema.Category {
				bad.Columns[j].Levels, bad.Columns[j].Missing = bad.Columns[j].Levels[:1], false
			}
		}
		bad.Label.Levels, bad.Label.Default = []schema.Level{{Value: "nobody's"}, {Value: "never"}}, -1
		for name, f := range map[string]struct {
			s            *schema.Schema
			data, worker string
			want         string
		}{
			"a row without a label": {&bad, folder, "", "must hold one of the classes"},
			"no such file":          {s, filepath.Join(folder, "none"), "", "the job of Spark failed"},
			"another worker":        {s, folder, anotherProgram(t), "not the program that asks"},
		} {
			o := c.options(f.data)
			o.Worker = f.worker
			sn, err := spark.Start(ctx, f.s, censusText(t, f.s), o)
			if err == nil {
				sn.Close()
			}
			if err == nil || !strings.Contains(err.Error(), f.want) {
				t.Errorf("%s: error %v", name, err)
			}
		}
	})
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

// killExecutor kills an executor of the cluster, and the tasks it has.
func killExecutor(t *testing.T, master string) {
	t.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range processes {
		line, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(line, []byte("CoarseGrainedExecutorBackend")) {
			continue
		}
		environment, err := os.ReadFile(filepath.Join(filepath.Dir(path), "environ"))
		if err != nil || !bytes.Contains(environment, []byte(clusterName+"="+master)) {
			continue // another's
		}
		var pid int
		if _, err := fmt.Sscan(filepath.Base(filepath.Dir(path)), &pid); err != nil {
			t.Fatal(err)
		}
		t.Logf("killing executor %d", pid)
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("there is no executor to kill")
}
