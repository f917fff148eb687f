// SPDX-License-Identifier: Apache-2.0

//go:build !js

package train

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/objecttest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// censusFormats is rows of the census as files of every kind: a list of names with their bytes.
func censusFormats(t *testing.T, rows int) (files [][2]string) {
	t.Helper()
	parquet, csv := censustest.Parquet(5, rows), censustest.CSV(5, rows)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(csv); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return [][2]string{{"people.parquet", string(parquet)}, {"people.csv", string(csv)},
		{"people.csv.gz", packed.String()}, {"folder/", string(parquet)}}
}

// A store of objects makes the model of the same files on this machine, in memory and from disk.
func TestObjectsMakeTheModelOfFiles(t *testing.T) {
	store := objecttest.Start(t, t.Setenv)
	_, text := censusFile(t, 1)
	for _, file := range censusFormats(t, 3000) {
		name, data := file[0], []byte(file[1])
		local, remote := filepath.Join(t.TempDir(), name), "s3://"+objecttest.Bucket+"/"+name
		if inside := strings.HasSuffix(name, "/"); inside {
			if err := os.Mkdir(local, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, part := range []string{"b.parquet", "a.parquet", "_SUCCESS"} {
				store.Put(name+part, data)
				if err := os.WriteFile(filepath.Join(local, part), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		} else {
			store.Put(name, data)
			if err := os.WriteFile(local, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, learner := range []string{"additive", "erm"} { // which draw nothing without privacy
			for _, where := range []string{EngineMemory, EngineDisk} {
				var models [][]byte
				for _, path := range []string{local, remote} {
					run := &Training{Op: "train", Request: requestOf(t, learner, "inf"), Schema: census.Schema(), SchemaText: text,
						Data: []string{path}, Rows: &RowSource{Engine: where, Files: []string{path}}}
					m, err := run.Run(context.Background())
					if err != nil {
						t.Fatalf("%s, %s: %v", path, where, err)
					}
					models = append(models, learntest.Bytes(t, m))
				}
				if !bytes.Equal(models[0], models[1]) {
					t.Errorf("%s, %s, %s: another model than that of the file", name, learner, where)
				}
			}
		}
	}
}

// A store that fails while rows are read costs nothing, and its error holds no key and no cell. A
// job is charged once when the store comes back.
func TestAFailingStoreCostsNothing(t *testing.T) {
	store := objecttest.Start(t, t.Setenv)
	_, text := censusFile(t, 1)
	s, err := schema.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	ctx, folder := context.Background(), t.TempDir()
	l, spent := newLedger(t, ctx, folder)
	files := censusFormats(t, 20_000)
	replace := func(name, data string) objecttest.Fault {
		return func(n int, r *http.Request) objecttest.Answer {
			if n == 2 { // between what is read first and what is read then
				store.Put(name, []byte(data)[:len(data)-1])
			}
			return objecttest.Answer{}
		}
	}
	charged := dp.Epsilon(0)
	for _, file := range files[:2] {
		name, data := file[0], file[1]
		for what, c := range map[string]struct {
			fault objecttest.Fault
			want  string
		}{
			"absent": {func(int, *http.Request) objecttest.Answer {
				return objecttest.Answer{Status: 404, Body: "<Error><Code>NoSuchKey</Code></Error>"}
			}, "must exist"},
			"denied": {func(int, *http.Request) objecttest.Answer { return objecttest.Answer{Status: 403} },
				"must exist and be readable with these keys"},
			"cut": {func(n int, _ *http.Request) objecttest.Answer { return objecttest.Answer{Cut: n > 1} },
				"must be reachable: "},
			"changed": {replace(name, data), "must not change while it is read"},
		} {
			address := store.Put(name, []byte(data))
			job := name + "." + what
			train := func() error {
				run := &Training{Op: "train", Request: requestOf(t, "additive", "0.1"), Schema: s, SchemaText: text,
					Data: []string{address}, Rows: &RowSource{Files: []string{address}},
					Output: Output{Path: filepath.Join(folder, job+".json")}, Job: &Job{Ledger: l, Dataset: "people", ID: job}}
				_, err := run.Run(ctx)
				return err
			}
			store.Break(c.fault)
			err := train()
			if err == nil || !strings.HasPrefix(err.Error(), "data: "+address+": "+c.want) {
				t.Errorf("%s: %v", job, err)
			}
			if text := fmt.Sprint(err); strings.Contains(text, objecttest.KeyID) || strings.Contains(text, objecttest.Secret) {
				t.Errorf("%s: the error holds a key: %v", job, err)
			}
			if got := spent(); got != charged {
				t.Errorf("%s: %v spent, want %v", job, got, charged)
			}
			store.Break(nil)
			store.Put(name, []byte(data))
			if err := train(); err != nil {
				t.Errorf("%s, once the store is well: %v", job, err)
			}
			charged += dp.Nano / 10
			if got := spent(); got != charged {
				t.Errorf("%s: %v spent at last, want %v", job, got, charged)
			}
		}
	}
}
